import fc from 'fast-check'
import t from 'tap'
import { IGNORE_FIELDS, MANAGED_BY, NAMES } from '../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { releaseFields } from '../../../../src/shared/engine/overrides/ignore-fields.ts'
import { runs } from '../../runs.ts'
import { anyObject, crdTree, objectWith, seed, tree } from '../merge/schemas.ts'

const desired = objectWith(
  {
    text: 't',
    map: { a: '1', inner: { c: '2' } },
    dict: { 'k,l': { x: '1' } },
    free: { a: { b: 1 }, l: [1], n: null },
    list: ['a'],
    set: ['a', 'b'],
    atomicMap: { a: '1' },
    byName: [{ name: 'a', value: '1' }, { name: 'b' }],
    ports: [{ port: 53, name: 'dns' }],
  },
  { labels: { [MANAGED_BY]: 'virt-platform-autopilot', team: 'a' }, annotations: { 'a/b': 'c' } },
)

const release = (text: string, isSensitive = false, object: KubeObject = desired) =>
  releaseFields({ desired: object, tree, text, isSensitive }, NAMES)

const specWithout = (text: string) => {
  const result = release(text)
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join('\n'))
  const { spec, metadata } = result.value.desired
  const original = desired.spec as Record<string, unknown>
  const changed = Object.entries(original).filter(
    ([name, value]) =>
      JSON.stringify((spec as Record<string, unknown>)[name]) !== JSON.stringify(value),
  )
  return {
    ...Object.fromEntries(changed.map(([name]) => [name, (spec as Record<string, unknown>)[name]])),
    ...(JSON.stringify(metadata) !== JSON.stringify(desired.metadata) && { metadata }),
  }
}

const released: readonly (readonly [behaviour: string, text: string, left: object])[] = [
  ['releases a field', '/spec/text', { text: undefined }],
  ['releases a member and keeps its siblings', '/spec/map/a', { map: { inner: { c: '2' } } }],
  [
    'drops the parents that a release leaves empty',
    '/spec/free/a/b , /spec/map/inner/c',
    { free: { l: [1], n: null }, map: { a: '1' } },
  ],
  ['drops a list that a release leaves empty', '/spec/ports/0', { ports: undefined }],
  ['releases a list item by its index', '/spec/byName/0', { byName: [{ name: 'b' }] }],
  ['resolves every index on the baseline', '/spec/byName/0,/spec/byName/1', { byName: undefined }],
  [
    'releases a field of a list item',
    '/spec/byName/0/value',
    { byName: [{ name: 'a' }, { name: 'b' }] },
  ],
  [
    'releases a field inside one that is released',
    '/spec/map,/spec/map/a,/spec/map',
    { map: undefined },
  ],
  [
    'releases an atomic list, a set and an atomic map',
    '/spec/list,/spec/set,/spec/atomicMap',
    { list: undefined, set: undefined, atomicMap: undefined },
  ],
  ['takes a JSON array for names with commas', ' ["/spec/dict/k,l/x"]', { dict: undefined }],
  ['releases nothing where the annotation is empty', ' ', {}],
  [
    'releases a label and an annotation',
    '/metadata/labels/team,/metadata/annotations/a~1b',
    { metadata: { name: 'one', labels: { [MANAGED_BY]: 'virt-platform-autopilot' } } },
  ],
]

for (const [behaviour, text, left] of released) {
  t.test(behaviour, async (t) => {
    t.strictSame(specWithout(text), left)
  })
}

t.test('tells the released fields by list keys, not by index', async (t) => {
  t.match(release('/spec/ports/0/name,/spec/byName/1'), {
    value: {
      released: [
        [
          { field: 'spec' },
          { field: 'ports' },
          { key: { port: 53, protocol: 'TCP' } },
          { field: 'name' },
        ],
        [{ field: 'spec' }, { field: 'byName' }, { key: { name: 'b' } }],
      ],
      unmanaged: [],
    },
  })
})

