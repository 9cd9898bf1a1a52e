import t from 'tap'

import {
  type ApprovalPolicy,
  type ApprovalState,
  afterOutcome,
  allowanceFor,
  approve,
  heldChanges,
  pendingDigest,
  revoke,
  withoutWaiting,
} from '../../../../../src/reconciler/baseline/decide/approval.ts'
import type { Outcome } from '../../../../../src/reconciler/baseline/decide/outcome.ts'
import type { Classification } from '../../../../../src/shared/baseline/machine-config/disruption-class.ts'
import type { Effect } from '../../../../../src/shared/baseline/machine-config/disruption-policies.ts'
import { UNKNOWN } from '../../../../../src/shared/baseline/state.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { assetNamed } from '../../../baseline/facts.ts'

const disruptive = assetNamed('swap-enable')
const desired = (value: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  spec: { value },
})
const planOf = (object: KubeObject) =>
  ({ kind: 'enforce', desired: object, released: [], isPatched: false, remarks: [] }) as const

interface Change extends Classification {
  readonly desired: KubeObject | undefined
}

/** A change to this state, and what it does to the nodes. */
const change = (value: string, effect: Effect = 'reboot'): Change => ({
  desired: desired(value),
  effect,
  reasons: [`value ${value}`],
})
const hold = { mode: 'hold', pools: [] } as const
const pool = (content: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'MachineConfigPool',
  metadata: { name: 'worker' },
  ...content,
})

/** The approvals of one leader, as a controller keeps them. */
class Leader {
  state: ApprovalState

  constructor(memory: Pick<ApprovalState, 'applied' | 'approval'> = UNKNOWN) {
    const { applied, approval } = memory
    this.state = { applied, approval, waiting: {} }
  }

  get pendingDigest() {
    return pendingDigest(this.state)
  }

  get pending() {
    return heldChanges(this.state).map(([name, { reasons }]) => ({ name, reasons }))
  }

  permit(
    name: string,
    { desired, ...disruption }: Change,
    policy: Pick<ApprovalPolicy, 'mode' | 'pools'> & Partial<ApprovalPolicy>,
  ) {
    const approval = {
      isWaived: false,
      inForce: this.state.applied[name],
      approved: this.state.approval.changes[name],
      ...policy,
    }
    const asset = { ...disruptive, name }
    const { permission } = allowanceFor({ asset, approval }, desired, () => disruption)
    if (permission === 'yes') this.state = withoutWaiting(this.state, name)
    else if (desired) {
      const made = { plan: planOf(desired), isCreation: false, drifts: [], disruption }
      this.note(name, { kind: 'pending', reason: permission, ...made })
    } else this.note(name, { kind: 'pendingRemoval', why: 'w', reason: permission, disruption })
    return permission
  }

  note(name: string, outcome: Outcome) {
    this.state = afterOutcome(this.state, name, outcome)
  }

  settle(name: string, object: KubeObject) {
    this.note(name, { kind: 'configured', plan: planOf(object), drifts: [], cause: 'drift' })
  }

  /** Whether the digest is that of what waits. */
  approve(digest: string | undefined) {
    const before = this.state
    this.state = approve(before, digest)
    return this.state !== before
  }

  revoke(digest: string | undefined) {
    this.state = revoke(this.state, digest)
  }
}

const fresh = () => new Leader()
const names = ({ pending }: Leader) => pending.map(({ name }) => name)

t.test('a change waits for approval, and exactly the set that was approved is made', async (t) => {
  const leader = fresh()
  t.equal(leader.pendingDigest, undefined)
  t.equal(leader.permit('a', change('1'), hold), 'Held')
  const forOne = leader.pendingDigest
  t.equal(leader.permit('b', change('1'), hold), 'Held')
  t.same(leader.pending, [
    { name: 'a', reasons: ['value 1'] },
    { name: 'b', reasons: ['value 1'] },
  ])
  t.not(leader.pendingDigest, forOne)
  t.equal(leader.approve(forOne), false, 'an old digest approves nothing')
  t.equal(leader.permit('a', change('1'), hold), 'Held')

  t.equal(leader.approve(leader.pendingDigest), true)
  t.equal(leader.permit('a', change('1'), hold), 'yes')
  t.equal(leader.permit('b', change('2'), hold), 'Held', 'what changed since is not approved')
  leader.settle('a', desired('1'))
  t.same(names(leader), ['b'])
})

