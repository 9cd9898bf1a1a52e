const text = { type: 'string' }
const list = (schema: object, ...keys: readonly string[]) => ({
  type: 'array',
  nullable: true,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items: { type: 'object', required: keys.slice(0, 1), properties: schema },
})
const map = (properties: object, more = {}) => ({
  type: 'object',
  nullable: true,
  properties,
  ...more,
})
const nullable = (schema: object) => ({ ...schema, nullable: true })
const free = { 'x-kubernetes-preserve-unknown-fields': true }
const set = (items: object) => ({
  type: 'array',
  nullable: true,
  'x-kubernetes-list-type': 'set',
  items,
})

const properties = {
  s: nullable(text),
  n: { type: 'integer', nullable: true },
  ios: { 'x-kubernetes-int-or-string': true, nullable: true },
  atomicMap: map({ a: text, b: text }, { 'x-kubernetes-map-type': 'atomic' }),
  gran: map({ a: nullable(text), b: map({ c: text, d: text }) }),
  free: map({}, free),
  freeTyped: map({ known: map({ x: text }), items: list({ name: text, v: text }, 'name') }, free),
  any: free,
  embedded: map({}, { ...free, 'x-kubernetes-embedded-resource': true }),
  dict: { type: 'object', nullable: true, additionalProperties: map({ x: text, y: text }) },
  list: { type: 'array', nullable: true, items: { type: 'object', properties: { a: text } } },
  set: set(text),
  byName: list({ name: text, v: nullable(text), sub: set({ type: 'integer' }) }, 'name'),
  ports: list(
    { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text },
    'port',
    'protocol',
  ),
}

/** A definition with one field for each way in which the API server merges. */
export const EVERY_SORT_CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'nasties.test.example.com' },
  spec: {
    group: 'test.example.com',
    names: { kind: 'Nasty', plural: 'nasties', singular: 'nasty', listKind: 'NastyList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
        },
      },
    ],
  },
}