t.test(
  'names pointers to fields that the schema knows and the baseline does not hold',
  async (t) => {
    const pointers = [
      '/spec/map/b',
      '/spec/free/z/y',
      '/spec/free/n/y',
      '/spec/byName/7/more',
      '/spec/dict/z/x',
      '/metadata/labels/z',
    ]
    const result = release(pointers.join())
    if (!result.ok) throw new Error('a field that the schema knows may be ignored')
    const { released, unmanaged } = result.value
    t.equal(result.value.desired, desired)
    t.same(released, [])
    t.same(
      unmanaged.map(({ pointer }) => pointer),
      pointers,
    )
    t.same(
      unmanaged.map(({ path }) => path?.map((step) => ('field' in step ? step.field : step))),
      [
        ['spec', 'map', 'b'],
        ['spec', 'free', 'z', 'y'],
        ['spec', 'free', 'n', 'y'],
        undefined, // nobody knows the key of an item that is not there
        ['spec', 'dict', 'z', 'x'],
        ['metadata', 'labels', 'z'],
      ],
    )
    t.match(release('/spec/byName/0/value', false, objectWith({})), {
      value: { unmanaged: [{ pointer: '/spec/byName/0/value', path: undefined }] },
    })
  },
)

const metadataRefusal =
  'cannot be released: in metadata only single labels and annotations outside platform.kubevirt.io/ can, as in /metadata/labels/team'
const unknown = 'is unknown to the schema of this kind: correct or remove it'
const part = (whole: string) =>
  `lies inside a value that the API server replaces whole: release ${whole} instead`
const key = (item: string) =>
  `is a key by which the API server knows a list item: release ${item} instead`

const refusals: readonly (readonly [pointer: string, why: string])[] = [
  ['/apiVersion', 'says what the object is: remove the pointer'],
  ['/kind', 'says what the object is: remove the pointer'],
  ['/status/x', 'is never managed: remove the pointer'],
  ['/metadata', metadataRefusal],
  ['/metadata/name', metadataRefusal],
  ['/metadata/labels', metadataRefusal],
  ['/metadata/labels/platform.kubevirt.io~1managed-by', metadataRefusal],
  ['/metadata/annotations/platform.kubevirt.io~1patch', metadataRefusal],
  ['/metadata/labels/team/x', part('/metadata/labels/team')],
  ['/data', unknown],
  ['/spec/map/z', unknown],
  ['/spec/list/0', part('/spec/list')],
  ['/spec/set/0', part('/spec/set')],
  ['/spec/atomicMap/a', part('/spec/atomicMap')],
  ['/spec/text/a', part('/spec/text')],
  ['/spec/free/l/0', part('/spec/free/l')],
  ['/spec/byName/0/name', key('/spec/byName/0')],
  ['/spec/ports/0/protocol', key('/spec/ports/0')],
  [
    '/spec/byName/a/value',
    'must name an item of /spec/byName by its index in the baseline, a number from 0',
  ],
  [
    '/spec/byName/-',
    'must name an item of /spec/byName by its index in the baseline, a number from 0',
  ],
  ['/spec/__proto__', 'must not have the segment "__proto__"'],
  ['/spec/~2', 'must write "~" as ~0 and "/" in a name as ~1'],
  [`/spec${'/a'.repeat(64)}`, 'must not have more than 64 segments'],
]

for (const [pointer, why] of refusals) {
  t.test(`refuses ${pointer.slice(0, 60)}`, async (t) => {
    t.strictSame(release(pointer), {
      ok: false,
      error: [
        {
          reason: 'InvalidIgnoreFields',
          annotation: IGNORE_FIELDS,
          pointer,
          message: `${pointer} ${why}`,
        },
      ],
    })
  })
}

t.test('refuses part of a list that the server cannot merge', async (t) => {
  const repeated = objectWith({ byName: [{ name: 'a' }, { name: 'a' }] })
  t.match(release('/spec/byName/0', false, repeated), {
    error: [{ message: `/spec/byName/0 ${part('/spec/byName')}` }],
  })
})

