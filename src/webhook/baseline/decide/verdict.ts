import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Correction, Drift } from '../../../shared/engine/merge/merge.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Problem } from '../../../shared/engine/problem.ts'
import type { Contest } from '../contests/contest-limiter.ts'
import type { Reboot } from './reboots.ts'
import type { Edit, Remedy } from './remedy.ts'

/** What is to become of a write, and all that is told of it. Reasons are the metric's label values. */
export type Verdict = (
  | (Allowed & Effects)
  | (Corrected & Effects & { readonly remedy: Remedy | undefined })
  | (Denied & { readonly remedy: Remedy | undefined })
  | Oversized
  | ({ readonly kind: 'denied' } & Fault)
) & {
  /** The write as one of many that move a managed field; undefined where it moves none. */
  readonly contest?: Contest | undefined
}

/** The same before it is known whether there were too many such writes, and what follows. */
export type Judgement =
  | Allowed
  | Corrected
  | Denied
  | Oversized
  | ({ readonly kind: 'denied' } & Fault)

/** A write that is stored as it is. */
export interface Allowed {
  readonly kind: 'allowed'
  readonly reason: string
  readonly notes: readonly string[]
}

/** A write that is stored with fields put back. */
export interface Corrected {
  readonly kind: 'corrected'
  readonly reason: 'Drift' | 'Override'
  readonly corrected: KubeObject
  /** What makes the write that object. */
  readonly operations: Correction['operations']
  /** What the writer moved away; what an override moved is not among them. */
  readonly drifts: readonly Drift[]
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

/** A write of more than can be judged, of an object that was not as much before. */
export interface Oversized {
  readonly kind: 'denied'
  readonly reason: 'Oversized'
}

/** Why a write is refused for its annotations. */
export interface Fault {
  readonly reason: 'InvalidOverride' | 'PatchBlocked' | 'InvalidSetting'
  readonly problems: readonly Problem[]
}

/** What comes of a write that is stored, beside what is stored. */
export interface Effects {
  /** It gets an owner, with which the garbage collector deletes it. */
  readonly isOwned: boolean
  readonly reboots: readonly Reboot[]
}

/** What an object is held against. */
export type Target = Pick<Edit, 'baseline' | 'tree'>

/** A write that is stored as it is. */
export const allow = (reason: string, notes: readonly string[]): Allowed => ({
  kind: 'allowed',
  reason,
  notes,
})
