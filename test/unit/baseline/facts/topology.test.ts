import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { TOPOLOGY_FIELDS } from '../../../../src/shared/baseline/facts/facts.ts'
import {
  detectTopology,
  type TopologySources,
} from '../../../../src/shared/baseline/facts/topology.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

const NOWHERE: TopologySources = {
  hco: {
    apiVersion: 'hco.kubevirt.io/v1',
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged' },
  },
  nodeLabels: [],
  infrastructure: undefined,
  scheduler: undefined,
  network: undefined,
  pools: [],
  kubeletConfigs: [],
  quotas: [],
  ownKubeletConfigs: ['virt-perf-settings', 'virt-perf-settings-master'],
  workerKubelet: undefined,
  masterKubelet: undefined,
  waspAgents: [],
  nodeHealthChecks: [],
  ownHealthChecks: [],
  remediationTemplates: [],
}

const sample = (file: string): TopologySources => {
  const text = readFileSync(
    new URL(`../../../fixtures/nodes/${file}.yaml`, import.meta.url),
    'utf8',
  )
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubeObject)
  return {
    ...NOWHERE,
    nodeLabels: objects.flatMap(({ kind, metadata }) =>
      kind === 'Node' ? [metadata.labels ?? {}] : [],
    ),
    infrastructure: objects.find(({ kind }) => kind === 'Infrastructure'),
    scheduler: objects.find(({ kind }) => kind === 'Scheduler'),
  }
}

const trueOf = (sources: TopologySources) => {
  const topology = detectTopology(sources)
  return TOPOLOGY_FIELDS.filter((field) => topology[field])
}

const object = (kind: string, name: string, rest: object = {}): KubeObject => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind,
  metadata: { name },
  ...rest,
})

const ROLE = 'node-role.kubernetes.io/'
const MASTER = { [`${ROLE}master`]: '', [`${ROLE}control-plane`]: '' }
const WORKER = { [`${ROLE}worker`]: '' }
const available = object('Infrastructure', 'cluster', {
  status: { controlPlaneTopology: 'HighlyAvailable', infrastructureTopology: 'HighlyAvailable' },
})
const hosted = object('Infrastructure', 'cluster', {
  status: { controlPlaneTopology: 'External', infrastructureTopology: 'HighlyAvailable' },
})

const shapes: readonly (readonly [what: string, sources: TopologySources, ...string[]])[] = [
  ['a cluster of which nothing is known', NOWHERE],
  ['a single OpenShift node', sample('cluster-sno'), 'singleNode', 'schedulableMasters'],
  ['three masters alone', sample('cluster-compact'), 'compact', 'schedulableMasters'],
  ['masters and workers', sample('cluster-heterogeneous')],
  ['plain Kubernetes on one node', { ...NOWHERE, nodeLabels: [{}] }, 'singleNode'],
  ['plain Kubernetes on three nodes', { ...NOWHERE, nodeLabels: [{}, {}, {}] }],
  [
    'an OpenShift cluster whose first node has just joined',
    { ...NOWHERE, infrastructure: available, nodeLabels: [MASTER] },
  ],
  [
    'masters by their new label alone',
    { ...NOWHERE, nodeLabels: Array(3).fill({ [`${ROLE}control-plane`]: '' }) },
    'compact',
  ],
  ['two masters alone', { ...NOWHERE, nodeLabels: [MASTER, MASTER] }],
  [
    'a hosted control plane',
    { ...NOWHERE, infrastructure: hosted, nodeLabels: [WORKER, WORKER] },
    'hostedControlPlane',
  ],
]

for (const [what, sources, ...fields] of shapes) {
  t.test(`sees ${fields.join(', ') || 'nothing special'} in ${what}`, async (t) => {
    t.same(trueOf(sources), fields)
  })
}

const on = (status?: object) => ({
  ...NOWHERE,
  infrastructure: object('Infrastructure', 'cluster', { ...(status && { status }) }),
})
const platforms: readonly (readonly [what: string, sources: TopologySources, provider: string])[] =
  [
    ['no Infrastructure', NOWHERE, ''],
    ['an Infrastructure whose status is not written yet', on(), ''],
    ['a platform without a type', on({ platformStatus: {} }), ''],
    ['a platform that is no text', on({ platformStatus: { type: 7 } }), ''],
    ['machines without a platform', sample('cluster-sno'), 'none'],
    ['bare metal', sample('cluster-compact'), 'baremetal'],
    ['the older field alone', on({ platform: 'VSphere' }), 'vsphere'],
    ['both fields', on({ platform: 'None', platformStatus: { type: 'AWS' } }), 'aws'],
  ]

for (const [what, sources, provider] of platforms) {
  t.test(`sees the provider "${provider}" in ${what}`, async (t) => {
    t.equal(detectTopology(sources).provider, provider)
  })
}

const POOL_LABEL = 'pools.operator.machineconfiguration.openshift.io/worker'
const worker = object('MachineConfigPool', 'worker', {
  metadata: { name: 'worker', labels: { [POOL_LABEL]: '' } },
})
const selecting = (machineConfigPoolSelector: unknown, name = 'tuned') =>
  object('KubeletConfig', name, { spec: { machineConfigPoolSelector } })

