import { itemsOf } from './list-items.ts'
import { ATOMIC, elementOf, type FieldPath, type MergeTree, memberTree } from './merge-tree.ts'
import { isMap } from './object.ts'
import { formatPointer } from './pointer.ts'

/**
 * The JSON pointer to a path in one particular object: a list item that the object does not hold is
 * appended (`-`), and a field beneath such an item has no pointer, so that there is none at all.
 */
export function pointerOf(tree: MergeTree, object: unknown, path: FieldPath): string | undefined {
  const tokens: string[] = []
  let at = { tree, value: object }
  for (const [depth, step] of path.entries()) {
    if ('field' in step) {
      const value =
        isMap(at.value) && Object.hasOwn(at.value, step.field) ? at.value[step.field] : undefined
      at = { tree: memberTree(at.tree, step.field) ?? ATOMIC, value }
      tokens.push(step.field)
      continue
    }
    const item = itemsOf(at.tree, at.value).byElement.get(elementOf(step))
    if (!item && depth < path.length - 1) return undefined
    tokens.push(item ? String(item.position) : '-')
    at = { tree: at.tree.type === 'list' ? at.tree.items : ATOMIC, value: item?.values[0] }
  }
  return formatPointer(tokens)
}
