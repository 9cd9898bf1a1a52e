import type { MissedApi } from '../../../shared/baseline/asset-status.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Reach } from '../../../shared/baseline/facts/pools.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Problem } from '../../../shared/engine/problem.ts'
import type { Cause } from './cause.ts'

/** What came of reconciling one asset. */
export type Outcome =
  | {
      readonly kind: 'unchanged'
      readonly plan: Enforcement
      /** Fields that ignore-fields names were given up just now. */
      readonly hasReleased?: boolean
      /** What a patch that is in force since now makes of the baseline: somebody else has written it already. */
      readonly patched?: readonly Drift[]
    }
  | {
      readonly kind: 'created'
      readonly plan: Enforcement
      readonly disruption?: Classification
    }
  | {
      readonly kind: 'configured'
      readonly plan: Enforcement
      readonly drifts: readonly Drift[]
      readonly cause: Cause
      readonly disruption?: Classification
    }
  /** A change that is computed and not made. */
  | ({
      readonly kind: 'pending'
      readonly reason: PendingReason
      readonly plan: Enforcement
      readonly isCreation: boolean
      readonly disruption?: Classification
      /** With PoolBusy: the names of the pools that it waits for. */
      readonly busyPools?: readonly string[]
    } & ExpectedChange)
  /** A heal that was one too many: somebody changes the object again and again. */
  | {
      readonly kind: 'throttled'
      readonly plan: Enforcement
      readonly drifts: readonly Drift[]
      /** The field managers that changed it last. */
      readonly rivals: readonly string[]
      /** Whether management was paused just now, until somebody lifts that. */
      readonly isPaused: boolean
    }
  | { readonly kind: 'held'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'skipped'
      readonly reason: SkipReason
      readonly message?: string
      /** With DependencyMissing: the API that is not served. */
      readonly missed?: MissedApi
    }
  | { readonly kind: 'leftover'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: 'RenderFailed'; readonly message: string }
  /** An object that is not wanted any more was not there. */
  | { readonly kind: 'gone' }
  /** An object that is not wanted any more is deleted. */
  | {
      readonly kind: 'removed'
      readonly was: KubeObject
      readonly why: string
      readonly disruption?: Classification
    }
  /** A removal that is due and not made. */
  | {
      readonly kind: 'pendingRemoval'
      readonly reason: PendingReason
      /** Why the object is not wanted. */
      readonly why: string
      readonly disruption?: Classification
      readonly busyPools?: readonly string[]
    }
  /** A removal that finalizers hold up. */
  | { readonly kind: 'stuck'; readonly since: string; readonly finalizers: readonly string[] }

/** Why a change is not made: nothing is written at all, it waits for approval, or for a pool that is at work or paused. */
export type PendingReason = 'Observing' | 'Held' | 'PoolBusy'

/** The one write that an outcome may take. */
export type Write =
  /** Applies `desired`; `live` is the state that it was planned from, undefined for a creation. */
  | { readonly kind: 'apply'; readonly desired: KubeObject; readonly live: KubeObject | undefined }
  /** Annotates the object as paused. */
  | { readonly kind: 'pause' }
  /** Deletes the object if it still is in this state. */
  | { readonly kind: 'delete'; readonly live: KubeObject }

/** What a write would change that is not made. */
export interface ExpectedChange {
  readonly drifts: readonly Drift[]
  /** Why the server's own word on it could not be had: this is only what we expect. */
  readonly unconfirmed?: string
}

export type SkipReason =
  | 'Paused'
  | 'Unmanaged'
  | 'Off'
  | 'Deleting'
  | 'Absent'
  | 'Inactive'
  | 'SchemaMissing'
  | 'NotOurs'
  | 'DependencyMissing'
  | 'NamespaceMissing'
  /** Somebody asked for the asset, and a condition other than a missing API does not hold. */
  | 'Waiting'

/** Why an object that is to be deleted is left: somebody has a claim on it. */
export const CLAIMS: ReadonlySet<string> = new Set(['NotOurs', 'Unmanaged', 'Paused'])

/** The reason that an outcome gives, where its kind has any. */
export const reasonOf = (outcome: Outcome) => ('reason' in outcome ? outcome.reason : undefined)

/** An outcome, and what is known beside it, as it is told and counted. */
export interface Report {
  readonly asset: Asset
  readonly outcome: Outcome
  /** The object as it is now, if it exists. */
  readonly object: KubeObject | undefined
  readonly hco: KubeObject
  /** The pools that the asset changes; undefined where it changes none. */
  readonly reach: Reach | undefined
  readonly durationMs: number
}
