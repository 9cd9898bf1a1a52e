import type { Loose } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, METALLB, SWAP } from '../harness/objects.ts'
import type { Person } from '../harness/person.ts'
import { TEXTS } from './catalog.ts'

export const CONFIG_MAP = '/api/v1/namespaces/default/configmaps/texts'
const SERVICE = '/api/v1/namespaces/default/services/ports'
export const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/rules'
export const PREFIX = 'platform.kubevirt.io'

/** Each object as kubectl is told of it, by its path. */
export const TARGETS: Readonly<Record<string, readonly string[]>> = {
  [HCO]: HYPERCONVERGED,
  [HEALTH_CHECK]: ['nodehealthcheck', 'virt-node-health-check'],
  [METALLB]: ['metallb', '-n', 'metallb-system', 'metallb'],
  [SWAP]: ['machineconfig', '90-worker-swap-online'],
  [CONFIG_MAP]: ['configmap', '-n', 'default', 'texts'],
  [SERVICE]: ['service', '-n', 'default', 'ports'],
  [ROLE]: ['clusterrole', 'rules'],
}
/** An object as kubectl is told of it. */
export const targetOf = (path: string) => TARGETS[path] ?? []

export const HOSTILE = `it's "so" $HOME \`id\` $(id) \\ \\' !! * ~ # & | ; < > %s é 😀 \u202ea\u200b\nline two\ttab`

/** An edit in somebody's hands. */
export type Write = (person: Person) => Promise<Said>
/** An edit by a merge patch, or a patch of another type. */
export const merge =
  (path: string, patch: object, type = 'merge'): Write =>
  (person) =>
    person(['patch', ...targetOf(path), `--type=${type}`, `--patch=${JSON.stringify(patch)}`])
const apply =
  (manifest: object, ...flags: readonly string[]): Write =>
  (person) =>
    person(['apply', ...flags, '-f-'], { input: JSON.stringify(manifest) })

/** An edit, and the way by which it is to become legitimate. */
export interface Edit {
  readonly says: string
  readonly path: string
  /** Overrides that the object carries already, with what they change in it. */
  readonly before?: { readonly [annotation: string]: string }
  readonly write: Write
  readonly way: 'patch' | 'ignore-fields' | 'mode'
  readonly of: (object: Loose) => unknown
  readonly stored: unknown
}

// Three people who want the same value are a tool between them: at most two edits have the same one.
const migration = ({ spec }: Loose) => spec.virtualization.liveMigrationConfig
const migrating = (values: object) => ({
  spec: { virtualization: { liveMigrationConfig: values } },
})
const strategy = ({ spec }: Loose) => spec.deployment.uninstallStrategy
const uninstalling = { spec: { deployment: { uninstallStrategy: 'RemoveWorkloads' } } }
const hcoManifest = (values: object) => ({
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' },
  ...values,
})
const swapWith = (ignition: object) => ({ spec: { config: { ignition } } })
const selector = (value: string) => ({ spec: { nodeSelector: { 'a/b~c,d e': value } } })
const SELECTED = {
  patch: JSON.stringify([{ op: 'add', path: '/spec', value: selector('x').spec }]),
}
export const data = (values: object) => ({ data: values })
const port = (targetPort: number) => ({ spec: { ports: [{ port: 81, targetPort }] } })
const targetPorts = ({ spec }: Loose) => spec.ports.map(({ targetPort }: Loose) => targetPort)

/** Edits that are corrected; the command comes in a warning. */
export const corrected: readonly Edit[] = [
  {
    says: 'a field, by kubectl patch',
    path: HCO,
    write: merge(HCO, migrating({ allowPostCopy: true })),
    way: 'patch',
    of: (object) => migration(object).allowPostCopy,
    stored: true,
  },
  {
    says: 'two fields, by kubectl apply',
    path: HCO,
    write: apply(hcoManifest(migrating({ allowAutoConverge: true, allowPostCopy: true }))),
    way: 'patch',
    of: (object) => [migration(object).allowAutoConverge, migration(object).allowPostCopy],
    stored: [true, true],
  },
  {
    says: 'a field, by a server-side apply that takes it',
    path: HCO,
    write: apply(hcoManifest(uninstalling), '--server-side', '--force-conflicts'),
    way: 'patch',
    of: strategy,
    stored: 'RemoveWorkloads',
  },
  {
    says: 'a field of a cluster-scoped object, by kubectl edit',
    path: HEALTH_CHECK,
    write: (person) =>
      person.shell(
        `KUBE_EDITOR='sed -i s/51%/47%/' kubectl edit ${targetOf(HEALTH_CHECK).join(' ')}`,
      ),
    way: 'patch',
    of: ({ spec }) => spec.minHealthy,
    stored: '47%',
  },
  {
    says: 'a list that is one value',
    path: HEALTH_CHECK,
    write: merge(HEALTH_CHECK, {
      spec: { selector: { matchExpressions: [{ key: 'infra', operator: 'DoesNotExist' }] } },
    }),
    way: 'patch',
    of: ({ spec }) => spec.selector.matchExpressions,
    stored: [{ key: 'infra', operator: 'DoesNotExist' }],
  },
  {
    says: 'a text that a shell would read otherwise',
    path: CONFIG_MAP,
    write: merge(CONFIG_MAP, data({ greeting: HOSTILE })),
    way: 'patch',
    of: (object) => object.data.greeting,
    stored: HOSTILE,
  },
  {
    says: 'a field that is taken out',
    path: CONFIG_MAP,
    write: merge(CONFIG_MAP, data({ spare: null })),
    way: 'patch',
    of: (object) => object.data.spare,
    stored: undefined,
  },
  {
    says: 'a field beside a patch and an ignored field that are there',
    path: CONFIG_MAP,
    before: {
      patch: '[ {"op":"add", "path":"/data/more", "value":"1"} ]',
      'ignore-fields': '/data/spare',
    },
    write: merge(CONFIG_MAP, data({ greeting: 'bye', more: '2', spare: 'mine' })),
    way: 'patch',
    of: (object) => object.data,
    stored: { ...TEXTS, greeting: 'bye', more: '2', spare: 'mine' },
  },
  {
    says: 'a key with a slash, a tilde, a comma and a space',
    path: METALLB,
    before: SELECTED,
    write: merge(METALLB, selector('y')),
    way: 'patch',
    of: ({ spec }) => spec.nodeSelector,
    stored: { 'a/b~c,d e': 'y' },
  },
  {
    says: 'a field of an item that is known by its key',
    path: SERVICE,
    write: merge(SERVICE, port(9001), 'strategic'),
    way: 'patch',
    of: targetPorts,
    stored: [8080, 9001],
  },
]

