import t from 'tap'
import {
  describeReach,
  namePools,
  poolFacts,
  poolsReached,
  reachOf,
} from '../../../../src/shared/baseline/facts/pools.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

const ROLE = 'machineconfiguration.openshift.io/role'
const pool = (name: string, machineConfigSelector?: object, machineCount?: number): KubeObject => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: { name },
  spec: { ...(machineConfigSelector && { machineConfigSelector }) },
  status: { ...(machineCount !== undefined && { machineCount }) },
})
const role = (name: string) => ({ matchLabels: { [ROLE]: name } })
const roles = (operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key: ROLE, operator, values }],
})
const worker = pool('worker', role('worker'), 3)
const master = pool('master', role('master'), 3)
const infra = pool('infra', roles('In', 'worker', 'infra'), 2)

const reached = (name: string, ...pools: readonly KubeObject[]) =>
  poolsReached(name, pools).map(({ metadata }) => metadata.name)

t.test('a custom pool takes what is meant for workers', async (t) => {
  t.same(reached('worker', infra, master, worker), ['worker', 'infra'])
  t.same(reached('master', infra, master, worker), ['master'])
  t.same(reached('infra', infra, master, worker), ['infra'])
})

t.test('however a custom pool says so', async (t) => {
  const plain = pool('b-plain', role('worker'))
  const others = pool('a-others', roles('NotIn', 'master'))
  const own = pool('c-own', role('c-own'))
  t.same(reached('worker', worker, plain, own, others), ['worker', 'a-others', 'b-plain'])
})

t.test('a pool takes its own, whatever it says, and none that is not there', async (t) => {
  t.same(reached('worker', pool('worker'), pool('master')), ['worker'])
  t.same(reached('worker', pool('infra', roles('In', 'worker', 'infra'))), [])
})

t.test('facts have the pools that take the configuration of another', async (t) => {
  t.same(poolFacts({ pools: [infra, master, worker], nodeLabels: [] }), {
    pools: { infra: 2, master: 3, worker: 3 },
    heirs: { worker: ['infra'] },
  })
})

const NODE = 'node-role.kubernetes.io/'
const MASTER = { [`${NODE}master`]: '', [`${NODE}control-plane`]: '' }
const WORKER = { [`${NODE}worker`]: '' }

t.test('counts the machines of each pool by its status, else by the role', async (t) => {
  const nodeLabels = [MASTER, { ...MASTER, ...WORKER }, WORKER, { ...WORKER, [`${NODE}infra`]: '' }]
  const counted = ['worker', 'master', 'infra'].map((name) => pool(name))
  const pools = [...counted, pool('gpu', undefined, 7), pool('empty', undefined, 0)]
  // A node is in one pool: that of the masters, or a custom one.
  t.same(poolFacts({ nodeLabels, pools }).pools, {
    worker: 1,
    master: 2,
    infra: 1,
    gpu: 7,
    empty: 0,
  })
})

const reaches: readonly (readonly [
  facts: Parameters<typeof reachOf>[1],
  nodes: number | undefined,
  text: string,
])[] = [
  [{ pools: { worker: 3 } }, 3, '3 nodes of pool worker'],
  [{ pools: { worker: 1 }, heirs: {} }, 1, '1 node of pool worker'],
  [{ pools: {} }, undefined, 'the nodes of pool worker'],
  [
    { pools: { worker: 3, infra: 2 }, heirs: { worker: ['infra'] } },
    5,
    '5 nodes of pools worker and infra',
  ],
  [
    { pools: { worker: 3 }, heirs: { worker: ['infra'] } },
    undefined,
    'the nodes of pools worker and infra',
  ],
]

for (const [facts, nodes, text] of reaches) {
  t.test(`says where a change arrives: ${text}`, async (t) => {
    const reach = reachOf('worker', facts)
    t.match(reach, { pool: 'worker', nodes })
    t.equal(describeReach(reach), text)
  })
}

t.test('names many pools', async (t) => {
  t.equal(namePools(['a', 'b', 'c']), 'pools a, b and c')
})
