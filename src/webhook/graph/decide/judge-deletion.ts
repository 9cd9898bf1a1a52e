import { CLEANERS } from '../../../shared/engine/identity.ts'
import type { ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import { inventoryIn } from '../../../shared/graph/stored-inventory.ts'
import { isOrphaning, type Transform } from '../../../shared/graph/transform.ts'
import type { Inventory } from '../../../shared/graph-engine/inventory.ts'
import { deletionOrder } from '../../../shared/graph-engine/prune/deletion-order.ts'
import { retentionOf } from '../../../shared/graph-engine/prune/retention.ts'
import { allow, type Verdict } from './verdict.ts'

export interface Deletion {
  readonly username: string
  /** `kubectl delete --cascade=orphan`. */
  readonly isCascadeOrphan: boolean
}

/** Tells what goes with a Transform: its deletion is never refused. */
export function judgeDeletion(
  old: Transform,
  graph: ResourceGraph | undefined,
  { username, isCascadeOrphan }: Deletion,
): Verdict {
  if (old.metadata.deletionTimestamp) return allow('Ending')
  // Nobody reads what is told to them.
  if (CLEANERS.includes(username)) return allow('CleaningUp')
  const inventory = graph ? inventoryIn(graph) : []
  if (inventory.length === 0) return allow('Empty')
  return isCascadeOrphan || isOrphaning(old)
    ? { kind: 'allowed', reason: 'Orphaned', left: inventory }
    : { kind: 'allowed', reason: 'Deleted', ...partedOf(inventory) }
}

/** What goes, dependents first, and what stays all the same. */
function partedOf(inventory: Inventory) {
  const parts = deletionOrder(inventory)
    .flat()
    .map((ref) => ({ ref, message: retentionOf(ref)?.message }))
  return {
    going: parts.flatMap(({ ref, message }) => (message === undefined ? [ref] : [])),
    staying: parts.flatMap(({ ref, message }) => (message === undefined ? [] : [{ ref, message }])),
  }
}
