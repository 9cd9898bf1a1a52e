import fc from 'fast-check'

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

const some = <Shape>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) =>
  fc.record(shape, { requiredKeys: [] })
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 8 })
const unique = <Item>(item: fc.Arbitrary<Item>, selector: (item: Item) => unknown) =>
  fc.uniqueArray(item, { selector, maxLength: 3 })
const word = fc.constantFrom('a', 'b', '<c>')

const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.constantFrom(1, 2, true, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('p', 'q', 'r'), tie('value'), { maxKeys: 3 }),
  ),
}))
const freeMap = fc.dictionary(fc.constantFrom('p', 'q', 'r'), anything, { maxKeys: 3 })
const named = fc.record({ name: word, v: word }, { requiredKeys: ['name'] })
const labels = fc.dictionary(fc.constantFrom('l', 'm'), fc.constantFrom('x', 'y'), { maxKeys: 2 })

/** Specs of it that often meet: few names and few values, and nulls. */
export const everySpec = some({
  s: orNull(word),
  n: orNull(fc.constantFrom(1, 2)),
  ios: orNull(fc.oneof(word, fc.constantFrom(1, 2))),
  atomicMap: orNull(some({ a: word, b: word })),
  gran: orNull(some({ a: orNull(word), b: orNull(some({ c: word, d: word })) })),
  free: orNull(freeMap),
  any: anything,
  freeTyped: orNull(
    fc
      .tuple(
        freeMap,
        some({
          known: orNull(some({ x: word })),
          items: orNull(unique(named, ({ name }) => name)),
        }),
      )
      .map(([unknown, known]) => ({ ...unknown, ...known })),
  ),
  embedded: orNull(
    fc
      .tuple(freeMap, some({ metadata: some({ labels }) }))
      .map(([unknown, known]) => ({ apiVersion: 'v1', kind: 'Thing', ...unknown, ...known })),
  ),
  dict: orNull(
    fc.dictionary(fc.constantFrom('k', 'l'), orNull(some({ x: word, y: word })), { maxKeys: 2 }),
  ),
  list: orNull(fc.array(some({ a: word }), { maxLength: 2 })),
  set: orNull(unique(word, (item) => item)),
  byName: orNull(
    unique(
      fc.record(
        {
          name: word,
          v: orNull(word),
          sub: orNull(unique(fc.constantFrom(1, 2, 3), (item) => item)),
        },
        { requiredKeys: ['name'] },
      ),
      ({ name }) => name,
    ),
  ),
  ports: orNull(
    unique(
      fc.record(
        {
          port: fc.constantFrom(80, 443),
          protocol: fc.constantFrom('TCP', 'UDP'),
          name: word,
        },
        { requiredKeys: ['port'] },
      ),
      ({ port, protocol = 'TCP' }) => `${port}/${protocol}`,
    ),
  ),
})
