import { elementOf, type MergeTree, type Step, stepTo } from './merge-tree.ts'

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
