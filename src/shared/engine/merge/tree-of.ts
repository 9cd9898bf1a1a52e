import { ATOMIC, DEDUCED, type MergeTree } from './merge-tree.ts'

/** The parts of an OpenAPI v3 schema that say how the API server merges. */
export interface Schema {
  readonly type?: string
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly default?: unknown
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly [member: string]: unknown
}

/** Gives the schema that a `$ref` names, or undefined. */
export type Resolve = (ref: string) => Schema | undefined

interface Context {
  readonly resolve: Resolve
  /** Unknown fields are preserved here and in everything inlined below. */
  readonly preserves: boolean
  /** The references that led here. */
  readonly within: readonly string[]
}

const SCALARS: MergeTree = { type: 'map', fields: {}, rest: ATOMIC }

/** ObjectMeta: a CRD states less than the server knows, so what it states does not count. */
const METADATA: MergeTree = {
  type: 'map',
  fields: {
    name: ATOMIC,
    generateName: ATOMIC,
    namespace: ATOMIC,
    labels: SCALARS,
    annotations: SCALARS,
    finalizers: { type: 'set' },
    ownerReferences: { type: 'list', keys: ['uid'], defaults: {}, items: ATOMIC },
    uid: ATOMIC,
    resourceVersion: ATOMIC,
    generation: ATOMIC,
    creationTimestamp: ATOMIC,
    deletionTimestamp: ATOMIC,
    deletionGracePeriodSeconds: ATOMIC,
    selfLink: ATOMIC,
    managedFields: ATOMIC,
  },
}

const OBJECT_FIELDS = { apiVersion: ATOMIC, kind: ATOMIC, metadata: METADATA }

/** Types that the server merges as one value whatever their schema says. */
const ATOMIC_TYPES: ReadonlySet<string | undefined> = new Set([
  'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'io.k8s.apimachinery.pkg.runtime.RawExtension',
])

/** Reduces the schema of a kind to the tree by which the API server merges its objects. */
export const treeOf = (schema: Schema, resolve: Resolve): MergeTree => {
  const context = { resolve, preserves: false, within: [] }
  const kind = follow(schema, context) ?? {}
  return mapOf({ ...kind, 'x-kubernetes-embedded-resource': true }, scopeOf(kind, context))
}

const reduce = (schema: Schema, context: Context): MergeTree => {
  const ref = refOf(schema)
  return ref === undefined
    ? inlined(schema, scopeOf(schema, context))
    : referenced(ref, schema['x-kubernetes-map-type'], context)
}

const scopeOf = (schema: Schema, context: Context): Context =>
  schema['x-kubernetes-preserve-unknown-fields'] === true
    ? { ...context, preserves: true }
    : context

const refOf = ({ $ref, allOf }: Schema): string | undefined =>
  $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined)

const follow = (schema: Schema, { resolve }: Context): Schema | undefined => {
  const ref = refOf(schema)
  return ref === undefined ? schema : resolve(ref)
}

const referenced = (ref: string, mapType: string | undefined, context: Context): MergeTree => {
  if (mapType === 'atomic' || ATOMIC_TYPES.has(ref.split('/').at(-1))) return ATOMIC
  // The server follows a type into itself for ever; plain data cannot, and deduces from there on.
  if (context.within.includes(ref)) return DEDUCED
  const target = context.resolve(ref)
  if (!target) return ATOMIC
  // Where the schema is referenced may overrule what the type says of itself.
  const schema = mapType ? { ...target, 'x-kubernetes-map-type': mapType } : target
  return reduce(schema, { ...context, preserves: false, within: [...context.within, ref] })
}

const inlined = (schema: Schema, context: Context): MergeTree => {
  const { type } = schema
  if (type === 'array') return listOf(schema, context)
  // Without a type anything goes: int-or-string, preserved unknown fields, free JSON.
  return type === 'object' || type === undefined ? mapOf(schema, context) : ATOMIC
}

const mapOf = (schema: Schema, context: Context): MergeTree => {
  if (schema['x-kubernetes-map-type'] === 'atomic') return ATOMIC
  const properties = Object.entries(schema.properties ?? {})
  const isObject = schema['x-kubernetes-embedded-resource'] === true
  const fields = {
    ...Object.fromEntries(properties.map(([name, member]) => [name, reduce(member, context)])),
    ...(isObject ? OBJECT_FIELDS : {}),
  }
  const isFree = context.preserves || Object.keys(fields).length === 0
  const rest = restOf(schema.additionalProperties ?? isFree, context)
  if (rest === DEDUCED && Object.keys(fields).length === 0) return DEDUCED
  return { type: 'map', fields, ...(rest && { rest }) }
}

const restOf = (additional: boolean | Schema, context: Context): MergeTree | undefined => {
  if (typeof additional === 'boolean') return additional ? DEDUCED : undefined
  return reduce(additional, context)
}

const listOf = (schema: Schema, context: Context): MergeTree => {
  const { items = {} } = schema
  const keys = keysOf(schema)
  if (!keys) return ATOMIC
  if (keys.length === 0) return { type: 'set' }
  const properties = follow(items, context)?.properties ?? {}
  const defaults = keys.flatMap((key) => {
    const value = properties[key]?.default
    return value === undefined || value === null ? [] : [[key, value] as const]
  })
  return {
    type: 'list',
    keys,
    defaults: Object.fromEntries(defaults),
    items: reduce(items, context),
  }
}

/** The keys of an associative list, none for a set, undefined for an atomic list. */
const keysOf = (schema: Schema): readonly string[] | undefined => {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return []
  if (listType === 'map') return schema['x-kubernetes-list-map-keys']
  const strategy = schema['x-kubernetes-patch-strategy']
  const merges = strategy === 'merge' || strategy === 'merge,retainKeys'
  if (listType !== undefined || !merges) return undefined
  const key = schema['x-kubernetes-patch-merge-key']
  return key === undefined ? [] : [key]
}
