import { APPROVAL_LENGTH } from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { machineCount } from '../../../shared/baseline/facts/pools.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { Memory } from '../../../shared/baseline/state.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import { digestOf } from './memory.ts'
import { type Outcome, type PendingReason, reasonOf } from './outcome.ts'

/** What decides whether a change of one asset's object that reboots nodes may be made. */
export interface ApprovalPolicy {
  readonly mode: 'apply' | 'hold'
  /** No approval is needed, since nothing is written anyway. */
  readonly isWaived: boolean
  /** The pools that the change would roll; none where the cluster has none of that name. */
  readonly pools: readonly KubeObject[]
  /** The digest of the desired state that was last in force. */
  readonly inForce: string | undefined
  /** The digest of the change that is approved. */
  readonly approved: string | undefined
}

/** Whether a change may be made now and, where its asset can disrupt nodes, what it does to them. */
export interface Allowance {
  readonly permission: 'yes' | Exclude<PendingReason, 'Observing'>
  readonly disruption?: Classification
  /** With PoolBusy: the names of the pools that it waits for. */
  readonly busyPools?: readonly string[]
}

/** Whether the object may become `desired`, or be deleted where that is undefined. */
export function allowanceFor(
  { asset, approval }: { readonly asset: Asset; readonly approval: ApprovalPolicy },
  desired: KubeObject | undefined,
  effectsOf: () => Classification,
): Allowance {
  if (asset.disruption === 'none') return { permission: 'yes' }
  const disruption = effectsOf()
  return { ...permissionFor(desired, disruption, approval), disruption }
}

function permissionFor(
  desired: KubeObject | undefined,
  { effect, reasons }: Classification,
  { mode, isWaived, pools, inForce, approved }: ApprovalPolicy,
): Pick<Allowance, 'permission' | 'busyPools'> {
  // No approval for what reboots nothing, nor for restoring what was in force: that stops an unwanted rollout.
  const isBack = inForce === digestOf(desired ?? null)
  if (isWaived || effect !== 'reboot' || isBack) return { permission: 'yes' }
  if (mode === 'hold' && approved !== changeDigest(desired, reasons)) return { permission: 'Held' }
  const busyPools = pools.filter(isBusy).map(({ metadata }) => metadata.name)
  return busyPools.length > 0 ? { permission: 'PoolBusy', busyPools } : { permission: 'yes' }
}

/** Which disruptive changes wait, which are approved, and what is in force; by asset name. */
export interface ApprovalState extends Pick<Memory, 'applied' | 'approval'> {
  /** The changes that wait for approval, or for a pool. */
  readonly waiting: Readonly<Record<string, WaitingChange>>
}

interface WaitingChange {
  readonly reason: PendingReason
  readonly digest: string
  /** What it does to the nodes. */
  readonly reasons: readonly string[]
  /** Of a removal: why the object is not wanted. */
  readonly why?: string
}

/** The changes that wait for approval, by asset and in the order of names. */
export const heldChanges = ({ waiting }: ApprovalState) =>
  Object.entries(waiting)
    .filter(([, { reason }]) => reason === 'Held')
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** The digest to approve, new after each approval; undefined while nothing waits. */
export const pendingDigest = (state: ApprovalState) =>
  heldChanges(state).length === 0
    ? undefined
    : digestOf([state.approval.count, heldDigests(state)]).slice(0, APPROVAL_LENGTH)

/** Approves the waiting set if the digest is its own; any other leaves the state as it is. */
export function approve(state: ApprovalState, digest: string | undefined): ApprovalState {
  if (digest === undefined || digest !== pendingDigest(state)) return state
  const count = state.approval.count + 1
  return { ...state, approval: { digest, count, changes: heldDigests(state) } }
}

/** Revokes an approval that was given by another digest. */
export const revoke = (state: ApprovalState, digest: string | undefined): ApprovalState =>
  digest === state.approval.digest
    ? state
    : { ...state, approval: { count: state.approval.count, changes: {} } }

/** The state without the waiting change of an asset. */
export function withoutWaiting(state: ApprovalState, name: string): ApprovalState {
  const { [name]: _change, ...waiting } = state.waiting
  return { ...state, waiting }
}

// After these outcomes others may have changed the object: bringing it back needs approval like any change.
const LEFT: ReadonlySet<string> = new Set([
  'Unmanaged',
  'Paused',
  'Off',
  'Inactive',
  'DependencyMissing',
  'Waiting',
  'NotOurs',
  'Observing',
])

/** The state after what came of a disruptive asset. */
export function afterOutcome(before: ApprovalState, name: string, outcome: Outcome): ApprovalState {
  const state = withoutWaiting(before, name)
  const reason = reasonOf(outcome)
  if (LEFT.has(reason ?? '')) return withoutRecord(state, name)
  switch (outcome.kind) {
    case 'pending':
    case 'pendingRemoval': {
      const { reasons = [] } = outcome.disruption ?? {}
      const desired = 'plan' in outcome ? outcome.plan.desired : undefined
      const change = {
        reason: outcome.reason,
        digest: changeDigest(desired, reasons),
        reasons,
        ...('why' in outcome && { why: outcome.why }),
      }
      return { ...state, waiting: { ...state.waiting, [name]: change } }
    }
    case 'gone':
    case 'removed':
    case 'leftover':
      return withoutRecord(state, name)
    case 'unchanged':
    case 'created':
    case 'configured': {
      // What was approved for it is used up.
      const { applied, ...rest } = withoutRecord(state, name)
      return { ...rest, applied: { ...applied, [name]: digestOf(outcome.plan.desired) } }
    }
    default:
      return state
  }
}

/** The state without what was in force and approved for an asset. */
function withoutRecord(state: ApprovalState, name: string): ApprovalState {
  const { [name]: _digest, ...applied } = state.applied
  const { [name]: _change, ...changes } = state.approval.changes
  return { ...state, applied, approval: { ...state.approval, changes } }
}

const heldDigests = (state: ApprovalState) =>
  Object.fromEntries(heldChanges(state).map(([name, { digest }]) => [name, digest]))

// The reasons are part of it: the same result from another start does something else to nodes.
const changeDigest = (desired: KubeObject | undefined, reasons: readonly string[]) =>
  digestOf([desired ?? null, reasons])

/** Whether a MachineConfigPool is paused or rolls a change out already; one without machines never is. */
function isBusy(pool: KubeObject): boolean {
  if (machineCount(pool) === 0) return false
  const { spec, status } = pool
  if (isMap(spec) && spec.paused === true) return true
  const conditions = isMap(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.some(
    (condition: unknown) =>
      isMap(condition) && condition.type === 'Updating' && condition.status === 'True',
  )
}
