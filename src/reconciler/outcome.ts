import type { Asset } from '../shared/catalog/catalog.ts'
import type { Drift } from '../shared/engine/merge.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import type { Enforcement } from '../shared/engine/plan.ts'
import type { Problem } from '../shared/engine/problem.ts'

/** What came of reconciling one asset. */
export type Outcome =
  | {
      readonly kind: 'unchanged'
      readonly plan: Enforcement
      /** Fields that ignore-fields names were given up just now. */
      readonly hasReleased?: boolean
    }
  | { readonly kind: 'created'; readonly plan: Enforcement; readonly object: KubeObject }
  | {
      readonly kind: 'configured'
      readonly plan: Enforcement
      readonly object: KubeObject
      readonly drifts: readonly Drift[]
      readonly isAdopted: boolean
    }
  /** A change that is computed and not made. */
  | {
      readonly kind: 'pending'
      readonly reason: 'Observing' | 'Held' | 'PoolBusy'
      readonly plan: Enforcement
      readonly drifts: readonly Drift[]
      readonly isCreation: boolean
    }
  | { readonly kind: 'held'; readonly problems: readonly Problem[] }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly message?: string }
  | { readonly kind: 'leftover'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: 'RenderFailed'; readonly message: string }

export type SkipReason =
  | 'Paused'
  | 'Unmanaged'
  | 'Off'
  | 'Deleting'
  | 'Absent'
  | 'Inactive'
  | 'DependencyMissing'
  | 'NamespaceMissing'

/** An outcome, and what is known beside it, as it is told and counted. */
export interface Report {
  readonly asset: Asset
  readonly outcome: Outcome
  /** The object as it is now, if it exists. */
  readonly object: KubeObject | undefined
  readonly hco: KubeObject
  readonly durationMs: number
}
