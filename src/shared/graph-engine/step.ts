import type { KubeObject } from '../engine/json/object.ts'
import type { Failure } from './failure.ts'
import type { Digest, Inventory, InventoryItem } from './inventory.ts'
import type { DeletionPolicy, Graph, ObjectRef } from './node.ts'
import type { MarkNames, Owner } from './ownership.ts'

/** What is known of one object. An object that is not in the map has not been read yet. */
export type Observation =
  | { readonly state: 'present'; readonly object: KubeObject }
  | { readonly state: 'absent' }
  /** It was asked for in vain; the reason completes "cannot be read: ". */
  | { readonly state: 'unreadable'; readonly reason: string }

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

export interface StepInput {
  readonly graph: Graph
  /** As it was written last. */
  readonly inventory: Inventory
  readonly observed: Observed
  readonly owner: Owner
  readonly names: MarkNames
  /** Of nodes that name none; `Delete` where it is absent. */
  readonly deletionPolicy?: DeletionPolicy
  /** How long an object stays after it left the graph, if it does not say otherwise itself; 30 where it is absent. */
  readonly graceSeconds?: number
  readonly now: number
  readonly digest: Digest
}

export type ApplyReason =
  | 'Absent'
  /** The desired object is not the one that was applied last. */
  | 'Changed'
  /** Somebody took or removed fields that are ours. */
  | 'Drifted'
  /** Its marks name the owner's former uid. */
  | 'Restored'

/** What the executor is to do now. All of one pass are independent of each other: in any order, in parallel. */
export type Action = ApplyAction | DeleteAction

export interface ApplyAction {
  readonly kind: 'apply'
  readonly key: string
  readonly id: string
  readonly reason: ApplyReason
  /** What to send, with its marks; and uid and resourceVersion where there is a live object, as preconditions. */
  readonly object: KubeObject
  readonly fieldManager: string
  /** First contact never is, unless the node says so: whoever is there first answers with a conflict. */
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

export type NodePhase =
  /** It waits for its dependencies, or has not been read yet. */
  | 'Pending'
  /** It is being applied, as far as this pass knows. */
  | 'Applying'
  | 'Applied'
  | 'WaitingReady'
  | 'Ready'
  | 'Error'
  | 'Terminating'
  | 'Adopted'

export interface NodeState {
  readonly phase: NodePhase
  /** What holds it up, or what is wrong; empty for Ready. */
  readonly message: string
  /** What the rules of readiness said of the live object. */
  readonly readyDetails?: string
  readonly appliedAt?: number
}

/** An object that stays although it should go, or goes slowly: which, why, since when. */
export interface Obstacle {
  readonly ref: ObjectRef
  readonly reason: 'Terminating' | 'Protected' | 'Failed' | 'Unreadable' | 'Waiting' | 'GracePeriod'
  readonly message: string
  /** Milliseconds, where it is known. */
  readonly since?: number
}

/** An object that the inventory lets go without deleting it, and why; to be told once. */
export interface Release {
  readonly item: InventoryItem
  readonly reason: 'Orphaned' | 'Retained' | 'NotOurs' | 'Gone'
  readonly message: string
}

export type GraphPhase = 'Pending' | 'Executing' | 'Ready' | 'Failed'

export interface Summary {
  readonly phase: GraphPhase
  /** The first node, in the graph's order, that keeps it from Ready. */
  readonly blocking?: { readonly id: string; readonly object: string; readonly message: string }
}

export interface Step {
  /** To be written before any action where it is not the one that came in: what is not in it would be lost by a crash. */
  readonly inventory: Inventory
  readonly actions: readonly Action[]
  /** By node id, in the graph's order. */
  readonly nodes: ReadonlyMap<string, NodeState>
  readonly obstacles: readonly Obstacle[]
  readonly releases: readonly Release[]
  /** After which time the verdict may be another one without anything having changed. */
  readonly lookAgainInMs?: number
  readonly summary: Summary
}

/** Looks at what is there and says what to do now, which nodes wait and why. It waits for nothing and throws never. */
export function step(_input: StepInput): Step {
  throw new Error('step: not written yet')
}
