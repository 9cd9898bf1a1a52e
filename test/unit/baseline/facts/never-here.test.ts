import t from 'tap'

import type { Condition } from '../../../../src/shared/baseline/catalog/condition-schemas.ts'
import {
  describeCondition,
  describeObstacle,
  holds,
  obstacleIn,
} from '../../../../src/shared/baseline/facts/conditions.ts'
import { type Facts, TOPOLOGY_FIELDS } from '../../../../src/shared/baseline/facts/facts.ts'
import { neverHere } from '../../../../src/shared/baseline/facts/never-here.ts'
import { catalog, factsWith } from '../facts.ts'

type TopologyCondition = Extract<Condition, { readonly type: 'topology' }>
const topology = (field: string, value: unknown = true, more: object = {}) =>
  ({ type: 'topology', field, value, ...more }) as TopologyCondition
const on = (changes: Partial<Facts['topology']>) =>
  factsWith({ topology: { kubeletDropIns: false, masterKubeletDropIns: false, ...changes } })
const hosted = on({ hostedControlPlane: true, provider: 'aws' })
const usual = on({ provider: 'baremetal' })
const pair = on({ provider: 'baremetal', dualReplica: true })

const NODE_POOLS = /its control plane is hosted.* spec\.config of their NodePools.*; put there/
const never: readonly (readonly [what: string, Condition, Facts, why: RegExp])[] = [
  ['a control plane of its own', topology('hostedControlPlane', false), hosted, NODE_POOLS],
  [
    'the same, said otherwise',
    topology('hostedControlPlane', true, { not: true }),
    hosted,
    NODE_POOLS,
  ],
  ['masters that take VMs', topology('schedulableMasters'), hosted, NODE_POOLS],
  ['nothing but masters', topology('compact'), hosted, NODE_POOLS],
  ['drop-ins of workers’ kubelets', topology('kubeletDropIns'), hosted, NODE_POOLS],
  ['drop-ins of masters’ kubelets', topology('masterKubeletDropIns'), hosted, NODE_POOLS],
  ['a hosted control plane', topology('hostedControlPlane'), usual, /is not hosted, which inst/],
  ['no such pair', topology('dualReplica', false), pair, /nodes fence each other, and the Node/],
  ['a pair that fences itself', topology('dualReplica'), usual, /is no pair .* which installation/],
  ['another platform', topology('provider', 'vsphere'), usual, /it runs on "baremetal", which/],
  ['not this platform', topology('provider', 'aws', { not: true }), hosted, /it runs on "aws"/],
  ['a platform', topology('provider', 'aws'), on({ provider: '' }), /nothing says on what it runs/],
]

for (const [what, condition, facts, why] of never) {
  t.test(`can never be: ${what}`, async (t) => {
    t.equal(holds(condition, facts), false)
    t.match(neverHere(condition, facts), /^can never be active on this cluster: .*; \w+/)
    t.match(neverHere(condition, facts), why)
    t.equal(describeObstacle(condition, facts), neverHere(condition, facts))
  })
}

const possible: readonly (readonly [what: string, Condition, Facts])[] = [
  ['masters that may yet take VMs', topology('schedulableMasters'), usual],
  [
    'masters that take none',
    topology('schedulableMasters', false),
    on({ schedulableMasters: true }),
  ],
  ['an OpenShift that may be newer', topology('kubeletDropIns'), usual],
  ['one node that may get others', topology('singleNode', false), on({ singleNode: true })],
  ['what somebody else made', topology('foreignQuota', false), on({ foreignQuota: true })],
  ['hardware that may be added', { type: 'hardware-detection', detector: 'gpuPresent' }, hosted],
  ['an API that may be installed', { type: 'crd', group: 'x.io', kind: 'Thing' }, hosted],
  ['an annotation', { type: 'annotation', key: 'enable-x' }, hosted],
]

for (const [what, condition, facts] of possible) {
  t.test(`may come true: ${what}`, async (t) => {
    t.equal(holds(condition, facts), false)
    t.equal(neverHere(condition, facts), undefined)
    t.equal(describeObstacle(condition, facts), `waits until ${describeCondition(condition)}`)
  })
}

t.test('what holds, or is not known yet, is nothing that can never be', async (t) => {
  for (const field of TOPOLOGY_FIELDS) {
    const facts = hosted.topology[field]
    t.equal(neverHere(topology(field, facts), hosted), undefined, field)
  }
  const unknown = { ...hosted, topology: {} } as unknown as Facts
  t.equal(neverHere(topology('hostedControlPlane', false), unknown), undefined)
})

t.test('what can never be is told before what may come true', async (t) => {
  const asked: Condition = { type: 'annotation', key: 'enable-x' }
  const own = topology('hostedControlPlane', false)
  t.equal(obstacleIn([asked, own], hosted), own, 'to annotate would be of no use')
  t.equal(obstacleIn([asked, own], usual), asked)
  t.equal(obstacleIn([own], usual), undefined)
})

t.test('on a hosted cluster, no asset of ours waits for what installation decides', async (t) => {
  for (const { name, conditions } of catalog) {
    const needsOwn = conditions.some(
      (condition) => condition.type === 'topology' && condition.field === 'hostedControlPlane',
    )
    const obstacle = obstacleIn(conditions, hosted)
    if (needsOwn) t.match(obstacle && describeObstacle(obstacle, hosted), NODE_POOLS, name)
  }
})
