import fc from 'fast-check'
import t from 'tap'
import { isMap, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import { diff } from '../../../src/shared/graph-engine/diff.ts'
import { hashOf, type InventoryItem } from '../../../src/shared/graph-engine/inventory.ts'
import { keyOf, refOf } from '../../../src/shared/graph-engine/node.ts'
import { teardown } from '../../../src/shared/graph-engine/prune/teardown.ts'
import type { Observation } from '../../../src/shared/graph-engine/step/observed.ts'
import { step } from '../../../src/shared/graph-engine/step/step.ts'
import { validateNodes } from '../../../src/shared/graph-engine/validate/validate.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { runs } from '../runs.ts'
import { applied, NAMES, node, OWNER, START, widget } from './objects.ts'

const anyMap = fc.jsonValue({ maxDepth: 4 }).map((value) => (isMap(value) ? value : {}))

/** Conditions, counts and phases as no controller should write them. */
const anyStatus = fc.oneof(
  anyMap,
  fc.record({
    conditions: fc.oneof(
      fc.jsonValue(),
      fc.array(fc.record({ type: fc.jsonValue(), status: fc.jsonValue() })),
    ),
    observedGeneration: fc.jsonValue(),
    phase: fc.jsonValue(),
    containerStatuses: fc.jsonValue(),
    replicas: fc.jsonValue(),
  }),
)

const KINDS = [
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'StatefulSet'],
  ['apps/v1', 'DaemonSet'],
  ['apps/v1', 'ReplicaSet'],
  ['batch/v1', 'Job'],
  ['v1', 'Pod'],
  ['v1', 'Namespace'],
  ['v1', 'ResourceQuota'],
  ['v1', 'PersistentVolumeClaim'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['example.com/v1', 'Widget'],
] as const

const anyObject = fc
  .constantFrom(...KINDS)
  .chain(([apiVersion, kind]) =>
    anyMap.map((spec): KubeObject => ({ ...widget('a', spec), apiVersion, kind })),
  )

const anyFields = fc.array(
  fc.record({
    manager: fc.constantFrom('test:shop/web', 'x'),
    operation: fc.constant('Apply'),
    fieldsV1: anyMap,
  }),
)

const anyLive = anyObject.chain((object) =>
  fc.record({ status: anyStatus, managedFields: anyFields }).map(({ status, managedFields }) => ({
    object,
    live: applied(object, { status, metadata: { managedFields } }),
  })),
)

t.test('no object makes it throw', async (t) => {
  fc.assert(
    fc.property(
      anyLive,
      fc.constantFrom('Applied' as const, 'Pruned' as const),
      ({ object, live }, state) => {
        const observation: Observation = { state: 'present', object: live }
        const observed = {
          objects: new Map([[keyOf(refOf(object)), observation]]),
          memory: new Map(),
        }
        const item: InventoryItem = {
          id: 'a',
          ...refOf(object),
          hash: hashOf(object, sha256),
          state,
        }
        const input = {
          observed,
          owner: OWNER,
          names: NAMES,
          now: START,
          digest: sha256,
          inventory: [item],
        }
        const graph = { nodes: [node('a', { object })], isComplete: true }
        step({ ...input, graph })
        teardown(input)
        diff({ graph, inventory: [item], live: { ...observed, ...input }, digest: sha256 })
      },
    ),
    { numRuns: runs(200) },
  )
  t.pass()
})

const anyNode = fc.record(
  {
    id: fc.oneof(fc.string(), fc.jsonValue()),
    object: fc.oneof(anyObject, fc.jsonValue()),
    applyPolicy: fc.jsonValue(),
    dependsOn: fc.oneof(fc.array(fc.string()), fc.jsonValue()),
    readyWhen: fc.oneof(fc.array(fc.record({ type: fc.jsonValue() })), fc.jsonValue()),
  },
  { requiredKeys: [] },
)

t.test('whatever is written, it is judged', async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.array(anyNode)), (nodes) => {
      const { problems, nodes: judged } = validateNodes(nodes)
      return problems.length > 0 || judged === nodes
    }),
    { numRuns: runs(300) },
  )
  t.pass()
})
