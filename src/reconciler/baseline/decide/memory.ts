import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { sha256 } from '../../../shared/ops/digest.ts'
import type { AssetInput, Final } from './decision.ts'
import { type HealBudget, type HealTime, spentOn, waitMs } from './heal-budget.ts'
import { type ExpectedChange, type Outcome, reasonOf } from './outcome.ts'

/** What is remembered of one asset from one reconcile to the next, so that nothing is asked or written twice. */
export interface AssetMemory {
  readonly heals?: HealBudget | undefined
  /** The pair of desired and live between which the server saw no difference. */
  readonly same?: string
  /** What the server said would change, and for which pair. */
  readonly expected?: { readonly pair: string; readonly change: ExpectedChange }
  readonly claimed?: Claim
}

/** That the ownership of all desired fields was taken back: from which state, and after how many resyncs. */
interface Claim {
  readonly desired: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly resyncs: number
}

export const isKnownSame = ({ same }: AssetMemory, desired: KubeObject, live: KubeObject) =>
  same === pairOf(desired, live)

export const withSame = (memory: AssetMemory, desired: KubeObject, live: KubeObject) => ({
  ...memory,
  same: pairOf(desired, live),
})

/** What the server said that a write would change; undefined where it was not asked about this very pair. */
export const expectedOf = (
  { expected }: AssetMemory,
  desired: KubeObject,
  live: KubeObject | undefined,
) => (expected?.pair === pairOf(desired, live) ? expected.change : undefined)

export const withExpected = (
  memory: AssetMemory,
  desired: KubeObject,
  live: KubeObject | undefined,
  change: ExpectedChange,
) => ({ ...memory, expected: { pair: pairOf(desired, live), change } })

/**
 * Whether the ownership of these very fields was taken back since the last resync; where some are nobody's, whether it
 * was since the object was last written.
 */
export const isClaimed = (
  { memory: { claimed }, resyncs }: Pick<AssetInput, 'memory' | 'resyncs'>,
  desired: KubeObject,
  { metadata: { uid, resourceVersion } }: KubeObject,
  isOrphaned: boolean,
) =>
  claimed?.resyncs === resyncs &&
  claimed.uid === uid &&
  claimed.desired === digestOf(desired) &&
  (!isOrphaned || claimed.resourceVersion === resourceVersion)

/** The memory once a decision was carried out; `stored` is the object as its write left it. */
export function remember(
  before: AssetMemory,
  { outcome, write }: Pick<Final, 'outcome' | 'write'>,
  stored: KubeObject | undefined,
  time: HealTime & Pick<AssetInput, 'resyncs'>,
): AssetMemory {
  // The war is over, or begins anew once the pause is lifted.
  if (reasonOf(outcome) === 'Paused' || write?.kind === 'pause')
    return { ...before, heals: before.heals && { ...before.heals, memory: undefined } }
  if (write?.kind !== 'apply' || !stored) return before
  const { desired, live } = write
  const applied = withSame(before, desired, stored)
  const claimed = live ? { ...applied, claimed: claimOf(desired, stored, time.resyncs) } : applied
  return outcome.kind === 'created' || outcome.kind === 'configured'
    ? { ...claimed, heals: spentOn(outcome.plan.desired, before.heals, time) }
    : claimed
}

/** Finalizers that take longer, in milliseconds, are not at work but in the way. */
export const STUCK_MS = 30_000

const SHORTEST_WAIT_MS = 1_000

/** When to look again although nothing changed, in milliseconds; undefined where there is no need. */
export function requeueAfterMs(outcome: Outcome, { heals }: AssetMemory, uptime: number) {
  if (outcome.kind === 'throttled') return Math.max(SHORTEST_WAIT_MS, waitMs(heals, uptime))
  return reasonOf(outcome) === 'Deleting' ? STUCK_MS : undefined
}

const claimOf = (desired: KubeObject, { metadata }: KubeObject, resyncs: number): Claim => ({
  desired: digestOf(desired),
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
  resyncs,
})

const pairOf = (desired: KubeObject, live: KubeObject | undefined) =>
  digestOf([desired, live ? projectionOf(live) : null])

// What others write to status and to their own managed fields changes nothing for us.
const projectionOf = ({ metadata, status: _status, ...rest }: KubeObject) => {
  const { uid = null, labels = null, annotations = null } = metadata
  return { ...rest, uid, labels, annotations }
}

const digestOf = (value: unknown) => sha256(canonicalJson(value))
