import { canonicalJson } from '../engine/json/canonical.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { type DeletionPolicy, keyOf, type ObjectRef } from './node.ts'

/** SHA-256 of a text, hexadecimal. */
export type Digest = (text: string) => string

/**
 * - `Pending`: about to be applied for the first time. It may exist, if we ended before the answer.
 * - `Applied`, `Failed`: how the last apply went. A failed one may exist.
 * - `Pruned`: its deletion was asked for; it stays until it is gone.
 * - `Adopted`, `Orphaned`: what adoption took on, and what it lets go.
 */
export type ItemState = 'Pending' | 'Applied' | 'Failed' | 'Pruned' | 'Adopted' | 'Orphaned'

/** One object that the owner has, or may have, in the cluster. */
export interface InventoryItem extends ObjectRef {
  /** The node that it was applied for. */
  readonly id: string
  /** Known once the first apply was answered. */
  readonly uid?: string
  /** Of the desired object that was applied last; empty before the first. */
  readonly hash: string
  readonly state: ItemState
  readonly dependsOn?: readonly string[]
  /** The node's own, for the time when there is no node. */
  readonly deletionPolicy?: DeletionPolicy
  /** Since when the graph has no node for it, milliseconds. */
  readonly removedAt?: number
}

export type Inventory = readonly InventoryItem[]

/** The hash of a desired object, without its marks: the same for equal objects, in whatever order their fields come. */
export const hashOf = (object: KubeObject, digest: Digest) => digest(canonicalJson(object))

/** The inventory after an apply was answered; `uid` is the answer's. */
export const recordApplied = (
  inventory: Inventory,
  { key, hash }: { readonly key: string; readonly hash: string },
  uid: string,
): Inventory => withItem(inventory, key, (item) => ({ ...item, hash, uid, state: 'Applied' }))

/** The inventory after an apply failed: the object may exist all the same. */
export const recordFailed = (inventory: Inventory, key: string): Inventory =>
  withItem(inventory, key, (item) => ({ ...item, state: 'Failed' }))

const withItem = (
  inventory: Inventory,
  key: string,
  changed: (item: InventoryItem) => InventoryItem,
): Inventory => inventory.map((item) => (keyOf(item) === key ? changed(item) : item))
