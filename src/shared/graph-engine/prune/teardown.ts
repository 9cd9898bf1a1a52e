import { type Inventory, sameOr } from '../inventory.ts'
import type { DeleteAction } from '../step/action.ts'
import { type Obstacle, type PruneInput, prune, type Release } from './prune.ts'

export type TeardownInput = Omit<PruneInput, 'going' | 'graceSeconds'> & {
  readonly inventory: Inventory
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
export function teardown({ inventory, ...input }: TeardownInput): Teardown {
  const { remaining, actions, obstacles, releases, lookAgainAt } = prune({
    ...input,
    going: inventory,
  })
  const next = inventory.flatMap((item) => remaining.get(item) ?? [item])
  return {
    inventory: sameOr(inventory, next),
    actions,
    obstacles,
    releases,
    ...(lookAgainAt !== undefined && { lookAgainInMs: Math.max(0, lookAgainAt - input.now) }),
    isDone: next.length === 0,
  }
}
