import { isMap } from '../json/object.ts'
import { formatPointer } from '../json/pointer.ts'
import { ATOMIC, type MergeTree, memberTree } from './merge-tree.ts'

/** More than anybody reads. */
const MOST = 20

/**
 * Pointers to the nulls in an object's content that the API server does not keep: it drops the null of a
 * field, or puts the field's default in its place. Metadata is not content, and untyped content keeps its nulls.
 */
export function nullFields(tree: MergeTree, object: object): readonly string[] {
  const found: string[] = []
  const { metadata: _metadata, ...content } = object as Record<string, unknown>
  collectNulls(tree, content, [], found)
  return found
}

function collectNulls(
  tree: MergeTree | undefined,
  value: unknown,
  path: readonly string[],
  found: string[],
): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    if (found.length === MOST) return
    if (member === null && !keepsNull(tree, name)) found.push(formatPointer([...path, name]))
    else collectNulls(treeIn(tree, value, name), member, [...path, name], found)
  }
}

/** A field that the schema names is typed even where its content is not. */
const keepsNull = (tree: MergeTree | undefined, name: string) =>
  tree?.type === 'deduced' ||
  (tree?.type === 'map' && !Object.hasOwn(tree.fields, name) && tree.rest?.type === 'deduced')

/** The tree of what is inside a value; of the inside of an atomic one the tree says nothing, which is no licence. */
function treeIn(tree: MergeTree | undefined, value: object, name: string): MergeTree | undefined {
  if (tree?.type === 'deduced') return tree
  if (tree?.type === 'list') return tree.items
  return tree && isMap(value) ? memberTree(tree, name) : undefined
}

/**
 * Pointers to the fields of an object's content that its schema does not know: the API server refuses
 * them in an apply and drops them elsewhere. Metadata is not content, and into what is atomic nobody looks.
 */
export function unknownFields(tree: MergeTree, object: object): readonly string[] {
  const found: string[] = []
  const { metadata: _metadata, ...content } = object as Record<string, unknown>
  collectUnknown(tree, content, [], found)
  return found
}

function collectUnknown(
  tree: MergeTree,
  value: unknown,
  path: readonly string[],
  found: string[],
): void {
  for (const [name, member] of membersOf(tree, value)) {
    const known = tree.type === 'list' ? tree.items : memberTree(tree, name)
    if (!known && found.length < MOST) found.push(formatPointer([...path, name]))
    collectUnknown(known ?? ATOMIC, member, [...path, name], found)
  }
}

/** What in a value the schema has a word on: the items of a keyed list, the fields of a granular map. */
function membersOf(tree: MergeTree, value: unknown): readonly (readonly [string, unknown])[] {
  const isRead = tree.type === 'list' ? Array.isArray(value) : tree.type === 'map' && isMap(value)
  return isRead ? Object.entries(value as object) : []
}
