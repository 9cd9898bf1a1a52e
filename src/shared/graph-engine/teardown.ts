import type { Inventory } from './inventory.ts'
import type { DeletionPolicy } from './node.ts'
import type { MarkNames, Owner } from './ownership.ts'
import type { DeleteAction, Observed, Obstacle, Release } from './step.ts'

export interface TeardownInput {
  readonly inventory: Inventory
  readonly observed: Observed
  readonly owner: Owner
  readonly names: MarkNames
  readonly deletionPolicy?: DeletionPolicy
  readonly now: number
}

export interface Teardown {
  /** To be written before any action where it is not the one that came in. */
  readonly inventory: Inventory
  readonly actions: readonly DeleteAction[]
  readonly obstacles: readonly Obstacle[]
  readonly releases: readonly Release[]
  readonly lookAgainInMs?: number
  /** Everything is gone or was left on purpose: the finalizer may go. */
  readonly isDone: boolean
}

/** One pass of deleting everything that the owner has, dependents first, by the inventory alone. */
export function teardown(_input: TeardownInput): Teardown {
  throw new Error('teardown: not written yet')
}
