import type { Digest, Inventory } from './inventory.ts'
import type { DeletionPolicy, Graph, ObjectRef } from './node.ts'
import type { Observed } from './step/observed.ts'

export interface Difference {
  readonly kind: 'created' | 'changed' | 'unchanged' | 'pruned' | 'left'
  readonly id: string
  readonly ref: ObjectRef
  /** JSON pointers of what desired states otherwise than live, where live is known. */
  readonly fields?: readonly string[]
}

export interface DiffInput {
  readonly graph: Graph
  readonly inventory: Inventory
  /** Absent at the door, where only hashes are known. */
  readonly objects?: Observed['objects']
  readonly deletionPolicy?: DeletionPolicy
  readonly digest: Digest
}

/** What an execution of the graph would do: nodes in their order, then what leaves, in the order in which it would go. */
export function diff(_input: DiffInput): readonly Difference[] {
  throw new Error('diff: not written yet')
}
