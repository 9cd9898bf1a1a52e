import type { Inventory } from '../inventory.ts'
import { orderOf } from '../order.ts'

/** Groups the items so that each comes after all that depend on it. */
export function deletionOrder(items: Inventory): readonly Inventory[] {
  const byId = Map.groupBy(items, ({ id }) => id)
  const { waves, rest } = orderOf(
    [...byId].map(([id, sharing]) => ({
      id,
      dependsOn: sharing.flatMap(({ dependsOn = [] }) => dependsOn),
    })),
  )
  // Items that share an id or are in a circle, as only a status that somebody edited can hold, go together instead of never.
  return [...waves, rest]
    .map((ids) => ids.flatMap((id) => byId.get(id) ?? []))
    .filter((group) => group.length > 0)
    .reverse()
}
