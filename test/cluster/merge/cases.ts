import type { JsonMap } from '../../../src/shared/engine/json/object.ts'
import { loadMergeFixtures } from './fixtures.ts'
import type { MergePair } from './oracle.ts'

/** A pair that is always compared. */
export interface MergeCase extends MergePair {
  readonly name: string
}

type Kind = Pick<MergePair, 'apiVersion' | 'kind' | 'onlyName'>

const SERVICE = { apiVersion: 'v1', kind: 'Service' }
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' }
const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount' }
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' }
const ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
const HOOK = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
}
const HCO = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  onlyName: 'kubevirt-hyperconverged',
}
const MCO = 'machineconfiguration.openshift.io/v1'
const MACHINE_CONFIG = { apiVersion: MCO, kind: 'MachineConfig' }
const KUBELET = { apiVersion: MCO, kind: 'KubeletConfig' }
const CHECK = { apiVersion: 'remediation.medik8s.io/v1alpha1', kind: 'NodeHealthCheck' }
const EVERY_SORT = { apiVersion: 'test.example.com/v1', kind: 'Nasty' }

const pods = (containers: readonly object[], more = {}) => ({
  template: { metadata: { labels: { a: 'b' } }, spec: { containers, ...more } },
})
const selected = (containers: readonly object[], more = {}) => ({
  selector: { matchLabels: { a: 'b' } },
  ...pods(containers, more),
})
const hook = (name: string, more = {}) => ({
  name,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://127.0.0.1:9/x' },
  rules: [{ apiGroups: ['zz'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['a'] }],
  failurePolicy: 'Ignore',
  ...more,
})
const template = (name: string) => ({ apiVersion: 'v1', kind: 'X', name, namespace: 'z' })
const condition = (status: string, duration: string) => ({ type: 'Ready', status, duration })
const gate = (name: string, state: string) => ({ name, state })
const migration = (config: object) => ({ virtualization: { liveMigrationConfig: config } })
const LABEL = { labels: { 'platform.kubevirt.io/managed-by': 'virt-platform-autopilot' } }

type Row = readonly [name: string, kind: Kind, live: JsonMap, desired: JsonMap]

const ROWS: readonly Row[] = [
  [
    'ports by number and protocol',
    SERVICE,
    {
      spec: {
        ports: [
          { name: 'h', port: 80 },
          { name: 'd', port: 53, protocol: 'UDP' },
        ],
      },
    },
    {
      spec: {
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'n', port: 443 },
        ],
      },
    },
  ],
  [
    'an atomic selector',
    SERVICE,
    { spec: { selector: { app: 'a' }, ports: [{ port: 80 }] } },
    { spec: { selector: { b: 'c' } } },
  ],
  ['a map of strings', CONFIG_MAP, { data: { a: '1', b: '2' } }, { data: { b: '3', z: 'x' } }],
  ['an empty map', CONFIG_MAP, { data: { a: '1' } }, { data: {}, binaryData: {} }],
  [
    'references, which are a list by name',
    ACCOUNT,
    { imagePullSecrets: [{ name: 'a' }] },
    { imagePullSecrets: [{ name: 'b' }] },
  ],
  [
    'containers by name, in the order of live',
    DEPLOYMENT,
    {
      spec: selected([
        { name: 'sidecar', image: 's' },
        { name: 'main', image: 'i' },
      ]),
    },
    { spec: pods([{ name: 'main', image: 'i2' }]) },
  ],
  [
    'environment by name',
    DEPLOYMENT,
    {
      spec: selected([{ name: 'm', image: 'i', env: [{ name: 'A', value: '1' }, { name: 'B' }] }]),
    },
    {
      spec: pods([
        {
          name: 'm',
          env: [
            { name: 'C', value: '3' },
            { name: 'B', value: 'x' },
          ],
        },
      ]),
    },
  ],
  [
    'ports by a key with a default',
    DEPLOYMENT,
    { spec: selected([{ name: 'm', image: 'i', ports: [{ containerPort: 80 }] }]) },
    { spec: pods([{ name: 'm', ports: [{ containerPort: 80, name: 'http', protocol: 'TCP' }] }]) },
  ],
  [
    'arguments, an atomic list',
    DEPLOYMENT,
    { spec: selected([{ name: 'm', image: 'i', args: ['a', 'b'] }]) },
    { spec: pods([{ name: 'm', args: ['c'] }]) },
  ],
  [
    'quantities',
    DEPLOYMENT,
    {
      spec: selected([
        { name: 'm', image: 'i', resources: { limits: { cpu: '1', memory: '1Gi' } } },
      ]),
    },
    { spec: pods([{ name: 'm', resources: { limits: { cpu: '2' } } }]) },
  ],
  [
    'tolerations, which are atomic, and a node selector, which is too',
    DEPLOYMENT,
    { spec: selected([{ name: 'm', image: 'i' }], { tolerations: [{ key: 'a' }] }) },
    {
      spec: pods([], {
        nodeSelector: { z: '1' },
        tolerations: [{ key: 'b', operator: 'Exists' }],
      }),
    },
  ],
  [
    'empty lists and maps',
    DEPLOYMENT,
    { spec: selected([{ name: 'm', image: 'i' }]) },
    { spec: { strategy: {}, ...pods([{ name: 'm', env: [], resources: {} }], { volumes: [] }) } },
  ],
  [
    'rules, which are atomic',
    ROLE,
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }] },
  ],
  [
    'webhooks by name, with match conditions by name',
    HOOK,
    { webhooks: [hook('a.x.io'), hook('b.x.io', { timeoutSeconds: 5 })] },
    {
      webhooks: [
        hook('c.x.io'),
        hook('b.x.io', { matchConditions: [{ name: 'two', expression: 'true' }] }),
      ],
    },
  ],
  ['a field into an empty spec', HCO, { spec: {} }, { spec: migration({ allowPostCopy: true }) }],
  [
    'a field beside others',
    HCO,
    { spec: migration({ parallelMigrationsPerCluster: 7 }) },
    { spec: migration({ allowPostCopy: true }) },
  ],
  [
    'feature gates, which are atomic',
    HCO,
    { spec: { featureGates: [gate('a', 'Enabled'), gate('b', 'Disabled')] } },
    { spec: { featureGates: [gate('c', 'Enabled')] } },
  ],
  [
    'what is there already',
    HCO,
    { spec: migration({ allowPostCopy: true }) },
    { spec: migration({ allowPostCopy: true }) },
  ],
  ['an empty map where there is none', HCO, { spec: {} }, { spec: { workloadSources: {} } }],
  [
    'an Ignition configuration, by member and its lists whole',
    MACHINE_CONFIG,
    {
      spec: {
        config: {
          ignition: { version: '3.2.0', extra: { a: 1 } },
          systemd: { units: [{ name: 'u' }] },
        },
      },
    },
    {
      spec: {
        config: {
          ignition: { version: '3.5.0' },
          storage: { files: [{ path: '/b' }] },
          systemd: {},
        },
      },
    },
  ],
  [
    'nulls in what the schema says nothing of',
    MACHINE_CONFIG,
    { spec: { config: { a: { b: 1 }, c: [1], d: 'x', e: { f: {} } } } },
    { spec: { config: { a: { b: null, z: {} }, c: {}, d: { q: [{ r: 1 }] }, e: null, n: null } } },
  ],
  [
    'kernel arguments, which are atomic',
    MACHINE_CONFIG,
    { spec: { kernelArguments: ['a'], fips: false } },
    { spec: { kernelArguments: ['psi=1'] } },
  ],
  [
    'a kubelet configuration, by member',
    KUBELET,
    { spec: { kubeletConfig: { maxPods: 250, evictionHard: { a: '1' }, x: [1] }, logLevel: 2 } },
    { spec: { kubeletConfig: { maxPods: 500, evictionHard: { b: '2' }, x: [2] } } },
  ],
  [
    'a label selector, which is atomic',
    KUBELET,
    { spec: { machineConfigPoolSelector: { matchLabels: { a: 'b' } } } },
    { spec: { machineConfigPoolSelector: { matchLabels: { c: 'd' } }, autoSizingReserved: true } },
  ],
  [
    'conditions of a health check',
    CHECK,
    {
      spec: {
        selector: {},
        minHealthy: '51%',
        remediationTemplate: template('n'),
        unhealthyConditions: [condition('False', '300s'), condition('Unknown', '300s')],
      },
    },
    { spec: { minHealthy: 2, unhealthyConditions: [condition('False', '100s')] } },
  ],
  [
    'a reference',
    CHECK,
    { spec: { selector: {}, remediationTemplate: template('n') } },
    { spec: { remediationTemplate: { ...template('m'), kind: 'Y' } } },
  ],
  ['a set', EVERY_SORT, { spec: { set: ['z', 'a'] } }, { spec: { set: ['a', 'b'] } }],
  [
    'lists by one key and by two, one of which has a default',
    EVERY_SORT,
    { spec: { byName: [{ name: 'a', v: '1' }], ports: [{ port: 80 }] } },
    { spec: { byName: [{ name: 'b' }, { name: 'a', v: null }], ports: [{ port: 80, name: 'h' }] } },
  ],
  [
    'an embedded object',
    EVERY_SORT,
    { spec: { embedded: { apiVersion: 'v1', kind: 'T', metadata: { labels: { a: 'b' } } } } },
    { spec: { embedded: { apiVersion: 'v1', kind: 'T', metadata: { labels: { c: 'd' } } } } },
  ],
  [
    'nulls at every sort of field',
    EVERY_SORT,
    { spec: { s: 'a', gran: { a: 'x' }, dict: { k: { x: 'a' } }, set: ['a'] } },
    { spec: { s: null, gran: null, dict: { k: null }, set: null, n: null } },
  ],
  [
    'labels, annotations and finalizers',
    CONFIG_MAP,
    { metadata: { labels: { a: 'b' }, annotations: { k: 'v' }, finalizers: ['x.io/a'] } },
    { metadata: { ...LABEL, annotations: { k: 'w' }, finalizers: ['x.io/a', 'x.io/b'] } },
  ],
]

/** Pairs that were picked by hand, each a way in which the API server merges, and those that a search once found. */
export const MERGE_CASES: readonly MergeCase[] = [
  ...ROWS.map(([name, kind, live, desired]) => ({ name, ...kind, live, desired })),
  ...loadMergeFixtures(),
]
