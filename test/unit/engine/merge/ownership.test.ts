import fc from 'fast-check'
import t from 'tap'
import { MANAGED_BY } from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../../src/shared/engine/json/object.ts'
import { DEDUCED, type FieldPath } from '../../../../src/shared/engine/merge/merge-tree.ts'
import {
  fieldsOf,
  isSomeOrphaned,
  managersOf,
  ownership,
  released,
  releaseOperations,
} from '../../../../src/shared/engine/merge/ownership.ts'
import { anyObject, objectWith, seed, tree } from './schemas.ts'

const MANAGER = 'virt-platform-autopilot'

const entry = (fieldsV1: object, more: object = {}) => ({
  manager: MANAGER,
  operation: 'Apply',
  apiVersion: 'example.com/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as Readonly<Record<string, unknown>>,
  ...more,
})

const liveWith = (...managedFields: readonly ManagedFieldsEntry[]): KubeObject =>
  objectWith({}, { resourceVersion: '7', managedFields })

const fieldSets: readonly (readonly [behaviour: string, spec: unknown, fields: object])[] = [
  [
    'owns the leaves of granular maps',
    { text: 'a', map: { a: '1', inner: { c: '2' } } },
    { 'f:text': {}, 'f:map': { 'f:a': {}, 'f:inner': { 'f:c': {} } } },
  ],
  [
    'owns atomic values whole',
    { atomicMap: { a: '1' }, list: [{ a: 1 }] },
    { 'f:atomicMap': {}, 'f:list': {} },
  ],
  [
    'owns members that the schema does not name beside their content',
    { dict: { k: { x: '1' } }, free: { a: { b: 1 }, l: [1] } },
    {
      'f:dict': { 'f:k': { '.': {}, 'f:x': {} } },
      'f:free': { 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} },
    },
  ],
  [
    'owns the members of a set',
    { set: ['a', 'b<&>'] },
    { 'f:set': { 'v:"a"': {}, 'v:"b\\u003c\\u0026\\u003e"': {} } },
  ],
  [
    'owns list items with their keys, defaults included',
    { ports: [{ port: 53, name: 'dns' }] },
    { 'f:ports': { 'k:{"port":53,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } } },
  ],
  [
    'owns an empty map and null, not an empty list',
    { map: {}, byName: null, set: [], dict: null },
    { 'f:map': {}, 'f:byName': {}, 'f:dict': {} },
  ],
  [
    'owns what it cannot merge whole',
    { map: 'x', byName: [{ value: 'no name' }], set: 'x', unknown: { a: 1 } },
    { 'f:map': {}, 'f:byName': {}, 'f:set': {}, 'f:unknown': {} },
  ],
]

for (const [behaviour, spec, fields] of fieldSets) {
  t.test(behaviour, async (t) => {
    t.strictSame(fieldsOf(tree, objectWith(spec)), { 'f:spec': fields })
  })
}

t.test('owns labels and annotations, nothing that identifies the object', async (t) => {
  const labelled = objectWith(
    {},
    { namespace: 'n', labels: { a: 'b' }, annotations: { 'c/d': 'e' } },
  )
  t.strictSame(fieldsOf(tree, labelled), {
    'f:spec': {},
    'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:annotations': { 'f:c/d': {} } },
  })
  t.strictSame(fieldsOf(DEDUCED, objectWith({ a: [] })), { 'f:spec': { '.': {}, 'f:a': {} } })
  t.strictSame(fieldsOf({ type: 'atomic' }, objectWith({})), {})
})

const field = (...names: readonly string[]): FieldPath => names.map((name) => ({ field: name }))

