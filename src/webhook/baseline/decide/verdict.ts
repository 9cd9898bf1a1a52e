import type { Correction, Drift } from '../../../shared/engine/merge/merge.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Problem } from '../../../shared/engine/problem.ts'
import type { Contest } from '../contests/contest-limiter.ts'
import type { LostQuotas } from './quotas.ts'
import type { Reboot } from './reboots.ts'
import type { Edit, Remedy } from './remedy.ts'

/** What is to become of a write. Reasons are the metric's label values. */
export type Judgement =
  | Allowed
  | Corrected
  | Denied
  /** A write of more than can be judged, of an object that was not as much before. */
  | { readonly kind: 'denied'; readonly reason: 'Oversized' }
  | ({ readonly kind: 'denied' } & Fault)

/** The same with all that is told of it. */
export type Verdict = Judgement & Told

export interface Told {
  /** The write as one of many that move a managed field; undefined where it moves none. */
  readonly contest?: Contest | undefined
  /** How its author may have it his way. */
  readonly remedy?: Remedy | undefined
  /** What is stored has a new owner, with which the garbage collector deletes it. */
  readonly isOwned?: boolean
  /** What is stored reboots nodes. */
  readonly reboots?: readonly Reboot[]
  /** What is stored has quotas deleted. */
  readonly quotas?: LostQuotas | undefined
}

/** A write that is stored as it is. */
export interface Allowed {
  readonly kind: 'allowed'
  readonly reason: string
  readonly notes: readonly string[]
}

/** A write that is stored with fields put back. Drifts are what the writer moved away, not what an override moved. */
export interface Corrected extends Correction {
  readonly kind: 'corrected'
  readonly reason: 'Drift' | 'Override'
  /** All that is put back, what the writer's change of an override asks for too. */
  readonly putBack: readonly Drift[]
  readonly plan: Enforcement
  readonly target: Target
  readonly notes: readonly string[]
}

/** A write that is not stored: it moves fields that are only ever denied, or once too often, or after its correction. */
export interface Denied {
  readonly kind: 'denied'
  readonly reason: 'Drift' | 'Thrashing' | 'NotCorrected'
  readonly drifts: readonly Drift[]
  readonly target: Target
}

/** Why a write is refused for its annotations. */
export interface Fault {
  readonly reason: 'InvalidOverride' | 'PatchBlocked' | 'InvalidSetting'
  readonly problems: readonly Problem[]
}

/** What an object is held against. */
export type Target = Pick<Edit, 'baseline' | 'tree'>

export const allow = (reason: string, notes: readonly string[]): Allowed => ({
  kind: 'allowed',
  reason,
  notes,
})

export const deny = (
  reason: Denied['reason'],
  drifts: readonly Drift[],
  target: Target,
): Denied => ({ kind: 'denied', reason, drifts, target })
