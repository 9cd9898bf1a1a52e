import t from 'tap'

import { Disruption } from '../../../src/reconciler/disruption.ts'
import type { Asset } from '../../../src/shared/catalog/catalog.ts'
import type { KubeObject } from '../../../src/shared/engine/object.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'

const asset = (name: string) => ({ name }) as Asset
const desired = (value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  spec: { value },
})
const hold = { mode: 'hold', pool: undefined } as const
const pool = (content: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'worker' },
  ...content,
})

t.test('a change waits for approval, and exactly the set that was approved is made', async (t) => {
  const disruption = new Disruption(sha256)
  t.equal(disruption.pendingDigest, undefined)
  t.equal(disruption.permit(asset('a'), desired('1'), hold), 'Held')
  const forOne = disruption.pendingDigest
  t.equal(disruption.permit(asset('b'), desired('1'), hold), 'Held')
  t.same(disruption.pending, ['a', 'b'])
  t.not(disruption.pendingDigest, forOne)
  t.equal(disruption.approve(forOne), false, 'an old digest approves nothing')
  t.equal(disruption.permit(asset('a'), desired('1'), hold), 'Held')

  t.equal(disruption.approve(disruption.pendingDigest), true)
  t.equal(disruption.permit(asset('a'), desired('1'), hold), 'yes')
  t.equal(
    disruption.permit(asset('b'), desired('2'), hold),
    'Held',
    'what changed since is not approved',
  )
  disruption.settle(asset('a'), desired('1'))
  t.same(disruption.pending, ['b'])
})

t.test('approving the same set again is no news', async (t) => {
  const disruption = new Disruption(sha256)
  disruption.permit(asset('a'), desired('1'), hold)
  t.equal(disruption.approve(disruption.pendingDigest), true)
  t.equal(disruption.approve(disruption.pendingDigest), false)
  t.equal(disruption.approve(undefined), false)
})

t.test('putting back what was in force never waits, across restarts', async (t) => {
  const before = new Disruption(sha256)
  before.settle(asset('a'), desired('1'))
  const after = new Disruption(sha256, before.applied)
  t.equal(after.permit(asset('a'), desired('1'), hold), 'yes')
  t.equal(after.permit(asset('a'), desired('2'), hold), 'Held')
  after.drop(asset('a'))
  t.same(after.pending, [])
})

t.test('a new change waits for a paused or updating pool, whatever the mode', async (t) => {
  const busy = [
    pool({ spec: { paused: true } }),
    pool({ status: { conditions: [{ type: 'Updating', status: 'True' }] } }),
  ]
  const free = [
    undefined,
    pool({ spec: {} }),
    pool({ status: { conditions: [{ type: 'Updating', status: 'False' }] } }),
  ]
  for (const each of busy) {
    const disruption = new Disruption(sha256)
    t.equal(disruption.permit(asset('a'), desired('1'), { mode: 'apply', pool: each }), 'PoolBusy')
    t.same(disruption.waiting, ['a'])
    t.equal(disruption.pendingDigest, undefined, 'there is nothing to approve')
    disruption.settle(asset('a'), desired('0'))
    t.equal(
      disruption.permit(asset('a'), desired('0'), { mode: 'apply', pool: each }),
      'yes',
      'a heal',
    )
  }
  for (const each of free) {
    t.equal(
      new Disruption(sha256).permit(asset('a'), desired('1'), { mode: 'apply', pool: each }),
      'yes',
    )
  }
})