t.test('compares what an apply would own with what the last one owns', async (t) => {
  const desired = objectWith({ map: { a: '1', b: '2' }, byName: [{ name: '<a>', value: '1' }] })
  const live = liveWith(
    entry({ 'f:spec': { 'f:text': {} } }, { manager: 'kubectl' }),
    entry({ 'f:spec': { 'f:text': {} } }, { operation: 'Update' }),
    entry({ 'f:status': {} }, { subresource: 'status' }),
    entry({
      'f:spec': {
        'f:map': { 'f:a': {} },
        'f:text': {},
        'f:free': { '.': {}, 'f:x': 'odd' },
        'f:byName': {
          'k:{"name":"\\u003ca\\u003e"}': { '.': {}, 'f:name': {}, 'f:value': {}, 'f:more': {} },
        },
        'f:set': { 'v:"z"': {} },
        'i:0': {},
        'k:[]': {},
        'k:{': {},
      },
    }),
  )
  t.strictSame(ownership(tree, live, desired, MANAGER), {
    missing: [field('spec', 'map', 'b')],
    extra: [
      field('spec', 'text'),
      field('spec', 'free'),
      field('spec', 'free', 'x'),
      [...field('spec', 'byName'), { key: { name: '<a>' } }, { field: 'more' }],
      [...field('spec', 'set'), { value: 'z' }],
    ],
  })
})

t.test('owns nothing before the first apply', async (t) => {
  const desired = objectWith({ text: 'a' })
  const nothing = { missing: [field('spec', 'text')], extra: [] }
  t.strictSame(ownership(tree, objectWith({}), desired, MANAGER), nothing)
  t.strictSame(ownership(tree, liveWith(entry({})), desired, MANAGER), nothing)
  t.strictSame(
    ownership(tree, liveWith({ manager: MANAGER, operation: 'Apply' }), desired, MANAGER),
    nothing,
  )
})

t.test('reads a field set no deeper than an object may nest', async (t) => {
  let fields: object = {}
  for (let depth = 0; depth < 5_000; depth += 1) fields = { 'f:a': fields }
  t.strictSame(ownership(tree, liveWith(entry(fields)), objectWith({}), MANAGER), {
    missing: [field('spec')],
    extra: [],
  })
})

interface ReleaseCase {
  readonly name: string
  readonly paths: readonly FieldPath[]
  readonly fields: object
}

const item = [...field('spec', 'byName'), { key: { name: '<a>' } }]
const itemElement = 'k:{"name":"\\u003ca\\u003e"}'
const owned = {
  'f:metadata': { 'f:labels': { 'f:a': {} } },
  'f:spec': {
    'f:byName': { [itemElement]: { '.': {}, 'f:name': {}, 'f:value': {} } },
    'f:free': { 'f:p': { '.': {}, 'f:q': {} } },
    'f:map': { 'f:a': {}, 'f:b': {} },
    'f:set': { 'v:"a"': {} },
    'f:odd': 'odd',
  },
}
const { 'f:free': free, ...withoutFree } = owned['f:spec']
const { 'f:byName': byName, ...withoutByName } = owned['f:spec']

const releases: readonly ReleaseCase[] = [
  {
    name: 'releases a field',
    paths: [field('spec', 'map', 'a')],
    fields: { ...owned, 'f:spec': { ...owned['f:spec'], 'f:map': { 'f:b': {} } } },
  },
  {
    name: 'releases all beneath a field',
    paths: [field('spec'), field('spec', 'map', 'a')],
    fields: { 'f:metadata': owned['f:metadata'] },
  },
  {
    name: 'releases parents that have nothing left but themselves',
    paths: [field('spec', 'free', 'p', 'q')],
    fields: { ...owned, 'f:spec': withoutFree },
  },
  {
    name: 'keeps a list item of which only fields are released',
    paths: [[...item, { field: 'value' }]],
    fields: {
      ...owned,
      'f:spec': { ...owned['f:spec'], 'f:byName': { [itemElement]: { '.': {}, 'f:name': {} } } },
    },
  },
  {
    name: 'releases a list item',
    paths: [item],
    fields: { ...owned, 'f:spec': withoutByName },
  },
]

for (const { name, paths, fields } of releases) {
  t.test(name, async (t) => {
    const live = liveWith(entry({}, { manager: 'kubectl' }), entry(owned))
    const after = liveWith(entry({}, { manager: 'kubectl' }), entry(fields))
    t.strictSame(released(live, MANAGER, paths), after)
    t.strictSame(releaseOperations(live, MANAGER, paths, MANAGED_BY), [
      { op: 'test', path: '/metadata/resourceVersion', value: '7' },
      { op: 'replace', path: '/metadata/managedFields/1/fieldsV1', value: fields },
    ])
  })
}

