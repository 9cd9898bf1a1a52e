import { isMap } from '../../../src/shared/engine/json/object.ts'
import type { Resolve, Schema } from '../../../src/shared/engine/merge/tree-of.ts'
import { referred, refOf } from './drawing/place.ts'
import { isIntOrString } from './drawing/values.ts'

/** Every way in which the API server merges a field, or fills it in. */
export const SORTS = [
  'granular map',
  'atomic map',
  'list by one key',
  'list by several keys',
  'set',
  'atomic list',
  'int-or-string',
  'preserved unknown fields',
  'embedded resource',
  'default',
] as const

export type Sort = (typeof SORTS)[number]

/** The sorts of the fields that a value holds. */
export const sortsIn = (schema: Schema, resolve: Resolve, value: unknown): readonly Sort[] => {
  if (refOf(schema) !== undefined) return sortsIn(referred(schema, resolve), resolve, value)
  return [...sortsOf(schema, value), ...sortsWithin(schema, resolve, value)]
}

const sortsWithin = (schema: Schema, resolve: Resolve, value: unknown): readonly Sort[] => {
  if (Array.isArray(value)) {
    const { items = {} } = schema
    return value.flatMap((item) => sortsIn(items, resolve, item))
  }
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const field = schema.properties?.[name] ?? schema.additionalProperties
    return typeof field === 'object' ? sortsIn(field, resolve, member) : []
  })
}

const sortsOf = (schema: Schema, value: unknown): readonly Sort[] => [
  ...(isMap(value) ? sortsOfMap(schema) : []),
  ...(Array.isArray(value) ? [sortOfList(schema)] : []),
  ...(isIntOrString(schema) ? (['int-or-string'] as const) : []),
  ...('default' in schema ? (['default'] as const) : []),
]

const sortsOfMap = (schema: Schema): readonly Sort[] => [
  schema['x-kubernetes-map-type'] === 'atomic' ? 'atomic map' : 'granular map',
  ...(schema['x-kubernetes-preserve-unknown-fields']
    ? (['preserved unknown fields'] as const)
    : []),
  ...(schema['x-kubernetes-embedded-resource'] ? (['embedded resource'] as const) : []),
]

const sortOfList = (schema: Schema): Sort => {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return 'set'
  if (listType !== 'map') return 'atomic list'
  return schema['x-kubernetes-list-map-keys']?.length === 1
    ? 'list by one key'
    : 'list by several keys'
}
