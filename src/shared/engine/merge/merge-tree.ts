import { canonicalJson } from '../json/canonical.ts'
import { isMap } from '../json/object.ts'

/**
 * How the API server merges one kind's fields, reduced from its OpenAPI schema: what
 * `x-kubernetes-list-type`, `-list-map-keys` and `-map-type` say, and nothing else.
 * See https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export type MergeTree =
  /** Replaced whole: scalars, atomic lists and maps, and whatever the schema is silent about. */
  | { readonly type: 'atomic' }
  /** Untyped content (preserved unknown fields): maps merge, everything else is atomic. */
  | { readonly type: 'deduced' }
  /** A granular map: named fields, and `rest` for any other key (`additionalProperties`). */
  | {
      readonly type: 'map'
      readonly fields: Readonly<Record<string, MergeTree>>
      readonly rest?: MergeTree
    }
  /** A list of unique scalars that merges by value. */
  | { readonly type: 'set' }
  /** An associative list: items merge by the values of `keys`, which may have defaults. */
  | {
      readonly type: 'list'
      readonly keys: readonly string[]
      readonly defaults: Readonly<Record<string, unknown>>
      readonly items: MergeTree
    }

/** One step into an object: a field, an associative list's item by its keys, or a set's member by its value. */
export type Step =
  | { readonly field: string }
  | { readonly key: Readonly<Record<string, unknown>> }
  | { readonly value: unknown }

export type FieldPath = readonly Step[]

export const ATOMIC: MergeTree = { type: 'atomic' }
export const DEDUCED: MergeTree = { type: 'deduced' }

/** The tree of a map's member; undefined where the schema knows no such member. */
export const memberTree = (tree: MergeTree, name: string): MergeTree | undefined => {
  if (tree.type === 'deduced') return tree
  if (tree.type !== 'map') return undefined
  return Object.hasOwn(tree.fields, name) ? tree.fields[name] : tree.rest
}

const isScalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/** The step to a member of a set or an item of an associative list; undefined where it has no identity. */
export const stepTo = (tree: MergeTree, item: unknown): Step | undefined => {
  if (tree.type === 'set') return isScalar(item) ? { value: item } : undefined
  if (tree.type !== 'list' || !isMap(item)) return undefined
  const key = tree.keys.flatMap((name) => {
    const source = Object.hasOwn(item, name) ? item : tree.defaults
    return Object.hasOwn(source, name) ? [[name, source[name]] as const] : []
  })
  const isIdentity = key.length > 0 && key.every(([, value]) => value === null || isScalar(value))
  return isIdentity ? { key: Object.fromEntries(key) } : undefined
}

/** The step as `fieldsV1` spells it: equal steps give equal text, so that it serves as an index too. */
export const elementOf = (step: Step): string => {
  if ('field' in step) return `f:${step.field}`
  return 'key' in step ? `k:${asGoWrites(step.key)}` : `v:${asGoWrites(step.value)}`
}

const asGoWrites = (value: unknown) => canonicalJson(value).replace(ESCAPED_BY_GO, escaped)

const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Groups paths by the name of their first step, each shortened by it; a path without steps is in no group. */
export const byFirst = <T>(
  paths: readonly (readonly T[])[],
  keyOf: (step: T) => string,
): ReadonlyMap<string, readonly (readonly T[])[]> => {
  const steps = paths.flatMap(([first, ...rest]) => (first === undefined ? [] : [{ first, rest }]))
  const groups = Map.groupBy(steps, ({ first }) => keyOf(first))
  return new Map([...groups].map(([name, group]) => [name, group.map(({ rest }) => rest)]))
}

/** What a list holds under one identity: one value, or several where the list repeats it. */
export interface ListItem {
  readonly step: Step
  readonly position: number
  readonly values: unknown[]
  /** Where else the list holds the same identity. */
  readonly repeats: number[]
}

export interface ListItems {
  readonly byElement: ReadonlyMap<string, ListItem>
  /** Each item has an identity, and no two the same: the API server takes no other list to apply. */
  readonly isExact: boolean
}

/** The items of an associative list or a set by identity; what has none, or is no list, is left out. */
export const itemsOf = (tree: MergeTree, list: unknown): ListItems => {
  const byElement = new Map<string, ListItem>()
  const values: readonly unknown[] = Array.isArray(list) ? list : []
  values.forEach((value, position) => {
    const step = stepTo(tree, value)
    if (!step) return
    const element = elementOf(step)
    const item = byElement.get(element)
    item?.values.push(value)
    item?.repeats.push(position)
    if (!item) byElement.set(element, { step, position, values: [value], repeats: [] })
  })
  return { byElement, isExact: byElement.size === values.length }
}

/** The value under an identity; all of them where the list repeats it; undefined where there is none. */
export const soleValue = (item: ListItem | undefined): unknown =>
  item && item.repeats.length > 0 ? item.values : item?.values[0]

/** Reads the items of lists, and of each list once: hundreds of paths may lead into one long list. */
export const createItems = (): typeof itemsOf => {
  const known = new Map<unknown, ListItems>()
  return (tree, list) => {
    const items = known.get(list) ?? itemsOf(tree, list)
    known.set(list, items)
    return items
  }
}
