import type { Inventory } from '../graph-engine/inventory.ts'
import { timeOf } from '../graph-engine/time.ts'
import type { ResourceGraph } from './resource-graph.ts'

/** The inventory of a ResourceGraph as it was stored. */
export const inventoryIn = ({ status }: ResourceGraph): Inventory =>
  (status?.inventory ?? []).map(({ removedAt, ...item }) => ({
    ...item,
    ...(removedAt !== undefined && { removedAt: timeOf(removedAt) ?? 0 }),
  }))