t.test('removes an entry that a release leaves empty', async (t) => {
  const live = liveWith(entry({}, { manager: 'kubectl' }), entry({ 'f:spec': { 'f:text': {} } }))
  t.strictSame(releaseOperations(live, MANAGER, [field('spec', 'text')], MANAGED_BY)?.[1], {
    op: 'remove',
    path: '/metadata/managedFields/1',
  })
})

t.test(
  'leaves the only manager its label, since the server refuses to forget the last one',
  async (t) => {
    const live = liveWith(entry({ 'f:spec': { 'f:text': {} } }))
    t.strictSame(releaseOperations(live, MANAGER, [field('spec', 'text')], MANAGED_BY)?.[1], {
      op: 'replace',
      path: '/metadata/managedFields/0/fieldsV1',
      value: { 'f:metadata': { 'f:labels': { 'f:platform.kubevirt.io/managed-by': {} } } },
    })
  },
)

t.test('has nothing to release of what it does not own', async (t) => {
  const live = liveWith(entry(owned))
  for (const path of [
    [],
    field('spec', 'map', 'c'),
    field('spec', 'map', 'a', 'b'),
    field('spec', 'odd', 'a'),
  ]) {
    t.equal(releaseOperations(live, MANAGER, [path], MANAGED_BY), undefined)
    t.equal(released(live, MANAGER, [path]), live)
  }
  t.equal(releaseOperations(live, 'kubectl', [field('spec')], MANAGED_BY), undefined)
  t.equal(releaseOperations(objectWith({}), MANAGER, [field('spec')], MANAGED_BY), undefined)
})

t.test('owns exactly what it applied, and nothing once all of it is released', async () => {
  fc.assert(
    fc.property(anyObject, (desired) => {
      const live = liveWith(entry({}, { manager: 'kubectl' }), entry(fieldsOf(tree, desired)))
      const { missing, extra } = ownership(tree, live, desired, MANAGER)
      const { missing: paths } = ownership(tree, objectWith({}), desired, MANAGER)
      const change = releaseOperations(live, MANAGER, paths, MANAGED_BY)?.[1]
      return missing.length + extra.length === 0 && (paths.length === 0 || change?.op === 'remove')
    }),
    { seed },
  )
})

t.test(
  'names the managers of fields, or whoever wrote last where the fields are gone',
  async (t) => {
    const text = { 'f:spec': { 'f:text': {} } }
    const map = { 'f:spec': { 'f:map': { 'f:a': {} } } }
    const live = liveWith(
      entry(text, { manager: 'late', time: '2026-01-03T00:00:00Z' }),
      entry(map, { manager: 'early', operation: 'Update', time: '2026-01-01T00:00:00Z' }),
      entry(map, { manager: 'status', subresource: 'status', time: '2026-01-04T00:00:00Z' }),
      entry(map, { time: '2026-01-05T00:00:00Z' }),
    )
    const [ofText, ofMap, ofList] = [
      field('spec', 'text'),
      field('spec', 'map', 'a'),
      field('spec', 'list'),
    ]
    t.strictSame(managersOf(live, [ofText], MANAGER), ['late'])
    t.strictSame(managersOf(live, [ofText, ofMap], MANAGER), ['late', 'early'])
    t.strictSame(managersOf(live, [ofList], MANAGER), ['late'], 'nobody owns what is gone')
    t.strictSame(managersOf(live, [], MANAGER), ['late'])
    t.strictSame(managersOf(objectWith({}), [ofText], MANAGER), [])
    const nameless = liveWith({ operation: 'Update' })
    t.strictSame(managersOf(nameless, [ofText], MANAGER), [''])
  },
)

t.test('knows a field that nobody owns', async (t) => {
  const text = { 'f:spec': { 'f:text': {} } }
  const live = liveWith(
    entry(text, { manager: 'other', operation: 'Update' }),
    entry({ 'f:spec': { 'f:list': {} } }, { manager: 'status', subresource: 'status' }),
  )
  t.notOk(isSomeOrphaned(live, [field('spec', 'text')]))
  t.ok(isSomeOrphaned(live, [field('spec', 'text'), field('spec', 'map', 'a')]))
  t.ok(isSomeOrphaned(live, [field('spec', 'list')]), 'an owner of the status owns no more')
  t.ok(isSomeOrphaned(objectWith({}), [field('spec', 'text')]))
  t.notOk(isSomeOrphaned(objectWith({}), []))
})
