import { groupOf, isMap, type JsonMap } from '../engine/json/object.ts'
import { parsePointer, valueAt } from '../engine/json/pointer.ts'
import type { MergeTree } from '../engine/merge/merge-tree.ts'
import { treeOf } from '../engine/merge/tree-of.ts'
import type { Client } from './client.ts'
import { defaultsOf, type SchemaDefaults } from './schema-defaults.ts'

/** What to read of one kind's schema: its merge tree always, and what it says of some fields. */
export interface KindQuery {
  readonly apiVersion: string
  readonly kind: string
  /** JSON pointers to fields whose enum, or whose items' enum, is wanted. */
  readonly enumPointers: readonly string[]
  /** JSON pointers to fields of which it is wanted whether there are any. */
  readonly fieldPointers: readonly string[]
  /** Whether it is wanted what values there may be, and which are put in the place of those that are left out. */
  readonly wantsValues?: true
}

export interface KindSchema {
  readonly tree: MergeTree
  /** By the pointer asked for; empty where the schema has no enum there. */
  readonly enums: Readonly<Record<string, readonly string[]>>
  /** By the pointer asked for; false too where the schema leaves open what may be there. */
  readonly fields: Readonly<Record<string, boolean>>
  /** What is put in the place of fields that are left out, where that was wanted. */
  readonly defaults?: SchemaDefaults
  /** The schema as it is served, without its prose and what it refers to, where that was wanted. */
  readonly values?: unknown
}

/** Reads schemas from the served OpenAPI v3, by `apiVersion/Kind`, those that are published. What has not changed is not fetched again. */
export type LoadSchemas = (
  queries: readonly KindQuery[],
) => Promise<ReadonlyMap<string, KindSchema>>

export const schemaKey = ({ apiVersion, kind }: Pick<KindQuery, 'apiVersion' | 'kind'>) =>
  `${apiVersion}/${kind}`

export function createSchemas(client: Client): LoadSchemas {
  const known = new Map<string, { url: string; schema: KindSchema }>()
  const refresh = async (url: string | undefined, queries: readonly KindQuery[]) => {
    for (const query of queries) known.delete(schemaKey(query))
    if (url === undefined) return
    const document = (await client.send(url)).body
    for (const query of queries) {
      const schema = readKind(document, query)
      if (schema) known.set(schemaKey(query), { url, schema })
    }
  }
  return async (queries) => {
    const urlOf = await readIndex(client)
    const stale = queries.filter((query) => known.get(schemaKey(query))?.url !== urlOf(query))
    for (const [url, wanted] of Map.groupBy(stale, urlOf)) await refresh(url, wanted)
    const found = queries.map(
      (query) => [schemaKey(query), known.get(schemaKey(query))?.schema] as const,
    )
    return new Map(found.flatMap(([key, schema]) => (schema ? [[key, schema] as const] : [])))
  }
}

/** Where the document of each group and version is now; its URL changes with its content. */
async function readIndex(client: Client): Promise<(query: KindQuery) => string | undefined> {
  const { body } = await client.send('/openapi/v3')
  const { paths } = body as { paths: Record<string, { serverRelativeURL: string }> }
  return ({ apiVersion }) => {
    const path = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`
    return paths[path]?.serverRelativeURL
  }
}

const REF = '#/components/schemas/'

/** Reads one kind from a document of OpenAPI v3; undefined where it does not have the kind. */
export function readKind(document: unknown, query: KindQuery): KindSchema | undefined {
  const schemas = valueAt(document, ['components', 'schemas'])
  if (!isMap(schemas)) return undefined
  const resolve = (ref: string) => schemas[ref.slice(REF.length)] as JsonMap
  const schema = Object.values(schemas).find(
    (candidate): candidate is JsonMap => isMap(candidate) && isSchemaOf(candidate, query),
  )
  if (!schema) return undefined
  const byPointer = <T>(pointers: readonly string[], answer: (field: unknown) => T) =>
    Object.fromEntries(
      pointers.map((pointer) => [pointer, answer(fieldAt(schema, pointer, resolve))]),
    )
  return {
    tree: treeOf(schema, resolve),
    enums: byPointer(query.enumPointers, (field) => enumOf(field, resolve)),
    fields: byPointer(query.fieldPointers, (field) => field !== undefined),
    ...(query.wantsValues && {
      defaults: defaultsOf(schema, (part) => dereference(part, resolve)),
      values: forValues(schema),
    }),
  }
}

/** A copy without the descriptions, which are most of it, and dear patterns; a field of such a name is no text. */
const forValues = (schema: JsonMap): unknown =>
  JSON.parse(
    JSON.stringify(schema, (name, part) => {
      if (typeof part !== 'string') return part
      return name === 'description' || (name === 'pattern' && isDear(part)) ? undefined : part
    }),
  )

// Matching goes back and forth here, unlike in the API server: a repeated group may take exponential time, and each further
// repetition multiplies it by the length of the text.
const isDear = (pattern: string) =>
  /\)[*+{]/.test(pattern) || (pattern.match(/[*+{]/g) ?? []).length > 2

function isSchemaOf(schema: JsonMap, { apiVersion, kind }: KindQuery): boolean {
  const names = schema['x-kubernetes-group-version-kind']
  const version = apiVersion.split('/').at(-1)
  return (
    Array.isArray(names) &&
    names.some(
      (name: JsonMap) =>
        name.kind === kind && name.group === groupOf(apiVersion) && name.version === version,
    )
  )
}

type Resolve = (ref: string) => JsonMap

function fieldAt(schema: JsonMap, pointer: string, resolve: Resolve): unknown {
  const tokens = parsePointer(pointer)
  if (!tokens.ok) throw new Error(`schema pointer "${pointer}": ${tokens.error}`)
  let at: unknown = schema
  for (const token of tokens.value) at = valueAt(dereference(at, resolve), ['properties', token])
  return dereference(at, resolve)
}

function enumOf(field: unknown, resolve: Resolve): readonly string[] {
  const items = dereference(valueAt(field, ['items']), resolve)
  const values = valueAt(field, ['enum']) ?? valueAt(items, ['enum'])
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}

// Built-in kinds refer to their parts by `allOf` with exactly one `$ref`.
function dereference(schema: unknown, resolve: Resolve): unknown {
  const ref = valueAt(schema, ['$ref']) ?? valueAt(schema, ['allOf', '0', '$ref'])
  return typeof ref === 'string' ? resolve(ref) : schema
}
