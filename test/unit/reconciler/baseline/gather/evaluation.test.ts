import t from 'tap'

import {
  affected,
  type Evaluation,
  evaluate,
} from '../../../../../src/reconciler/baseline/gather/evaluation.ts'
import type { Observations } from '../../../../../src/reconciler/baseline/gather/facts.ts'
import { createStatusDecider } from '../../../../../src/shared/baseline/asset-status.ts'
import { type Memory, UNKNOWN } from '../../../../../src/shared/baseline/state.ts'
import type { Served } from '../../../../../src/shared/cluster/discovery.ts'
import { sha256 } from '../../../../../src/shared/ops/digest.ts'
import { catalog, everythingServed } from '../../../baseline/facts.ts'

const served: Served = new Map(
  Object.entries(everythingServed).map(([key, versions]) => [key, { versions, resource: key }]),
)
const hco = (annotations: Record<string, string> = {}) => ({
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt', annotations },
})
const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'node-role.kubernetes.io/worker': '' } },
})
const worker = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'worker' },
}
const infra = {
  ...worker,
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': 'worker' } },
  },
}
const schema = { tree: { type: 'deduced' }, enums: {}, fields: {} } as const

/** Looks at a cluster again and again, as one leader does. */
const leader = () => {
  const decide = createStatusDecider(catalog, sha256)
  const observed: Observations = {
    hco: hco(),
    nodes: [node('a')],
    infrastructure: undefined,
    scheduler: undefined,
    network: undefined,
    pools: [worker],
    kubeletConfigs: [],
    workerKubelet: undefined,
    masterKubelet: undefined,
    waspAgents: [],
    nodeHealthChecks: [],
    remediationTemplates: [],
    quotas: [],
    machineConfiguration: undefined,
    otherAutopilot: undefined,
    served,
    schemas: new Map(),
    images: {},
  }
  return (changes: Partial<Observations> = {}, memory: Partial<Memory> = {}): Evaluation =>
    evaluate({ catalog, decide }, { ...observed, ...changes }, { ...UNKNOWN, ...memory }, 0)
}

const everything = catalog.map(({ name }) => name)
const prefixed = (key: string) => `platform.kubevirt.io/${key}`

t.test('at first every asset is affected', async (t) => {
  t.same(affected(catalog, undefined, leader()()), everything)
})

t.test('what changes no status affects nobody', async (t) => {
  const look = leader()
  const before = look()
  t.same(affected(catalog, before, look()), [])
  const touched = look({ hco: { ...hco(), status: { a: 1 } } })
  t.same(affected(catalog, before, touched), ['hco-golden-config'], 'but what changed itself')
})

t.test('what one asset asks for affects that one, and what depends on it', async (t) => {
  const look = leader()
  const before = look()
  const metallb = 'metallb.io/MetalLB'
  const without = new Map([...served].filter(([key]) => key !== metallb))
  t.same(affected(catalog, before, look({ served: without })), ['metallb'])
})

t.test('settings, schemas, policies and the pools concern everybody', async (t) => {
  const look = leader()
  const before = look()
  const changes: readonly Partial<Observations>[] = [
    { hco: hco({ [prefixed('autopilot')]: 'observe' }) },
    { schemas: new Map([['metallb.io/v1beta1/MetalLB', schema]]) },
    { nodes: [node('a'), node('b')] },
    { pools: [worker, infra] },
    {
      machineConfiguration: {
        apiVersion: 'operator.openshift.io/v1',
        kind: 'MachineConfiguration',
        metadata: { name: 'cluster' },
        status: {
          nodeDisruptionPolicyStatus: {
            clusterPolicies: { files: [{ path: '/etc/a', actions: [{ type: 'None' }] }] },
          },
        },
      },
    },
  ]
  for (const change of changes) t.same(affected(catalog, before, look(change)), everything)
})

t.test('the same schema, read again, is no change', async (t) => {
  const look = leader()
  const schemas = new Map([['metallb.io/v1beta1/MetalLB', schema]])
  const before = look({ schemas })
  t.same(affected(catalog, before, look({ schemas: new Map(schemas) })), [])
})

t.test('what every other process needs to come to the same statuses is in the state', async (t) => {
  const { state, statuses } = leader()()
  const active = everything.filter((name) => statuses.get(name)?.kind === 'active')
  t.same(Object.keys(state.baselines).sort(), active.sort())
  t.match(state, { facts: { pools: { worker: 1 }, heirs: {} }, otherAutopilot: 'absent' })
})

t.test(
  'a flag that says observe is published like an annotation, which goes before it',
  async (t) => {
    const look = leader()
    const key = prefixed('autopilot')
    const { stated, state } = look({}, { activation: 'observe' })
    t.strictSame(stated.settings.activation, { kind: 'observe' })
    t.strictSame(state.settings, { [key]: 'observe' })
    const switchedOn = hco({ [key]: 'true' })
    const { settings } = look({ hco: switchedOn }, { activation: 'observe' }).stated
    t.strictSame(settings.activation, { kind: 'all' })
  },
)
