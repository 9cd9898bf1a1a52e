/** A Kubernetes object as JSON: what is stored, sent or rendered. Never mutated once it is one. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly deletionTimestamp?: string
  readonly managedFields?: readonly ManagedFieldsEntry[]
  readonly [field: string]: unknown
}

/** One line of `metadata.managedFields`: which manager owns which fields, and by which kind of write. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly apiVersion?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export type JsonMap = Readonly<Record<string, unknown>>

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member of a map, inherited ones aside; undefined of anything else. */
export const memberOf = (value: unknown, name: string): unknown =>
  isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** The same map with other values. */
export const mapMembers = <From, To>(
  map: Readonly<Record<string, From>>,
  to: (value: From, name: string) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, to(value, name)]))

/** The members of a map that are to be kept. */
export const keepMembers = <T>(
  map: Readonly<Record<string, T>>,
  isKept: (name: string, value: T) => boolean,
): Record<string, T> =>
  Object.fromEntries(Object.entries(map).filter(([name, value]) => isKept(name, value)))

/** Whether a value from outside has the members that every Kubernetes object has. */
export const isKubeObject = (value: unknown): value is KubeObject =>
  isMap(value) &&
  typeof value.apiVersion === 'string' &&
  typeof value.kind === 'string' &&
  isMap(value.metadata) &&
  typeof value.metadata.name === 'string'

/** The API group of an `apiVersion`: `apps` for `apps/v1`, the empty string for the core group's `v1`. */
export const groupOf = (apiVersion: string) =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''

/** The object as people name it: `MachineConfig 90-worker-swap-online`, `HyperConverged ns/name`. */
export const titleOf = ({
  kind,
  metadata,
}: {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined }
}) => `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name}`

/** Reads an annotation; an inherited member of the map is none. */
export const annotationOf = (object: KubeObject | undefined, key: string): string | undefined => {
  const annotations = object?.metadata.annotations
  return annotations && Object.hasOwn(annotations, key) ? annotations[key] : undefined
}
