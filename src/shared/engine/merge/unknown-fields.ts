import { isMap } from '../json/object.ts'
import { formatPointer } from '../json/pointer.ts'
import { ATOMIC, type MergeTree, memberTree } from './merge-tree.ts'

/** Deeper and more than anybody reads. */
const MOST = 20

/**
 * Pointers to the fields of an object's content that its schema does not know: the API server refuses
 * them in an apply and drops them elsewhere. Metadata is not content, and into what is atomic nobody looks.
 */
export function unknownFields(tree: MergeTree, object: object): readonly string[] {
  const found: string[] = []
  const { metadata: _metadata, ...content } = object as Record<string, unknown>
  collect(tree, content, [], found)
  return found
}

function collect(tree: MergeTree, value: unknown, path: readonly string[], found: string[]): void {
  for (const [name, member] of membersOf(tree, value)) {
    const known = tree.type === 'list' ? tree.items : memberTree(tree, name)
    if (!known && found.length < MOST) found.push(formatPointer([...path, name]))
    collect(known ?? ATOMIC, member, [...path, name], found)
  }
}

/** What in a value the schema has a word on: the items of a keyed list, the fields of a granular map. */
function membersOf(tree: MergeTree, value: unknown): readonly (readonly [string, unknown])[] {
  const isRead = tree.type === 'list' ? Array.isArray(value) : tree.type === 'map' && isMap(value)
  return isRead ? Object.entries(value as object) : []
}
