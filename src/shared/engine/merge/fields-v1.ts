import { parseJson } from '../json/json.ts'
import { isMap, type JsonMap } from '../json/object.ts'
import { MAX_DEPTH } from '../json/pointer.ts'
import { byFirst, elementOf, type FieldPath, type Step } from './merge-tree.ts'

/** A set of fields as `metadata.managedFields` spells it. */
export interface FieldsV1 {
  readonly [element: string]: FieldsV1
}

/** The member of a field set that stands for the place itself rather than for what is in it. */
export const SELF = '.'

/** The paths in a field set, under a key that is the same for equal paths however they are spelled. */
export const pathsOf = (fields: JsonMap): ReadonlyMap<string, FieldPath> =>
  new Map(fieldPaths(fields, []).map((path) => [pathKey(path), path]))

/** The key of a path, the same for equal paths. */
export const pathKey = (path: FieldPath) => JSON.stringify(path.map(elementOf))

const fieldPaths = (fields: JsonMap, path: FieldPath): readonly FieldPath[] => {
  // No object of ours nests deeper, and a set that does was made to be slow to read.
  const elements = path.length === MAX_DEPTH ? [] : Object.entries(fields)
  const beneath = elements.flatMap(([element, content]) => {
    const step = stepOf(element)
    return step ? fieldPaths(isMap(content) ? content : {}, [...path, step]) : []
  })
  return path.length > 0 && isField(fields) ? [path, ...beneath] : beneath
}

const isField = (fields: JsonMap) => isEmpty(fields) || Object.hasOwn(fields, SELF)

const isEmpty = (fields: JsonMap) => Object.keys(fields).length === 0

/** The set without these paths, all beneath them and maps that are left bare; itself where it has none of them. */
export const withoutPaths = (fields: JsonMap, paths: readonly FieldPath[]): JsonMap => {
  const beneath = byFirst(paths, elementOf)
  const elements = Object.entries(fields).flatMap(([element, content]) => {
    const step = stepOf(element)
    const released = step && beneath.get(elementOf(step))
    const rest = released ? contentWithout(step, content, released) : content
    return rest === undefined ? [] : [[element, rest] as const]
  })
  const isUntouched =
    elements.length === Object.keys(fields).length &&
    elements.every(([element, content]) => content === fields[element])
  return isUntouched ? fields : Object.fromEntries(elements)
}

const contentWithout = (step: Step, content: unknown, released: readonly FieldPath[]): unknown => {
  if (released.some((path) => path.length === 0)) return undefined
  if (!isMap(content)) return content
  const rest = withoutPaths(content, released)
  if (rest === content) return content
  // A list item is owned for its own sake; a map is gone from desired with the last of its members.
  const isBare =
    'field' in step ? Object.keys(rest).every((element) => element === SELF) : isEmpty(rest)
  return isBare ? undefined : rest
}

const stepOf = (element: string): Step | undefined => {
  const text = element.slice(2)
  if (element.startsWith('f:')) return { field: text }
  if (!(element.startsWith('k:') || element.startsWith('v:'))) return undefined
  const parsed = parseJson(text)
  if (!parsed.ok) return undefined
  if (element.startsWith('v:')) return { value: parsed.value }
  return isMap(parsed.value) ? { key: parsed.value } : undefined
}
