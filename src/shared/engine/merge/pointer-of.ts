import { memberOf } from '../json/object.ts'
import { formatPointer } from '../json/pointer.ts'
import {
  ATOMIC,
  createItems,
  elementOf,
  type FieldPath,
  type itemsOf,
  type MergeTree,
  memberTree,
  type Step,
} from './merge-tree.ts'

/** Where a path has led to: the last token of the pointer, and what is there. */
interface Cursor {
  readonly token: string
  readonly tree: MergeTree
  readonly value: unknown
  /** The place is a list item that the object does not hold. */
  readonly isMissingItem: boolean
}

/** Gives a function from a path to its pointer in one object: `-` for a list item that it lacks, and none for a field beneath such a one. */
export function pointersOf(
  tree: MergeTree,
  object: unknown,
): (path: FieldPath) => string | undefined {
  const items = createItems()
  return (path) => {
    const tokens: string[] = []
    let place: Cursor = { token: '', tree, value: object, isMissingItem: false }
    for (const step of path) {
      if (place.isMissingItem) return undefined
      place = 'field' in step ? memberAt(place, step.field) : itemAt(place, step, items)
      tokens.push(place.token)
    }
    return formatPointer(tokens)
  }
}

const memberAt = ({ tree, value }: Cursor, field: string): Cursor => ({
  token: field,
  tree: memberTree(tree, field) ?? ATOMIC,
  value: memberOf(value, field),
  isMissingItem: false,
})

function itemAt({ tree, value }: Cursor, step: Step, items: typeof itemsOf): Cursor {
  const item = items(tree, value).byElement.get(elementOf(step))
  return {
    token: item ? String(item.position) : '-',
    tree: tree.type === 'list' ? tree.items : ATOMIC,
    value: item?.values[0],
    isMissingItem: item === undefined,
  }
}
