import { itemsOf } from './list-items.ts'
import { type FieldPath, type MergeTree, memberTree, stepTo } from './merge-tree.ts'
import { isMap } from './object.ts'
import { formatPointer } from './pointer.ts'

/** What a pointer into an object leads to by the API server's merge rules. */
export type Target =
  | { readonly kind: 'field'; readonly path: FieldPath }
  /** The schema knows such a field; the object does not hold it. */
  | { readonly kind: 'absent' }
  | Miss

type Miss =
  /** What only `parent` can be owned with. */
  | { readonly kind: 'part'; readonly parent: readonly string[]; readonly why: string }
  /** No field at all; each `why` continues a sentence that starts with the pointer. */
  | { readonly kind: 'none'; readonly why: string }

interface Place {
  readonly tree: MergeTree
  readonly value: unknown
  readonly path: FieldPath
}

const IN_ONE_VALUE = 'lies inside a value that the API server replaces whole'
const IS_KEY = 'is a key by which the API server knows a list item'
const LIST_INDEX = /^(?:0|[1-9][0-9]*)$/

/** Follows a pointer's tokens into an object, list indices to the keys of the items they select. */
export const targetOf = (tree: MergeTree, object: unknown, tokens: readonly string[]): Target => {
  let place: Place = { tree, value: object, path: [] }
  for (const [depth, token] of tokens.entries()) {
    const parent = tokens.slice(0, depth)
    // An item without its key would be another item, or none.
    if (isKeyField(place.tree, tokens[depth + 1]))
      return { kind: 'part', parent: [...parent, token], why: IS_KEY }
    const next =
      place.tree.type === 'list'
        ? itemAt(place.tree, place, token, parent)
        : memberAt(place, token, parent)
    if ('kind' in next) return next
    place = next
  }
  return place.value === undefined ? { kind: 'absent' } : { kind: 'field', path: place.path }
}

const isKeyField = (tree: MergeTree, token: string | undefined) =>
  tree.type === 'list' && token !== undefined && tree.keys.includes(token)

const memberAt = (
  { tree, value, path }: Place,
  token: string,
  parent: readonly string[],
): Place | Miss => {
  const isMergedMap = tree.type === 'map' || tree.type === 'deduced'
  const isOneValue = value !== undefined && value !== null && !isMap(value)
  if (!isMergedMap || isOneValue) return { kind: 'part', parent, why: IN_ONE_VALUE }
  const member = memberTree(tree, token)
  if (!member)
    return { kind: 'none', why: 'is unknown to the schema of this kind: correct or remove it' }
  const content = isMap(value) && Object.hasOwn(value, token) ? value[token] : undefined
  return { tree: member, value: content, path: [...path, { field: token }] }
}

const itemAt = (
  tree: MergeTree & { readonly type: 'list' },
  { value, path }: Place,
  token: string,
  parent: readonly string[],
): Place | Miss => {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (!itemsOf(tree, list).isExact) return { kind: 'part', parent, why: IN_ONE_VALUE }
  if (!LIST_INDEX.test(token)) {
    const why = `must name an item of ${formatPointer(parent)} by its index in the baseline, a number from 0`
    return { kind: 'none', why }
  }
  const item = list[Number(token)]
  const step = stepTo(tree, item)
  return { tree: tree.items, value: item, path: step ? [...path, step] : path }
}
