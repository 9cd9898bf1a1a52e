import type { KubeObject } from '../../engine/json/object.ts'
import type { ObjectRef } from '../node.ts'

export type ApplyReason =
  | 'Absent'
  /** The desired object is not the one that was applied last. */
  | 'Changed'
  /** Somebody took or removed fields that are ours. */
  | 'Drifted'
  /** Its marks name the owner's former uid. */
  | 'Restored'

/**
 * What the executor is to do now. All of one pass are independent of each other: in any order, in parallel. One whose key is
 * still under way from an earlier pass must not be begun again.
 */
export type Action = ApplyAction | DeleteAction

export interface ApplyAction {
  readonly kind: 'apply'
  readonly key: string
  readonly id: string
  readonly reason: ApplyReason
  /** JSON pointers of what drifted. */
  readonly fields?: readonly string[]
  /** What to send, with its marks; and uid and resourceVersion where there is a live object, as preconditions. */
  readonly object: KubeObject
  readonly fieldManager: string
  /** First contact never is, whatever the node says: whoever is there first answers with a conflict. */
  readonly isForced: boolean
  /** Of the desired object, for `recordApplied` and for the failure. */
  readonly hash: string
}

export interface DeleteAction {
  readonly kind: 'delete'
  readonly key: string
  readonly id: string
  readonly ref: ObjectRef
  /** Preconditions. */
  readonly uid: string
  readonly resourceVersion?: string
}