/** Edits that are denied; the commands come in the denial. */
export const denied: readonly Edit[] = [
  {
    says: 'a field, to be patched',
    path: HCO,
    write: merge(HCO, migrating({ allowAutoConverge: true })),
    way: 'patch',
    of: (object) => migration(object).allowAutoConverge,
    stored: true,
  },
  {
    says: 'a field, to be owned',
    path: HCO,
    write: merge(HCO, uninstalling),
    way: 'ignore-fields',
    of: strategy,
    stored: 'RemoveWorkloads',
  },
  {
    says: 'a field beside those that are owned and a patch',
    path: CONFIG_MAP,
    before: {
      patch: '[{"op":"add","path":"/data/more","value":"1"}]',
      'ignore-fields': '/data/spare',
    },
    write: merge(CONFIG_MAP, data({ greeting: HOSTILE, more: '1', spare: 'mine' })),
    way: 'ignore-fields',
    of: (object) => object.data,
    stored: { ...TEXTS, greeting: HOSTILE, more: '1', spare: 'mine' },
  },
  {
    says: 'a key with a slash, a tilde, a comma and a space, to be owned',
    path: METALLB,
    before: SELECTED,
    write: merge(METALLB, selector('z')),
    way: 'ignore-fields',
    of: ({ spec }) => spec.nodeSelector,
    stored: { 'a/b~c,d e': 'z' },
  },
  {
    says: 'a field of an item that is known by its key, to be owned',
    path: SERVICE,
    write: merge(SERVICE, port(9002), 'strategic'),
    way: 'ignore-fields',
    of: targetPorts,
    stored: [8080, 9002],
  },
  {
    says: 'an object, to be owned',
    path: HEALTH_CHECK,
    write: merge(HEALTH_CHECK, { spec: { minHealthy: '33%' } }),
    way: 'mode',
    of: ({ spec }) => spec.minHealthy,
    stored: '33%',
  },
  {
    says: 'rules of a role, which only as a whole can be owned',
    path: ROLE,
    write: merge(ROLE, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] }),
    way: 'mode',
    of: ({ rules }) => rules[0].verbs,
    stored: ['list'],
  },
  {
    says: 'a field of a machine config, to be owned',
    path: SWAP,
    write: merge(SWAP, swapWith({ version: '3.2.0' })),
    way: 'ignore-fields',
    of: ({ spec }) => spec.config.ignition.version,
    stored: '3.2.0',
  },
]

/** An edit that no annotation makes legitimate, since the schema of its kind refuses it. */
export interface ImpossibleEdit extends Pick<Edit, 'says' | 'path' | 'write'> {
  /** The operation that would ask for it. */
  readonly patch: object
  readonly why: string
}

const impossibleAt = (
  path: string,
  pointer: string,
  value: unknown,
  says: string,
  why: string,
): ImpossibleEdit => {
  const content = pointer
    .split('/')
    .slice(1)
    .reduceRight<unknown>((inner, token) => ({ [token]: inner }), value)
  const write = merge(path, content as object)
  return { says, path, write, patch: { op: 'add', path: pointer, value }, why: `${pointer}${why}` }
}

/** Each is put back or denied before the API server comes to look at it. */
export const impossible: readonly ImpossibleEdit[] = [
  impossibleAt(
    HCO,
    '/spec/deployment/uninstallStrategy',
    'RemoveWorkload',
    'a value that is none of the choices',
    ' must be one of "RemoveWorkloads", "BlockUninstallIfWorkloadsExist"',
  ),
  impossibleAt(
    HCO,
    '/spec/virtualization/liveMigrationConfig/allowPostCopy',
    'yes',
    'a text for a boolean',
    ' must be boolean',
  ),
  impossibleAt(
    HEALTH_CHECK,
    '/spec/minHealthy',
    '147%',
    'a text that is no share',
    ' must match pattern ',
  ),
  impossibleAt(
    HEALTH_CHECK,
    '/spec/selector/matchExpressions',
    [{ key: 'infra' }],
    'an item without a field that it needs',
    "/0 must have required property 'operator'",
  ),
]
