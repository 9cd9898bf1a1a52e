import type { Operation } from 'fast-json-patch'
import { FIELD_MANAGER, MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import type { AssetStatus } from '../../../shared/baseline/asset-status.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { DisruptionPolicies } from '../../../shared/baseline/machine-config/disruption-policies.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import type { ApprovalPolicy } from './approval.ts'
import type { AssetMemory, MemoryTime } from './memory.ts'
import type { Outcome, SkipReason, Write } from './outcome.ts'

/** Everything that decides about one asset. */
export interface AssetInput extends MemoryTime {
  readonly asset: Asset
  readonly status: AssetStatus
  /** The stored object. */
  readonly live: KubeObject | undefined
  /** Whether the server was asked for the object by name: a watch that lacks it may only be late. */
  readonly isRead: boolean
  /** Whether the fields that ignore-fields names were given up just now. */
  readonly hasReleased: boolean
  /** What the server makes of applying what is desired; undefined until it was asked. */
  readonly dryRun: DryRun | undefined
  /** How the kind's fields merge; undefined while its schema is not published. */
  readonly tree: MergeTree | undefined
  readonly isOff: boolean
  readonly isObserving: boolean
  readonly isNamespaceMissing: boolean
  /** Whether the object of the asset that this one yields to is there. */
  readonly isRivalThere: boolean
  /** The asset that this one needs and whose object is not there. */
  readonly missingNeed: Asset | undefined
  /** What the Machine Config Operator does about changes, as far as it says. */
  readonly nodePolicies: DisruptionPolicies | undefined
  readonly approval: ApprovalPolicy
  readonly memory: AssetMemory
  /** Epoch milliseconds. */
  readonly now: number
}

/** The server's answer to an apply that it does not store, or why it gave none. */
export type DryRun = { readonly answer: KubeObject } | { readonly forbidden: string }

/** What to do next: find out more and decide again, or what comes of the asset. */
export type Decision = Final | (Step & { readonly resume?: Resume })

/** Goes on from what a step found; where a step has none, all is decided again with it. */
export type Resume = (found: Partial<AssetInput>) => Decision

/** Something to do before it can be decided on. */
export type Step =
  /** Read the object by name. */
  | { readonly kind: 'read' }
  /** Ask the server what it would make of applying this object. */
  | { readonly kind: 'dryRun'; readonly object: KubeObject }
  /** Give up the ownership of ignored fields: leaving a field out of an apply deletes it where nobody else owns it. */
  | { readonly kind: 'release'; readonly operations: readonly Operation[] }

/** What comes of the asset, once what is to be written is written. */
export interface Final {
  readonly kind: 'final'
  readonly outcome: Outcome
  readonly write?: Write
  /** What to remember instead of the input's memory, whether or not the write succeeds. */
  readonly memory?: AssetMemory
}

export const final = (outcome: Outcome, more: Pick<Final, 'write' | 'memory'> = {}): Final => ({
  kind: 'final',
  outcome,
  ...more,
})

export const skip = (reason: SkipReason, message?: string): Final =>
  final({ kind: 'skipped', reason, ...(message !== undefined && { message }) })

/** Whether the object bears our label. */
export const isManagedByUs = (live: KubeObject | undefined) =>
  live?.metadata.labels?.[MANAGED_BY] === FIELD_MANAGER
