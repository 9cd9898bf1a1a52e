import t from 'tap'

import { observationsOf, strangersAmong } from '../../../../src/cli/render/offline-cluster.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { catalog } from '../../baseline/facts.ts'

const object = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name },
})
const CONFIG = 'config.openshift.io/v1'
const MCO = 'machineconfiguration.openshift.io/v1'
const hco = (version = 'v1') =>
  object(`hco.kubevirt.io/${version}`, 'HyperConverged', 'kubevirt-hyperconverged')
const observe = (
  objects: readonly KubeObject[],
  { withoutApis = [], version }: { withoutApis?: readonly string[]; version?: string } = {},
) =>
  observationsOf(catalog, {
    hco: hco(version),
    objects,
    withoutApis,
    schemas: new Map(),
    images: {},
  })

t.test('every object goes where facts look for it', async (t) => {
  const nodes = [object('v1', 'Node', 'a'), object('v1', 'Node', 'b')]
  const infrastructure = object(CONFIG, 'Infrastructure', 'cluster')
  const scheduler = object(CONFIG, 'Scheduler', 'cluster')
  const pools = [object(MCO, 'MachineConfigPool', 'worker')]
  const quotas = [object('aaq.kubevirt.io/v1alpha1', 'AAQ', 'mine')]
  const kubeletConfigs = [object(MCO, 'KubeletConfig', 'mine')]
  const workerKubelet = object(MCO, 'MachineConfig', '01-worker-kubelet')
  const masterKubelet = object(MCO, 'MachineConfig', '01-master-kubelet')
  const waspAgents = [object('apps/v1', 'DaemonSet', 'wasp-agent')]
  const nodeHealthChecks = [object('remediation.medik8s.io/v1alpha1', 'NodeHealthCheck', 'theirs')]
  const remediationTemplates = [
    object(
      'self-node-remediation.medik8s.io/v1alpha1',
      'SelfNodeRemediationTemplate',
      'self-node-remediation-automatic-strategy-template',
    ),
  ]
  const machineConfiguration = object('operator.openshift.io/v1', 'MachineConfiguration', 'cluster')
  const found = observe([
    ...kubeletConfigs,
    ...quotas,
    scheduler,
    ...nodes,
    ...pools,
    infrastructure,
    machineConfiguration,
    ...remediationTemplates,
    ...waspAgents,
    masterKubelet,
    workerKubelet,
    ...nodeHealthChecks,
  ])
  t.match(found, {
    nodes,
    infrastructure,
    scheduler,
    pools,
    kubeletConfigs,
    quotas,
    machineConfiguration,
    workerKubelet,
    masterKubelet,
    waspAgents,
    nodeHealthChecks,
    remediationTemplates,
  })
})

t.test('of what a dump has besides, nothing is taken', async (t) => {
  const { scheduler, workerKubelet } = observe([
    object(CONFIG, 'Scheduler', 'x'),
    object(MCO, 'MachineConfig', '90-mine'),
  ])
  t.same([scheduler, workerKubelet], [undefined, undefined])
})

t.test('what is not given is not there', async (t) => {
  const { nodes, infrastructure, scheduler, pools } = observe([])
  t.same([nodes, infrastructure, scheduler, pools], [[], undefined, undefined, []])
})

t.test(
  'an object that no fact is read from is skipped, and told, once for each kind',
  async (t) => {
    const node = object('v1', 'Node', 'a')
    const pods = [object('v1', 'Pod', 'p'), object('v1', 'Pod', 'q')]
    const other = object(CONFIG, 'Scheduler', 'x')
    t.match(strangersAmong([node, ...pods, other]), [
      /^--nodes: skipped Pod p and 1 more of its kind: it is of no kind that facts are read from, which are Node, /,
      /^--nodes: skipped Scheduler x: it is not the one .* which is named cluster$/,
    ])
    t.same(strangersAmong([node]), [])
    t.same(observe([node, ...pods, other]).nodes, [node])
    t.throws(() => observe([hco()]), {
      message: /^--nodes: HyperConverged kubevirt-hyperconverged is to be given with --hco$/,
    })
  },
)

t.test('all that the catalog names is served, but for what is taken away', async (t) => {
  const { served } = observe([])
  t.same(served.get('metallb.io/MetalLB'), { versions: ['v1beta1'], resource: 'metallbs' })
  t.same(
    served.get('self-node-remediation.medik8s.io/SelfNodeRemediationTemplate')?.versions,
    ['v1alpha1'],
    'what only a condition names, too',
  )
  const less = observe([], { withoutApis: ['metallb.io', 'operator.openshift.io'] }).served
  t.same(
    [...served.keys()].filter((key) => !less.has(key)),
    ['metallb.io/MetalLB', 'operator.openshift.io/KubeDescheduler'],
  )
})

t.test('the HyperConverged is served in the version that it is written in', async (t) => {
  for (const version of ['v1', 'v1beta1']) {
    const { served } = observe([], { version })
    t.same(served.get('hco.kubevirt.io/HyperConverged')?.versions, [version])
  }
})
