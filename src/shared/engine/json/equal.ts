import { isMap } from './object.ts'

type Pair = readonly [left: unknown, right: unknown]

/** Whether two JSON values are the same, the order of map members aside; however deep they are nested. */
export const isEqual = (left: unknown, right: unknown): boolean => {
  // Most of what is compared is one value, or no container: that needs no stack.
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object') return false
  // A stack of our own: a hostile object nests deeper than the engine's.
  const pending: Pair[] = [[left, right]]
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const parts = partsOf(pair)
    if (!parts) return false
    for (const part of parts) pending.push(part)
  }
  return true
}

/** What has to be equal for the pair to be equal; undefined where it cannot be. */
const partsOf = ([left, right]: Pair): readonly Pair[] | undefined => {
  if (left === right) return []
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length
      ? left.map((item, index): Pair => [item, right[index]])
      : undefined
  }
  if (!isMap(left) || !isMap(right)) return undefined
  const names = Object.keys(left)
  const hasSameNames =
    names.length === Object.keys(right).length && names.every((name) => Object.hasOwn(right, name))
  return hasSameNames ? names.map((name): Pair => [left[name], right[name]]) : undefined
}
