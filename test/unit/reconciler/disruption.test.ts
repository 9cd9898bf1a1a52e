import t from 'tap'

import {
  Disruption,
  type DisruptiveChange,
} from '../../../src/reconciler/baseline/decide/disruption.ts'
import type { Asset } from '../../../src/shared/baseline/catalog/catalog.ts'
import type { Effect } from '../../../src/shared/baseline/machine-config/disruption-policies.ts'
import { UNKNOWN } from '../../../src/shared/baseline/state.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'

const asset = (name: string) => ({ name }) as Asset
const desired = (value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  spec: { value },
})
/** A change to this state, and what it does to the nodes. */
const change = (value: string, effect: Effect = 'reboot'): DisruptiveChange => ({
  desired: desired(value),
  effect,
  reasons: [`value ${value}`],
})
const fresh = () => new Disruption(sha256, UNKNOWN)
const names = ({ pending }: Disruption) => pending.map(({ name }) => name)
const hold = { mode: 'hold', pool: undefined } as const
const pool = (content: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'worker' },
  ...content,
})

t.test('a change waits for approval, and exactly the set that was approved is made', async (t) => {
  const disruption = fresh()
  t.equal(disruption.pendingDigest, undefined)
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'Held')
  const forOne = disruption.pendingDigest
  t.equal(disruption.permit(asset('b'), change('1'), hold), 'Held')
  t.same(disruption.pending, [
    { name: 'a', reasons: ['value 1'] },
    { name: 'b', reasons: ['value 1'] },
  ])
  t.not(disruption.pendingDigest, forOne)
  t.equal(disruption.approve(forOne), false, 'an old digest approves nothing')
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'Held')

  t.equal(disruption.approve(disruption.pendingDigest), true)
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'yes')
  t.equal(
    disruption.permit(asset('b'), change('2'), hold),
    'Held',
    'what changed since is not approved',
  )
  disruption.settle(asset('a'), desired('1'))
  t.same(names(disruption), ['b'])
})

t.test('approving the same set again is no news', async (t) => {
  const disruption = fresh()
  disruption.permit(asset('a'), change('1'), hold)
  const digest = disruption.pendingDigest
  t.equal(disruption.approve(digest), true)
  t.equal(disruption.approve(digest), false)
  t.equal(disruption.approve(undefined), false)
})

t.test('putting back what was in force never waits, across restarts', async (t) => {
  const before = fresh()
  before.settle(asset('a'), desired('1'))
  const after = new Disruption(sha256, before.memory)
  t.equal(after.permit(asset('a'), change('1'), hold), 'yes')
  t.equal(after.permit(asset('a'), change('2'), hold), 'Held')
  after.drop(asset('a'))
  t.same(names(after), [])
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
    const disruption = fresh()
    t.equal(disruption.permit(asset('a'), change('1'), { mode: 'apply', pool: each }), 'PoolBusy')
    t.same(disruption.waiting, ['a'])
    t.equal(disruption.pendingDigest, undefined, 'there is nothing to approve')
    disruption.settle(asset('a'), desired('0'))
    t.equal(
      disruption.permit(asset('a'), change('0'), { mode: 'apply', pool: each }),
      'yes',
      'a heal',
    )
  }
  for (const each of free) {
    t.equal(fresh().permit(asset('a'), change('1'), { mode: 'apply', pool: each }), 'yes')
  }
})

t.test('what reboots nothing never waits, not even for a busy pool', async (t) => {
  const paused = { mode: 'hold', pool: pool({ spec: { paused: true } }) } as const
  for (const effect of ['none', 'reload'] as const)
    t.equal(fresh().permit(asset('a'), change('1', effect), paused), 'yes')
})

t.test('what went other ways meanwhile is brought back only when approved', async (t) => {
  const disruption = fresh()
  disruption.settle(asset('a'), desired('1'))
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'yes')
  disruption.forget(asset('a'))
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'Held')
  t.equal(disruption.approve(disruption.pendingDigest), true)
  disruption.forget(asset('a'))
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'Held', 'its approval is gone with it')
})

t.test('an approval is for what was told, not for the same end from another start', async (t) => {
  const disruption = fresh()
  disruption.permit(asset('a'), change('1'), hold)
  t.equal(disruption.approve(disruption.pendingDigest), true)
  const other = { ...change('1'), reasons: ['everything added'] }
  t.equal(disruption.permit(asset('a'), other, hold), 'Held')
  t.equal(disruption.permit(asset('a'), change('1'), hold), 'yes')
})

t.test('a removal waits like any other change', async (t) => {
  const disruption = fresh()
  const removal = { desired: undefined, effect: 'reboot', reasons: ['unit a removed'] } as const
  t.equal(disruption.permit(asset('a'), removal, hold), 'Held')
  t.equal(disruption.approve(disruption.pendingDigest), true)
  t.equal(disruption.permit(asset('a'), removal, hold), 'yes')
})

t.test('an approval outlives its leader, until it is used up or taken back', async (t) => {
  const before = fresh()
  before.permit(asset('a'), change('1'), hold)
  before.permit(asset('b'), change('1'), hold)
  const digest = before.pendingDigest
  t.equal(before.approve(digest), true)
  t.equal(before.permit(asset('a'), change('1'), hold), 'yes')
  before.settle(asset('a'), desired('1'))

  const after = new Disruption(sha256, before.memory)
  t.equal(
    after.permit(asset('b'), change('1'), hold),
    'yes',
    'the rest of the set is still approved',
  )
  t.equal(after.approve(digest), false, 'which is no news')
  after.takeBack(digest)
  t.equal(after.permit(asset('b'), change('1'), hold), 'yes', 'nor taken back')
  after.settle(asset('a'), desired('0'))
  t.equal(after.permit(asset('a'), change('1'), hold), 'Held', 'what was made once is used up')
  after.takeBack(undefined)
  t.equal(after.permit(asset('b'), change('1'), hold), 'Held', 'what was taken back is no approval')
  t.not(after.pendingDigest, digest, 'and the same set has another digest now')
  t.equal(after.approve(digest), false)
  t.equal(after.approve(after.pendingDigest), true)
})
