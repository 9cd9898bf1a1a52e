import { timestamp } from '../cluster/resource.ts'
import type { Inventory } from '../graph-engine/inventory.ts'
import type { ResourceGraph, ResourceGraphStatus } from './resource-graph.ts'

/** Times are compared, and stored, as the API has them. */
export const inventoryOf = (inventory: Inventory): NonNullable<ResourceGraphStatus['inventory']> =>
  inventory.map(({ removedAt, ...item }) => ({
    ...item,
    ...(removedAt !== undefined && { removedAt: timestamp(removedAt) }),
  }))

/** The inventory as it was stored. */
export const inventoryIn = ({ status }: ResourceGraph): Inventory =>
  (status?.inventory ?? []).map(({ removedAt, ...item }) => ({
    ...item,
    ...(removedAt !== undefined && { removedAt: Date.parse(removedAt) }),
  }))
