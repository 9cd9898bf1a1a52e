import type { Inventory, InventoryItem } from '../inventory.ts'
import { keyOf } from '../node.ts'
import type { Observed } from '../step/observed.ts'

type Objects = Observed['objects']

/**
 * Finds the other item by which an object stays, or is to go. One object can have several: its kind was not known to be in no
 * namespace, or its API moved to another group. Deleted by one of them, it would be gone for all.
 */
export function otherItems(going: Inventory, staying: Inventory, objects: Objects) {
  const leaving = going
    .filter((item) => objects.get(keyOf(item))?.state === 'present')
    .toSorted(
      (one, other) => Number(leftAt(one) > leftAt(other)) - Number(leftAt(one) < leftAt(other)),
    )
  // Others depend on it by the item that left the graph last, and it stays where any of them does.
  const byUid = new Map([...leaving, ...staying].map((item) => [uidOf(item, objects), item]))
  return (item: InventoryItem): InventoryItem | undefined => {
    const uid = uidOf(item, objects)
    const found = uid === undefined ? undefined : byUid.get(uid)
    return found && keyOf(found) !== keyOf(item) ? found : undefined
  }
}

const leftAt = ({ removedAt = Number.POSITIVE_INFINITY }: InventoryItem) => removedAt

/** Of the live object; where that cannot be read, of the one that was applied. */
function uidOf(item: InventoryItem, objects: Objects): string | undefined {
  const observation = objects.get(keyOf(item))
  if (observation?.state === 'absent') return undefined
  return observation?.state === 'present' ? observation.object.metadata.uid : item.uid
}
