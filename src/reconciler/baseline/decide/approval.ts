import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { Memory } from '../../../shared/baseline/state.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'
import { sha256 } from '../../../shared/ops/digest.ts'
import { type Outcome, type PendingReason, reasonOf } from './outcome.ts'

/** What decides whether a change of one asset's object that reboots nodes may be made. */
export interface ApprovalPolicy {
  readonly mode: 'apply' | 'hold'
  /** Whether nobody is asked, since nothing is written anyway. */
  readonly isWaived: boolean
  /** The pool that the change would roll; undefined where the cluster has none of that name. */
  readonly pool: KubeObject | undefined
  /** The digest of the desired state that was last in force. */
  readonly inForce: string | undefined
  /** The digest of the change that is approved. */
  readonly approved: string | undefined
}

/** Whether a change may be made now and, where its asset can disrupt nodes, what it does to them. */
export interface Allowance {
  readonly permission: 'yes' | Exclude<PendingReason, 'Observing'>
  readonly disruption?: Classification
}

/** Judges that the object becomes `desired`, or goes where that is undefined; `effectsOf` says what it does to nodes. */
export function allowanceFor(
  { asset, approval }: { readonly asset: Asset; readonly approval: ApprovalPolicy },
  desired: KubeObject | undefined,
  effectsOf: () => Classification,
): Allowance {
  if (asset.disruption === 'none') return { permission: 'yes' }
  const disruption = effectsOf()
  return { permission: permissionFor(desired, disruption, approval), disruption }
}

function permissionFor(
  desired: KubeObject | undefined,
  { effect, reasons }: Classification,
  { mode, isWaived, pool, inForce, approved }: ApprovalPolicy,
): Allowance['permission'] {
  // What reboots nobody needs no approval; what puts back what was in force stops a rollout that nobody wanted.
  const isBack = inForce === digestOf(desired ?? null)
  if (isWaived || effect !== 'reboot' || isBack) return 'yes'
  if (mode === 'hold' && approved !== changeDigest(desired, reasons)) return 'Held'
  return isBusy(pool) ? 'PoolBusy' : 'yes'
}

/** Which disruptive changes wait, which are approved, and what is in force. By the names of assets. */
export interface ApprovalState extends Pick<Memory, 'applied' | 'approval'> {
  /** The changes that wait for approval. */
  readonly pending: Readonly<Record<string, PendingChange>>
  /** The assets whose change waits for a pool. */
  readonly behindPool: ReadonlySet<string>
}

interface PendingChange {
  readonly digest: string
  /** What it does to the nodes. */
  readonly reasons: readonly string[]
}

export const initialApprovals = ({
  applied,
  approval,
}: Pick<Memory, 'applied' | 'approval'>): ApprovalState => ({
  applied,
  approval,
  pending: {},
  behindPool: new Set(),
})

/** The digest to approve, new after each approval; undefined while nothing waits. Short enough to type. */
export const pendingDigest = (state: ApprovalState) =>
  Object.keys(state.pending).length === 0
    ? undefined
    : digestOf([state.approval.count, pendingDigests(state)]).slice(0, 12)

/** The set that waits is approved if the digest is its own: an old one approves nothing, and leaves the state as it is. */
export function approve(state: ApprovalState, digest: string | undefined): ApprovalState {
  if (digest === undefined || digest !== pendingDigest(state)) return state
  const count = state.approval.count + 1
  return { ...state, approval: { digest, count, changes: pendingDigests(state) } }
}

/** Whatever was approved by another digest than this is approved no more. */
export const takeBack = (state: ApprovalState, digest: string | undefined): ApprovalState =>
  digest === state.approval.digest
    ? state
    : { ...state, approval: { count: state.approval.count, changes: {} } }

/** An asset whose change waits for nothing any more. */
export function withoutPending(state: ApprovalState, name: string): ApprovalState {
  const { [name]: _change, ...pending } = state.pending
  const behindPool = new Set([...state.behindPool].filter((other) => other !== name))
  return { ...state, pending, behindPool }
}

// An object that was left to others for a while is as they wanted it: to bring it back is a change like any other.
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
  const state = withoutPending(before, name)
  const reason = reasonOf(outcome)
  if (LEFT.has(reason ?? '')) return withoutRecord(state, name)
  if (reason === 'PoolBusy') return { ...state, behindPool: new Set([...state.behindPool, name]) }
  switch (outcome.kind) {
    case 'pending':
    case 'pendingRemoval': {
      const { reasons = [] } = outcome.disruption ?? {}
      const desired = 'plan' in outcome ? outcome.plan.desired : undefined
      const change = { digest: changeDigest(desired, reasons), reasons }
      return { ...state, pending: { ...state.pending, [name]: change } }
    }
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

/** Without what was in force and approved for an asset. */
function withoutRecord(state: ApprovalState, name: string): ApprovalState {
  const { [name]: _digest, ...applied } = state.applied
  const { [name]: _change, ...changes } = state.approval.changes
  return { ...state, applied, approval: { ...state.approval, changes } }
}

const pendingDigests = ({ pending }: ApprovalState) =>
  Object.fromEntries(Object.entries(pending).map(([name, { digest }]) => [name, digest]))

// To the same end from another start is another change.
const changeDigest = (desired: KubeObject | undefined, reasons: readonly string[]) =>
  digestOf([desired ?? null, reasons])

const digestOf = (value: unknown) => sha256(canonicalJson(value))

/** Whether a MachineConfigPool is paused or rolls a change out already. */
function isBusy(pool: KubeObject | undefined): boolean {
  const spec = pool?.spec
  const status = pool?.status
  if (isMap(spec) && spec.paused === true) return true
  const conditions = isMap(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.some(
    (condition: unknown) =>
      isMap(condition) && condition.type === 'Updating' && condition.status === 'True',
  )
}
