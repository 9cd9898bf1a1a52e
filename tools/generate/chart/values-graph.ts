import { Type } from '@sinclair/typebox'
import { oneOf } from '../../../src/shared/api/schema-parts.ts'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { REFUSED } from '../../../src/shared/graph/roles.ts'
import { extraArgs, flag, group, port, replicas, resources, text } from './values-parts.ts'

const NAMESPACE = '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'

// Two evaluations at once may each take 256 MiB beside the process; whoever would let them be killed has the whole pod killed.
const RESOURCES =
  'At rest a process takes about 100 MB. The limit holds two evaluations of 256 MiB beside it: where it is lower, one module that takes too much ends the pod.'
const amounts = (memory: string) => ({
  requests: { cpu: '50m', memory },
  limits: { memory: '768Mi' },
})

/** What an installation can say of the system `graph`. */
export const graphValues = group(
  {
    enabled: flag('Whether it is installed.', false),
    namespace: Type.String({
      description:
        'Where it lives: a namespace of its own, never that of the release, since whoever may write there could act as it does.',
      default: GRAPH.name,
      pattern: NAMESPACE,
    }),
    createNamespace: flag(
      'Whether the namespace comes and goes with the release. Without, it must be there before.',
      true,
    ),
    image: group({
      repository: text('Empty: that of image.repository, with -graph after it.', '', '^[^\\s@]*$'),
      tag: text('Empty: as image.tag has it.', '', '^[\\w][\\w.-]{0,127}$|^$'),
      digest: text('sha256:…; goes before the tag.', '', '^(sha256:[a-f0-9]{64})?$'),
    }),
    webhook: group({
      port,
      replicas: replicas(
        'All of them answer. With one, Transforms pass unjudged while its pod moves.',
      ),
      resources: resources(RESOURCES, amounts('128Mi')),
      extraArgs: extraArgs('webhook graph'),
    }),
    reconciler: group({
      replicas: replicas('One leads, by a Lease; another one takes over within seconds.'),
      resources: resources(RESOURCES, amounts('256Mi')),
      extraArgs: extraArgs('reconciler graph'),
    }),
    failurePolicy: oneOf(['Ignore', 'Fail'], {
      description:
        'What happens to a Transform while no webhook answers. Ignore: it is stored, and the reconciler repeats every check.',
      default: 'Ignore',
    }),
    enroll: Type.Array(Type.String({ pattern: NAMESPACE, not: { pattern: REFUSED.source } }), {
      description:
        'Namespaces of Transforms, which are there already: each gets the account that its Transforms act by, what that may do, and that we may act as it.',
      default: [],
      uniqueItems: true,
    }),
  },
  'Transforms: one input becomes a graph of objects, by a module in CUE (docs/graph/operations.md).',
)
