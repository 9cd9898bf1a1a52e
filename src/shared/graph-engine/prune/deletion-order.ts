import type { InventoryItem } from '../inventory.ts'
import { orderOf } from '../order.ts'

/**
 * Groups the items so that each comes after all that depend on it. Items may share an id, when a node was given another object;
 * an edge to the id means all of them. Edges in a circle, which only an edited status can hold, would keep all of it for
 * ever: items in one are a group.
 */
export function deletionOrder(
  items: readonly InventoryItem[],
): readonly (readonly InventoryItem[])[] {
  const byId = Map.groupBy(items, ({ id }) => id)
  const { waves, rest } = orderOf(
    [...byId].map(([id, group]) => ({
      id,
      dependsOn: group.flatMap(({ dependsOn = [] }) => dependsOn),
    })),
  )
  const itemsOf = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? [])
  const groups = [...waves.map(itemsOf), itemsOf(rest)].reverse()
  return groups.filter((group) => group.length > 0)
}
