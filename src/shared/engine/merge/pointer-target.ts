import { isMap, memberOf } from '../json/object.ts'
import { formatPointer, isListIndex } from '../json/pointer.ts'
import {
  createItems,
  type FieldPath,
  type itemsOf,
  type MergeTree,
  memberTree,
  stepTo,
} from './merge-tree.ts'

/** What a pointer into an object leads to by the API server's merge rules. */
export type Target =
  | { readonly kind: 'field'; readonly path: FieldPath }
  /** The schema knows such a field; the object does not hold it. No path goes through an item that is not there. */
  | { readonly kind: 'absent'; readonly path: FieldPath | undefined }
  | Miss

type Miss =
  /** What only `parent` can be owned with. */
  | { readonly kind: 'part'; readonly parent: readonly string[]; readonly why: string }
  /** No field at all; each `why` continues a sentence that starts with the pointer. */
  | { readonly kind: 'none'; readonly why: string }

interface Cursor {
  readonly tree: MergeTree
  readonly value: unknown
  readonly path: FieldPath | undefined
}

const IN_ONE_VALUE = 'lies inside a value that the API server replaces whole'
const IS_KEY = 'is a key by which the API server knows a list item'

/** Gives a function that follows a pointer's tokens into an object, list indices to the keys of the items they select. */
export const targetsIn = (tree: MergeTree, object: unknown): ((tokens: Tokens) => Target) => {
  const items = createItems()
  return (tokens) => targetOf({ tree, value: object, path: [] }, tokens, items)
}

type Tokens = readonly string[]

const targetOf = (root: Cursor, tokens: Tokens, items: typeof itemsOf): Target => {
  let place = root
  for (const [depth, token] of tokens.entries()) {
    const parent = tokens.slice(0, depth)
    // An item without its key would be another item, or none.
    if (isKeyField(place.tree, tokens[depth + 1]))
      return { kind: 'part', parent: [...parent, token], why: IS_KEY }
    const next =
      place.tree.type === 'list'
        ? itemAt(place.tree, place, token, parent, items)
        : memberAt(place, token, parent)
    if ('kind' in next) return next
    place = next
  }
  const { value, path } = place
  return value === undefined || !path ? { kind: 'absent', path } : { kind: 'field', path }
}

const isKeyField = (tree: MergeTree, token: string | undefined) =>
  tree.type === 'list' && token !== undefined && tree.keys.includes(token)

const memberAt = ({ tree, value, path }: Cursor, token: string, parent: Tokens): Cursor | Miss => {
  const isMergedMap = tree.type === 'map' || tree.type === 'deduced'
  const isOneValue = value !== undefined && value !== null && !isMap(value)
  if (!isMergedMap || isOneValue) return { kind: 'part', parent, why: IN_ONE_VALUE }
  const member = memberTree(tree, token)
  if (!member)
    return { kind: 'none', why: 'is unknown to the schema of this kind: correct or remove it' }
  return {
    tree: member,
    value: memberOf(value, token),
    path: path && [...path, { field: token }],
  }
}

const itemAt = (
  tree: MergeTree & { readonly type: 'list' },
  { value, path }: Cursor,
  token: string,
  parent: Tokens,
  items: typeof itemsOf,
): Cursor | Miss => {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (!items(tree, list).isExact) return { kind: 'part', parent, why: IN_ONE_VALUE }
  if (!isListIndex(token)) {
    const why = `must name an item of ${formatPointer(parent)} by its index in the baseline, a number from 0`
    return { kind: 'none', why }
  }
  const item = list[Number(token)]
  const step = stepTo(tree, item)
  return { tree: tree.items, value: item, path: path && step ? [...path, step] : undefined }
}
