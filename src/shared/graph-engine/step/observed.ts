import type { KubeObject } from '../../engine/json/object.ts'
import type { Failure } from '../failure.ts'

/** What is known of one object. An object that is not in the map has not been read yet. */
export type Observation =
  | { readonly state: 'present'; readonly object: KubeObject }
  | { readonly state: 'absent' }
  /** It was asked for in vain, or nobody serves its kind; the reason completes "cannot be read: ". */
  | { readonly state: 'unreadable'; readonly reason: string; readonly isUnserved?: boolean }

/** What is remembered of one object between passes, by its key; all of it may be lost. */
export interface ObjectMemory {
  /** When it was applied last; from then on count the predicates' timeouts. */
  readonly appliedAt?: number
  /** Of the last apply or delete. Forgotten when one succeeds. */
  readonly failure?: Failure
  /** Others change it as often as we do: until then it is not healed (see engine/throttle.ts). */
  readonly heldUntil?: number
}

/** What a pass looks at; both maps by `keyOf` of everything in graph and inventory. */
export interface Observed {
  readonly objects: ReadonlyMap<string, Observation>
  readonly memory: ReadonlyMap<string, ObjectMemory>
}