t.test('approving the same set again is no news', async (t) => {
  const leader = fresh()
  leader.permit('a', change('1'), hold)
  const digest = leader.pendingDigest
  t.equal(leader.approve(digest), true)
  t.equal(leader.approve(digest), false)
  t.equal(leader.approve(undefined), false)
})

t.test('putting back what was in force never waits, across restarts', async (t) => {
  const before = fresh()
  before.settle('a', desired('1'))
  const after = new Leader(before.state)
  t.equal(after.permit('a', change('1'), hold), 'yes')
  t.equal(after.permit('a', change('2'), hold), 'Held')
  after.note('a', { kind: 'skipped', reason: 'Deleting' })
  t.same(names(after), [])
})

t.test('a new change waits for a paused or updating pool, whatever the mode', async (t) => {
  const paused = pool({ spec: { paused: true } })
  const updating = pool({ status: { conditions: [{ type: 'Updating', status: 'True' }] } })
  const settled = pool({ status: { conditions: [{ type: 'Updating', status: 'False' }] } })
  const busy = [[paused], [updating], [settled, paused], [settled, settled, updating]]
  const free = [
    [],
    [pool({ spec: {} })],
    [settled, settled],
    // There is nobody to wait for.
    [settled, { ...paused, status: { machineCount: 0 } }],
  ]
  for (const each of busy) {
    const leader = fresh()
    t.equal(leader.permit('a', change('1'), { mode: 'apply', pools: each }), 'PoolBusy')
    t.same(Object.keys(leader.state.waiting), ['a'])
    t.same(leader.pending, [])
    t.equal(leader.pendingDigest, undefined, 'there is nothing to approve')
    leader.settle('a', desired('0'))
    t.equal(leader.permit('a', change('0'), { mode: 'apply', pools: each }), 'yes', 'a heal')
  }
  for (const each of free) {
    t.equal(fresh().permit('a', change('1'), { mode: 'apply', pools: each }), 'yes')
  }
})

t.test('whatever waits for a pool says which', async (t) => {
  const named = (name: string, spec: object) => pool({ metadata: { name }, spec })
  const pools = [named('worker', {}), named('infra', { paused: true }), named('gpu', {})]
  const approval = {
    mode: 'apply',
    isWaived: false,
    inForce: undefined,
    approved: undefined,
  } as const
  const input = { asset: disruptive, approval: { ...approval, pools } }
  t.match(
    allowanceFor(input, desired('1'), () => change('1')),
    { permission: 'PoolBusy', busyPools: ['infra'] },
  )
})

t.test('what reboots nothing never waits, not even for a busy pool', async (t) => {
  const paused = { mode: 'hold', pools: [pool({ spec: { paused: true } })] } as const
  for (const effect of ['none', 'reload'] as const)
    t.equal(fresh().permit('a', change('1', effect), paused), 'yes')
})

t.test('what went other ways meanwhile is brought back only when approved', async (t) => {
  const leader = fresh()
  leader.settle('a', desired('1'))
  t.equal(leader.permit('a', change('1'), hold), 'yes')
  leader.note('a', { kind: 'skipped', reason: 'Paused' })
  t.equal(leader.permit('a', change('1'), hold), 'Held')
  t.equal(leader.approve(leader.pendingDigest), true)
  leader.note('a', { kind: 'skipped', reason: 'Paused' })
  t.equal(leader.permit('a', change('1'), hold), 'Held', 'its approval is gone with it')
})

t.test('an approval is for what was told, not for the same end from another start', async (t) => {
  const leader = fresh()
  leader.permit('a', change('1'), hold)
  t.equal(leader.approve(leader.pendingDigest), true)
  const other = { ...change('1'), reasons: ['everything added'] }
  t.equal(leader.permit('a', other, hold), 'Held')
  t.equal(leader.permit('a', change('1'), hold), 'yes')
})

t.test('a removal waits like any other change', async (t) => {
  const leader = fresh()
  const removal = { desired: undefined, effect: 'reboot', reasons: ['unit a removed'] } as const
  t.equal(leader.permit('a', removal, hold), 'Held')
  t.equal(leader.approve(leader.pendingDigest), true)
  t.equal(leader.permit('a', removal, hold), 'yes')
})

