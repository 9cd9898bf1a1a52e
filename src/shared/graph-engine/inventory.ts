import { canonicalJson } from '../engine/json/canonical.ts'
import { isEqual } from '../engine/json/equal.ts'
import type { KubeObject } from '../engine/json/object.ts'
import {
  type DeletionPolicy,
  type Graph,
  type GraphNode,
  isWholeGraph,
  keyOf,
  type ObjectRef,
  refOf,
} from './node.ts'

/** SHA-256 of a text, hexadecimal. */
export type Digest = (text: string) => string

/**
 * - `Pending`: about to be applied for the first time. It may exist, if we ended before the answer.
 * - `Applied`, `Failed`: how the last apply went. A failed one may exist.
 * - `Pruned`: its deletion is about to be asked for, or was; it stays until it is gone.
 */
export type ItemState = 'Pending' | 'Applied' | 'Failed' | 'Pruned'

/** One object that the owner has, or may have, in the cluster. */
export interface InventoryItem extends ObjectRef {
  /** The node that it was applied for; `~2` follows where that has another object by now. */
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

/** The object of an item, and nothing else of it. */
export const refOfItem = ({ apiVersion, kind, namespace, name }: InventoryItem): ObjectRef => ({
  apiVersion,
  kind,
  ...(namespace && { namespace }),
  name,
})

/** The hash of a desired object, without its marks: the same for equal objects, in whatever order their fields come. */
export const hashOf = (object: KubeObject, digest: Digest) => digest(canonicalJson(object))

/** The inventory as the graph has its items by now: their nodes, or since when they have none. It is the same one where nothing is new. */
export function withGraph(inventory: Inventory, graph: Graph, now: number): Inventory {
  const nodes = new Map(graph.nodes.map((node) => [keyOf(refOf(node.object)), node]))
  const ids = idsAfter(inventory, nodes)
  const nodeIds = new Set(graph.nodes.map(({ id }) => id))
  const isWhole = isWholeGraph(graph)
  const kept = inventory.map((item) => {
    const node = nodes.get(keyOf(item))
    return node ? itemFor(node, nodeIds, item) : itemWithout(item, ids, isWhole ? now : undefined)
  })
  return sameOr(inventory, kept)
}

/**
 * The inventory of `withGraph` that holds these nodes of the graph, too: what is not written down before it is applied could be
 * lost by a crash. What is never sent is no part of it, since nobody might ever be able to tell that it is gone.
 */
export function withIntent(
  inventory: Inventory,
  graph: Graph,
  sent: readonly GraphNode[],
): Inventory {
  const nodeIds = new Set(graph.nodes.map(({ id }) => id))
  const known = new Set(inventory.map(keyOf))
  const added = sent.filter(({ object }) => !known.has(keyOf(refOf(object))))
  if (added.length === 0) return inventory
  return [...inventory, ...added.map((node) => itemFor(node, nodeIds))]
}

type Ids = ReadonlyMap<string, string>

/** What each id of before is called from now on: where a node was given another object, its former one makes way. */
function idsAfter(inventory: Inventory, nodes: ReadonlyMap<string, GraphNode>): Ids {
  const taken = new Set([...nodes.values()].map(({ id }) => id))
  const ids = new Map<string, string>()
  for (const item of inventory) {
    const id = nodes.get(keyOf(item))?.id ?? freeId(item.id, taken)
    taken.add(id)
    ids.set(item.id, id)
  }
  return ids
}

/** No node's id has a tilde. */
function freeId(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  const [base] = id.split('~')
  let number = 2
  while (taken.has(`${base}~${number}`)) number++
  return `${base}~${number}`
}

/** The item of an object that the graph does not have, as far as it is known; `now` where it knows that it left. */
function itemWithout(item: InventoryItem, ids: Ids, now: number | undefined): InventoryItem {
  const { id, dependsOn, removedAt = now, ...rest } = item
  const edges = dependsOn?.flatMap((dependency) => ids.get(dependency) ?? []) ?? []
  return {
    ...rest,
    id: ids.get(id) ?? id,
    ...(edges.length > 0 && { dependsOn: edges }),
    // A node that is missing in half a graph, or in an empty one, has not left it.
    ...(removedAt !== undefined && { removedAt }),
  }
}

function itemFor(
  { id, object, applyPolicy, dependsOn = [] }: GraphNode,
  nodeIds: ReadonlySet<string>,
  item?: InventoryItem,
) {
  const { uid, hash = '', state = 'Pending' } = item ?? {}
  // What half a graph lacks may be another object than the one that had its id.
  const edges = dependsOn.filter((dependency) => nodeIds.has(dependency))
  return {
    id,
    ...refOf(object),
    ...(uid !== undefined && { uid }),
    hash,
    // Its deletion may have been asked for before it came back: what there is of it may go.
    state: state === 'Pruned' ? 'Pending' : state,
    ...(edges.length > 0 && { dependsOn: edges }),
    ...(applyPolicy?.deletionPolicy && { deletionPolicy: applyPolicy.deletionPolicy }),
  } satisfies InventoryItem
}

/** The inventory that is written already where the next one is the same, so that nobody writes it again. */
export const sameOr = (written: Inventory, next: Inventory): Inventory =>
  isEqual(next, written) ? written : next

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