t.test('takes an empty pointer for the whole object, which nobody can release', async (t) => {
  const message =
    'an empty pointer is the whole object: to own that, set platform.kubevirt.io/mode=unmanaged'
  for (const text of ['/spec/text,', '[""]']) {
    t.match(release(text), { error: [{ pointer: '', message }] })
  }
})

t.test('tells every fault, each as a problem of its own', async (t) => {
  const result = release('/kind,/spec/text,/data')
  t.strictSame(!result.ok && result.error.map(({ pointer }) => pointer), ['/kind', '/data'])
})

t.test('refuses a pointer of one segment on a sensitive kind', async (t) => {
  t.match(release('/spec', true), {
    error: [
      {
        message:
          '/spec is too much of a kind that grants power over nodes or access: name a field inside it, or to own the object set platform.kubevirt.io/mode=unmanaged',
      },
    ],
  })
  t.match(release('/spec/text', true), { ok: true })
  const rules = { type: 'map', fields: { rules: { type: 'atomic' } } } as const
  t.match(releaseFields({ desired, tree: rules, text: '/rules/0', isSensitive: true }, NAMES), {
    error: [
      {
        message:
          '/rules/0 lies inside a value that the API server replaces whole: to own the object, set platform.kubevirt.io/mode=unmanaged',
      },
    ],
  })
})

t.test('takes 256 pointers and no more', async (t) => {
  const pointers = (count: number) =>
    Array.from({ length: count }, (_, index) => `/spec/free/f${index}`).join()
  t.match(release(pointers(256)), { ok: true })
  t.match(release(pointers(257)), {
    error: [
      {
        message:
          'platform.kubevirt.io/ignore-fields must not hold more than 256 pointers: release a parent of theirs, or set platform.kubevirt.io/mode=unmanaged',
      },
    ],
  })
})

t.test('refuses what starts like a JSON array of pointers and is none', async (t) => {
  t.match(release('["/spec/text"'), {
    error: [
      {
        message:
          /^platform.kubevirt.io\/ignore-fields starts with "\[" and is not the JSON array it must then be: /,
      },
    ],
  })
  t.match(release('["/spec/text", 1]'), {
    error: [
      {
        message:
          'platform.kubevirt.io/ignore-fields starts with "[" and must then be a JSON array of nothing but strings',
      },
    ],
  })
})

t.test('releases a setting of a real KubeletConfig', async (t) => {
  const kubelet = crdTree('openshift/kubeletconfigs.machineconfiguration.openshift.io.yaml', 'v1')
  const baseline = objectWith({ kubeletConfig: { maxPods: 500 }, autoSizingReserved: true })
  const text = '/spec/kubeletConfig/maxPods'
  t.match(releaseFields({ desired: baseline, tree: kubelet, text, isSensitive: true }, NAMES), {
    value: { desired: { spec: { autoSizingReserved: true } } },
  })
})

const pointer = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        'spec',
        'map',
        'byName',
        'free',
        '0',
        '1',
        'a',
        'name',
        'metadata',
        'labels',
        '~1',
      ),
      { maxLength: 5 },
    )
    .map((tokens) => tokens.map((token) => `/${token}`).join('')),
  fc.string(),
)

t.test('never throws, and never changes what object it is', async () => {
  fc.assert(
    fc.property(
      anyObject,
      fc.oneof(
        fc.string(),
        fc.array(pointer).map(String),
        fc.array(pointer).map((list) => JSON.stringify(list)),
      ),
      fc.boolean(),
      (object, text, isSensitive) => {
        const result = release(text, isSensitive, object)
        if (!result.ok) return result.error.every(({ message }) => message.length > 0)
        const { desired: left } = result.value
        return left.kind === object.kind && left.metadata.name === object.metadata.name
      },
    ),
    { seed, numRuns: runs(150) },
  )
})
