import type { Digest } from '../../../shared/baseline/asset-status.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Correction, Drift } from '../../../shared/engine/merge/merge.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Knowledge } from '../knowledge.ts'
import type { Fault } from './judge-annotations.ts'

/** What is to become of a write. Reasons are the metric's label values. */
export type Verdict =
  | Allowed
  | Corrected
  | Denied
  | Oversized
  | ({ readonly kind: 'denied' } & Fault)

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

/** A write that is not stored, since it moves fields of an asset that is only ever denied, or once too often. */
export interface Denied {
  readonly kind: 'denied'
  readonly reason: 'Drift' | 'Thrashing'
  readonly drifts: readonly Drift[]
  readonly target: Target
}

/** A write of more than can be judged, of an object that was not as much before. */
export interface Oversized {
  readonly kind: 'denied'
  readonly reason: 'Oversized'
}

/** What an object is held against. */
export interface Target {
  readonly baseline: KubeObject
  readonly tree: MergeTree
}

export interface JudgeContext {
  readonly knowledge: Knowledge
  /** What the flag says, after the HyperConverged and before the asset; undefined where it says nothing. */
  readonly enforcement: 'correct' | 'deny' | undefined
  readonly digest: Digest
}

/** A write that is stored as it is. */
export const allow = (reason: string, notes: readonly string[]): Allowed => ({
  kind: 'allowed',
  reason,
  notes,
})
