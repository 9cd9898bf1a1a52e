import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  type HealLimits,
  type HealMemory,
  type Permit,
  permitHeal,
  postponePause,
  spendHeal,
} from '../../../shared/engine/throttle.ts'
import { sha256 } from '../../../shared/ops/digest.ts'
import { type ExpectedChange, type Outcome, reasonOf, type Write } from './outcome.ts'

/** What is remembered of one asset from one reconcile to the next, so that nothing is asked or written twice. */
export interface AssetMemory {
  readonly heals?: HealBudget | undefined
  /** The server's last word on a pair of desired and live: what applying would change, or that it changes nothing. */
  readonly answer?: { readonly pair: string; readonly change: ExpectedChange | 'nothing' }
  readonly claimed?: Claim
  readonly grounds?: Grounds
}

/** What an object was last kept by: it tells a change that is asked for from one that is put back. */
export interface Grounds {
  /** The digest of the baseline. */
  readonly baseline?: string | undefined
  /** The texts of its overrides; undefined where only another leader has seen them. */
  readonly overrides?: { readonly patch: string | undefined; readonly others: string }
}

/** What a memory is judged by. */
export interface MemoryTime {
  readonly healLimits: HealLimits
  /** How many resyncs there were: after each, the ownership of a field may be taken back once more. */
  readonly resyncs: number
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: number
}

type HealTime = Omit<MemoryTime, 'resyncs'>

/** That the ownership of all desired fields was taken back: from which state, and after how many resyncs. */
interface Claim {
  readonly desired: string
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  readonly resyncs: number
}

/** What the server said that applying `desired` would change; undefined where it was not asked about this very pair. */
export const answerOn = (
  { answer }: AssetMemory,
  desired: KubeObject,
  live: KubeObject | undefined,
) => (answer?.pair === pairOf(desired, live) ? answer.change : undefined)

export const withAnswer = (
  memory: AssetMemory,
  desired: KubeObject,
  live: KubeObject | undefined,
  change: ExpectedChange | 'nothing',
): AssetMemory => ({ ...memory, answer: { pair: pairOf(desired, live), change } })

/** Whether these very fields were taken back since the last resync; where some are nobody's, since the object was last written. */
export const isClaimed = (
  { memory: { claimed }, resyncs }: { readonly memory: AssetMemory; readonly resyncs: number },
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
  { outcome, write }: { readonly outcome: Outcome; readonly write?: Write },
  stored: KubeObject | undefined,
  time: MemoryTime,
): AssetMemory {
  // A pause resets the count of heals.
  if (reasonOf(outcome) === 'Paused' || write?.kind === 'pause')
    return { ...before, heals: before.heals && { ...before.heals, memory: undefined } }
  if (write?.kind !== 'apply' || !stored) return before
  const { desired, live } = write
  const { uid, resourceVersion } = stored.metadata
  const { resyncs } = time
  const claimed = live && { desired: digestOf(desired), uid, resourceVersion, resyncs }
  const isHeal = outcome.kind === 'created' || outcome.kind === 'configured'
  return {
    ...withAnswer(before, desired, stored, 'nothing'),
    ...(claimed && { claimed }),
    ...(isHeal && { heals: spentOn(outcome.plan.desired, before.heals, time) }),
  }
}

/** A deletion that takes longer, in milliseconds, is reported as stuck. */
export const STUCK_MS = 30_000

const SHORTEST_WAIT_MS = 1_000

/** When to look again although nothing changed, in milliseconds; undefined where there is no need. */
export function requeueAfterMs(outcome: Outcome, memory: AssetMemory | undefined, uptime: number) {
  if (outcome.kind === 'throttled')
    return Math.max(SHORTEST_WAIT_MS, (memory?.heals?.memory?.until ?? 0) - uptime)
  return reasonOf(outcome) === 'Deleting' ? STUCK_MS : undefined
}

const pairOf = (desired: KubeObject, live: KubeObject | undefined) =>
  digestOf([desired, live ? projectionOf(live) : null])

// What others write to status and to their own managed fields changes nothing for us.
const projectionOf = ({ metadata, status: _status, ...rest }: KubeObject) => {
  const { uid = null, labels = null, annotations = null } = metadata
  return { ...rest, uid, labels, annotations }
}

/** The heals of one object, counted so that an edit war ends in a pause. */
export interface HealBudget {
  /** Of what the object was last brought to; only bringing it there again is a heal. */
  readonly digest: string
  readonly memory: HealMemory | undefined
}

/** Whether the object may be brought to this state now, and what is left; one that is not there cannot be paused. */
export function permitIn(
  budget: HealBudget | undefined,
  desired: KubeObject,
  isThere: boolean,
  { healLimits, uptime }: HealTime,
): { readonly permit: Permit['kind']; readonly budget: HealBudget | undefined } {
  if (budget?.digest !== digestOf(desired)) return { permit: 'go', budget }
  const { kind, memory } = permitHeal(budget.memory, healLimits, uptime)
  if (kind !== 'pause' || isThere) return { permit: kind, budget: { ...budget, memory } }
  const postponed = postponePause(memory, healLimits, uptime)
  return { permit: 'wait', budget: { ...budget, memory: postponed } }
}

/** The budget once the object was brought to this state. */
export function spentOn(
  desired: KubeObject,
  budget: HealBudget | undefined,
  { healLimits, uptime }: HealTime,
): HealBudget {
  const digest = digestOf(desired)
  const isHeal = budget?.digest === digest
  const memory = isHeal ? spendHeal(budget.memory, healLimits, uptime) : budget?.memory
  return { digest, memory }
}

/** A digest of any JSON value. */
export const digestOf = (value: unknown) => sha256(canonicalJson(value))