const kubeletConfigs: readonly (readonly [what: string, config: KubeObject, isForeign: boolean])[] =
  [
    ['that selects the worker pool', selecting({ matchLabels: { [POOL_LABEL]: '' } }), true],
    [
      'that is our own',
      selecting({ matchLabels: { [POOL_LABEL]: '' } }, 'virt-perf-settings'),
      false,
    ],
    ['that selects another pool', selecting({ matchLabels: { custom: 'infra' } }), false],
    ['with an expression, which is taken to match', selecting({ matchExpressions: [{}] }), true],
    [
      'whose labels another pool has, whatever its expression',
      selecting({ matchLabels: { custom: 'infra' }, matchExpressions: [{}] }),
      false,
    ],
    ['with an empty selector', selecting({}), false],
    ['with an empty map of labels', selecting({ matchLabels: {} }), false],
    ['without a selector', selecting(undefined), false],
  ]

for (const [what, config, isForeign] of kubeletConfigs) {
  t.test(`${isForeign ? 'yields to' : 'does not mind'} a KubeletConfig ${what}`, async (t) => {
    const sources = { ...NOWHERE, pools: [worker], kubeletConfigs: [config] }
    t.equal(detectTopology(sources).foreignKubeletConfig, isForeign)
  })
}

t.test('finds no KubeletConfig of a pool that is not there', async (t) => {
  const config = selecting({ matchLabels: { [POOL_LABEL]: '' } })
  t.notOk(detectTopology({ ...NOWHERE, kubeletConfigs: [config] }).foreignKubeletConfig)
})

t.test('minds every AAQ but the one that the HyperConverged has made', async (t) => {
  const foreign = (...names: readonly string[]) =>
    detectTopology({ ...NOWHERE, quotas: names.map((name) => object('AAQ', name)) }).foreignQuota
  t.equal(foreign(), false)
  t.equal(foreign('aaq-kubevirt-hyperconverged'), false)
  t.equal(foreign('aaq'), true)
  t.equal(foreign('aaq-kubevirt-hyperconverged', 'mine'), true)
})

const networks: readonly (readonly [what: string, entries: unknown, isSmall: boolean])[] = [
  ['of which nothing is known', undefined, false],
  ['with a /23 for each node', [{ cidr: '10.128.0.0/14', hostPrefix: 23 }], false],
  ['with a /24 for each node', [{ cidr: '10.128.0.0/14', hostPrefix: 24 }], true],
  ['with IPv6 alone', [{ cidr: 'fd01::/48', hostPrefix: 64 }], false],
  [
    'of both families',
    [
      { cidr: '10.128.0.0/14', hostPrefix: 22 },
      { cidr: 'fd01::/48', hostPrefix: 64 },
    ],
    false,
  ],
  [
    'whose second part is smaller',
    [
      { cidr: '10.128.0.0/14', hostPrefix: 23 },
      { cidr: '10.132.0.0/16', hostPrefix: 25 },
    ],
    true,
  ],
  ['whose plug-in gives nodes no subnets', [{ cidr: '10.128.0.0/14' }], false],
]

for (const [what, clusterNetwork, isSmall] of networks) {
  t.test(
    `finds ${isSmall ? 'too little' : 'enough'} room for pods in a network ${what}`,
    async (t) => {
      const network = object('Network', 'cluster', { status: { clusterNetwork } })
      t.equal(detectTopology({ ...NOWHERE, network }).smallPodSubnets, isSmall)
    },
  )
}

t.test('knows a control plane of two that fence each other', async (t) => {
  const isPair = (controlPlaneTopology: string) =>
    detectTopology(on({ controlPlaneTopology })).dualReplica
  t.equal(isPair('DualReplica'), true)
  t.equal(isPair('HighlyAvailable'), false)
})

t.test('knows that nodes tell their pressure once all of a pool have it turned on', async (t) => {
  const pool = (name: string, ...parts: readonly string[]) =>
    object('MachineConfigPool', name, {
      status: { configuration: { source: parts.map((part) => ({ name: part })) } },
    })
  const [base, worker, master] = ['00', 'worker', 'master'].map(
    (role) => `99-openshift-machineconfig-${role}-psi-karg`,
  ) as [string, string, string]
  const scheduler = object('Scheduler', 'cluster', { spec: { mastersSchedulable: true } })
  const tells = (...pools: readonly KubeObject[]) =>
    detectTopology({ ...NOWHERE, pools }).pressureInformation
  const tellsCompact = (...pools: readonly KubeObject[]) =>
    detectTopology({ ...NOWHERE, scheduler, pools }).pressureInformation
  t.equal(tells(), false, 'nor is there a pool on a hosted control plane')
  t.equal(tells(object('MachineConfigPool', 'worker')), false)
  t.equal(tells(pool('worker', base)), false)
  t.equal(tells(pool('worker', base, worker), pool('master')), true)
  t.equal(tellsCompact(pool('worker', worker), pool('master', base)), false)
  t.equal(tellsCompact(pool('worker', worker), pool('master', base, master)), true)
  const infra = (machineCount: number, ...parts: readonly string[]) => {
    const labels = { 'machineconfiguration.openshift.io/role': 'worker' }
    const { status, ...rest } = pool('infra', ...parts) as unknown as { readonly status: object }
    const spec = { machineConfigSelector: { matchLabels: labels } }
    return { ...rest, spec, status: { ...status, machineCount } } as unknown as KubeObject
  }
  t.equal(tells(pool('worker', worker), infra(2, base)), false, 'a custom pool has VMs, too')
  t.equal(tells(pool('worker', worker), infra(2, base, worker)), true)
  t.equal(tells(pool('worker', worker), infra(0, base)), true, 'but for one without nodes')
})
