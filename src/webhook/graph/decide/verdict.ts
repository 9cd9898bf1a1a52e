import type { Cause, Fault } from '../../../shared/graph/fault.ts'
import type { ObjectRef } from '../../../shared/graph-engine/node.ts'
import type { Violation } from '../../../shared/modules/evaluation.ts'

/** What is to become of a write. Reasons are the metric's label values. */
export type Verdict = Allowed | Denied

export type Allowed =
  /** Nothing is judged, and nothing is to be said of that. */
  | { readonly kind: 'allowed'; readonly reason: Silence }
  /** Nothing could be judged, and why. */
  | { readonly kind: 'allowed'; readonly reason: 'NotPreviewed'; readonly why: string }
  | Rendered
  | Deleted
  /** A Transform goes, and all that it made stays. */
  | { readonly kind: 'allowed'; readonly reason: 'Orphaned'; readonly left: readonly ObjectRef[] }

export type Silence =
  | 'Unchanged'
  | 'Ending'
  | 'Suspended'
  | 'ModuleElsewhere'
  | 'Empty'
  | 'CleaningUp'
  | 'Ours'

/** It renders, and may be applied. */
export interface Rendered {
  readonly kind: 'allowed'
  readonly reason: 'Rendered'
  /** Those that are to be told. */
  readonly violations: readonly Violation[]
  readonly warnings: readonly string[]
  /** What leaves the graph with this write and is deleted, in this order. */
  readonly pruned: readonly ObjectRef[]
}

/** A Transform goes, and with it what it made. */
export interface Deleted {
  readonly kind: 'allowed'
  readonly reason: 'Deleted'
  /** In this order. */
  readonly going: readonly ObjectRef[]
  readonly staying: readonly Staying[]
}

/** An object that stays, and why. */
export interface Staying {
  readonly ref: ObjectRef
  readonly message: string
}

export type Denied =
  /** It can never be applied as it is. */
  | {
      readonly kind: 'denied'
      readonly reason: Fault['reason']
      readonly causes: readonly Cause[]
    }
  /** Objects in it are another graph's. */
  | { readonly kind: 'denied'; readonly reason: 'Owned'; readonly owned: readonly Owned[] }
  /** A ResourceGraph, which nobody writes but us. */
  | { readonly kind: 'denied'; readonly reason: 'NotTheirs' }

export interface Owned {
  /** Of the node. */
  readonly id: string
  readonly ref: ObjectRef
  /** The Transform that it belongs to, as people name it. */
  readonly by: string
}

/** A write of which nothing is judged. */
export const allow = (reason: Silence): Verdict => ({ kind: 'allowed', reason })
