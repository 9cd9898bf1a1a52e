import { gunzipSync } from 'node:zlib'

import type { JsonMap } from '../../src/shared/engine/json/object.ts'

interface TypeMeta {
  readonly group: string
  readonly version: string
  readonly kind: string
}

type Entry = JsonMap & {
  readonly 'x-kubernetes-group-version-kind': readonly TypeMeta[]
  readonly required?: readonly string[]
  readonly properties?: JsonMap
}

/** The schemas of a cluster's OpenAPI document, by the kind in small letters. */
type Document = Readonly<Record<string, readonly Entry[]>>

const documents = new WeakMap<Uint8Array, Document>()

/** The schema that a running cluster published of a kind, made into one that a definition may have. */
export function publishedSchema(content: Uint8Array, { group, version, kind }: TypeMeta): JsonMap {
  const entry = documentIn(content)[kind.toLowerCase()]?.find((schema) =>
    schema['x-kubernetes-group-version-kind'].some(
      (one) => one.group === group && one.version === version,
    ),
  )
  if (!entry) throw new Error(`the document has no schema of ${group}/${version} ${kind}`)
  const { namespaced: _, required = [], 'x-kubernetes-group-version-kind': __, ...schema } = entry
  return {
    ...schema,
    ...(required.length > 0 && { required }),
    // The document refers to the schema of all metadata, which a definition may not.
    properties: { ...schema.properties, metadata: { type: 'object' } },
  }
}

// One document has many kinds, and is large.
function documentIn(content: Uint8Array): Document {
  const known = documents.get(content) ?? (JSON.parse(String(gunzipSync(content))) as Document)
  documents.set(content, known)
  return known
}
