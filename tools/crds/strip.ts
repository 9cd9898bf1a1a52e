import { isMap, type JsonMap } from '../../src/shared/engine/json/object.ts'

/** A version of a CustomResourceDefinition. */
export interface CrdVersion extends JsonMap {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly schema: { readonly openAPIV3Schema: JsonMap }
  readonly additionalPrinterColumns?: readonly JsonMap[]
}

/** A CustomResourceDefinition, as far as it is looked into here. */
export interface Crd {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: JsonMap }
  readonly spec: JsonMap & {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly CrdVersion[]
  }
}

/** Groups under k8s.io are served only with this annotation. */
const APPROVAL = 'api-approved.kubernetes.io'
const PROSE = ['description', 'title', 'example', 'externalDocs']
const SCHEMAS_BY_NAME = ['properties', 'patternProperties', 'definitions']
const SCHEMA = ['additionalProperties', 'items', 'not']
const SCHEMAS = ['allOf', 'anyOf', 'oneOf']

/**
 * The definition without what only people read and what an API server alone cannot honour: the prose of its
 * schemas, labels and annotations, status, and the conversion by a webhook that is not there. What decides
 * which objects are accepted, and how they are stored, stays.
 */
export function strip({ apiVersion, kind, metadata, spec }: Crd): Crd {
  const { conversion: _, preserveUnknownFields: __, ...kept } = spec
  const approval = metadata.annotations?.[APPROVAL]
  const annotations = approval === undefined ? {} : { annotations: { [APPROVAL]: approval } }
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name, ...annotations },
    spec: { ...(kept as Crd['spec']), versions: spec.versions.map(stripVersion) },
  }
}

function stripVersion({ schema, additionalPrinterColumns, ...version }: CrdVersion): CrdVersion {
  const columns = additionalPrinterColumns?.map((column) => without(column, ['description']))
  return {
    ...version,
    ...(columns && { additionalPrinterColumns: columns }),
    schema: { openAPIV3Schema: stripSchema(schema.openAPIV3Schema) },
  } as CrdVersion // of a map with an index signature, rest forgets the members
}

// Only where schemas are: a property, or a member of a default, may be called "description".
function stripSchema(schema: JsonMap): JsonMap {
  const entries = Object.entries(without(schema, PROSE))
  return Object.fromEntries(entries.map(([key, value]) => [key, stripMember(key, value)]))
}

function stripMember(key: string, value: unknown): unknown {
  if (SCHEMA.includes(key)) return stripIfSchema(value)
  if (SCHEMAS.includes(key) && Array.isArray(value)) return value.map(stripIfSchema)
  if (!(SCHEMAS_BY_NAME.includes(key) && isMap(value))) return value
  const named = Object.entries(value).map(([name, schema]) => [name, stripIfSchema(schema)])
  return Object.fromEntries(named)
}

// A boolean is a schema too.
const stripIfSchema = (value: unknown) => (isMap(value) ? stripSchema(value) : value)

const without = (map: JsonMap, keys: readonly string[]): JsonMap =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)))