t.test('an approval outlives its leader, until it is used up or taken back', async (t) => {
  const before = fresh()
  before.permit('a', change('1'), hold)
  before.permit('b', change('1'), hold)
  const digest = before.pendingDigest
  t.equal(before.approve(digest), true)
  t.equal(before.permit('a', change('1'), hold), 'yes')
  before.settle('a', desired('1'))

  const after = new Leader(before.state)
  t.equal(after.permit('b', change('1'), hold), 'yes', 'the rest of the set is still approved')
  t.equal(after.approve(digest), false, 'which is no news')
  after.revoke(digest)
  t.equal(after.permit('b', change('1'), hold), 'yes', 'nor taken back')
  after.settle('a', desired('0'))
  t.equal(after.permit('a', change('1'), hold), 'Held', 'what was made once is used up')
  after.revoke(undefined)
  t.equal(after.permit('b', change('1'), hold), 'Held', 'what was taken back is no approval')
  t.not(after.pendingDigest, digest, 'and the same set has another digest now')
  t.equal(after.approve(digest), false)
  t.equal(after.approve(after.pendingDigest), true)
})

t.test('what rolls no nodes, and what is not made anyway, is asked of nobody', async (t) => {
  const approval = {
    ...hold,
    isWaived: false,
    inForce: undefined,
    approved: undefined,
    pools: [pool({ spec: { paused: true } })],
  }
  const harmless = assetNamed('metallb')
  const judge = (asset: typeof harmless, policy: ApprovalPolicy) =>
    allowanceFor({ asset, approval: policy }, desired('1'), () => change('1'))
  t.same(judge(harmless, approval), { permission: 'yes' })
  t.match(judge(disruptive, approval), { permission: 'Held', disruption: { effect: 'reboot' } })
  t.match(judge(disruptive, { ...approval, isWaived: true }), { permission: 'yes' })
})

const inForce = { kind: 'unchanged', plan: planOf(desired('1')) } as const
const was = desired('1')

const outcomes: readonly (readonly [Outcome, became: 'in force' | 'forgotten' | 'as it was'])[] = [
  [inForce, 'in force'],
  [{ ...inForce, kind: 'created' }, 'in force'],
  [{ ...inForce, kind: 'configured', drifts: [], cause: 'adoption' }, 'in force'],
  [{ kind: 'removed', was, why: 'it is obsolete' }, 'forgotten'],
  [{ kind: 'leftover', message: '' }, 'forgotten'],
  [{ ...inForce, kind: 'pending', reason: 'Observing', isCreation: true, drifts: [] }, 'forgotten'],
  [{ kind: 'pendingRemoval', why: 'w', reason: 'Observing' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Unmanaged' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Paused' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Off' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Inactive' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'DependencyMissing' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Waiting' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'NotOurs' }, 'forgotten'],
  [{ kind: 'skipped', reason: 'Deleting' }, 'as it was'],
  [{ kind: 'skipped', reason: 'Absent' }, 'as it was'],
  [{ kind: 'skipped', reason: 'SchemaMissing' }, 'as it was'],
  [{ kind: 'skipped', reason: 'NamespaceMissing' }, 'as it was'],
  [{ kind: 'held', problems: [] }, 'as it was'],
  [{ kind: 'failed', reason: 'RenderFailed', message: '' }, 'as it was'],
  [{ kind: 'stuck', since: '', finalizers: [] }, 'as it was'],
  [{ ...inForce, kind: 'throttled', drifts: [], rivals: [], isPaused: false }, 'as it was'],
]

for (const [outcome, became] of outcomes) {
  const reason = 'reason' in outcome ? ` (${outcome.reason})` : ''
  t.test(`after ${outcome.kind}${reason} the record is ${became}`, async (t) => {
    const before = new Leader({
      applied: { a: 'old' },
      approval: { digest: 'd', count: 1, changes: { a: 'change' } },
    })
    before.permit('a', change('2'), hold)
    t.same(names(before), ['a'])
    before.note('a', outcome)
    t.same(names(before), [], 'it waits for nothing')
    const { applied, approval } = before.state
    if (became === 'in force') {
      t.not(applied.a, 'old')
      t.equal(before.permit('a', change('1'), hold), 'yes', 'putting it back')
    } else t.equal(applied.a, became === 'forgotten' ? undefined : 'old')
    t.equal(approval.changes.a, became === 'as it was' ? 'change' : undefined)
    t.match(approval, { digest: 'd', count: 1 })
  })
}
