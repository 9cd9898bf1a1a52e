import fc from 'fast-check'
import jsonPatch from 'fast-json-patch'
import t from 'tap'
import { isEqual } from '../../../../src/shared/engine/json/equal.ts'
import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
import {
  type Correction,
  correct,
  drift,
  merge,
} from '../../../../src/shared/engine/merge/merge.ts'
import { ATOMIC } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { runs } from '../../runs.ts'
import { anyObject, crdTree, deepFreeze, objectWith, seed, tree } from './schemas.ts'

interface Case {
  readonly name: string
  readonly live: unknown
  readonly desired: unknown
  readonly merged: unknown
  readonly drifts: readonly string[]
}

const merges: readonly Case[] = [
  {
    name: 'merges granular maps field by field',
    live: { map: { a: '1', inner: { c: '1' } } },
    desired: { map: { a: '2', inner: { c: '1' }, b: '3' } },
    merged: { map: { a: '2', inner: { c: '1' }, b: '3' } },
    drifts: ['different /spec/map/a', 'missing /spec/map/b'],
  },
  {
    name: 'replaces atomic maps and lists whole',
    live: { atomicMap: { a: '1', b: '2' }, list: ['a', 'b'] },
    desired: { atomicMap: { a: '1' }, list: ['b'] },
    merged: { atomicMap: { a: '1' }, list: ['b'] },
    drifts: ['different /spec/atomicMap', 'different /spec/list'],
  },
  {
    name: 'merges preserved unknown fields: their maps by member, their lists whole',
    live: { free: { a: { b: 1 }, l: [1], s: 'x' } },
    desired: { free: { a: { c: 2 }, l: [2], s: { t: 1 } } },
    merged: { free: { a: { b: 1, c: 2 }, l: [2], s: { t: 1 } } },
    drifts: ['missing /spec/free/a/c', 'different /spec/free/l', 'missing /spec/free/s/t'],
  },
  {
    name: 'takes what the schema is silent about as one value',
    live: { unknown: { a: 1 } },
    desired: { unknown: { b: 2 } },
    merged: { unknown: { b: 2 } },
    drifts: ['different /spec/unknown'],
  },
  {
    name: 'adds to a set what it lacks',
    live: { set: ['z', 'a'] },
    desired: { set: ['a', 'b', 'c'] },
    merged: { set: ['z', 'a', 'b', 'c'] },
    drifts: ['missing /spec/set/2', 'missing /spec/set/3'],
  },
  {
    name: 'merges list items by key, keeps the order of live and appends what is missing',
    live: { byName: [{ name: 'z' }, { name: 'b', value: '1', more: 'm' }, { name: 'a' }] },
    desired: { byName: [{ name: 'c', value: '3' }, { name: 'a' }, { name: 'b', value: '2' }] },
    merged: {
      byName: [
        { name: 'z' },
        { name: 'b', value: '2', more: 'm' },
        { name: 'a' },
        { name: 'c', value: '3' },
      ],
    },
    drifts: ['missing /spec/byName/3', 'different /spec/byName/1/value'],
  },
  {
    name: 'knows an item that lacks a key by its default',
    live: {
      ports: [
        { port: 53, protocol: 'TCP' },
        { port: 53, protocol: 'UDP' },
      ],
    },
    desired: { ports: [{ port: 53, name: 'dns' }] },
    merged: {
      ports: [
        { port: 53, protocol: 'TCP', name: 'dns' },
        { port: 53, protocol: 'UDP' },
      ],
    },
    drifts: ['missing /spec/ports/0/name'],
  },
  {
    name: 'puts one item in the place of all that share its key',
    live: { byName: [{ name: 'a', value: '1' }, { name: 'b' }, { name: 'a', more: 'm' }] },
    desired: { byName: [{ name: 'a', value: '1' }] },
    merged: { byName: [{ name: 'a', value: '1' }, { name: 'b' }] },
    drifts: ['different /spec/byName/0'],
  },
  {
    name: 'keeps repeated members of a set that nobody desires',
    live: { set: ['a', 'b', 'a', 'c', 'c'] },
    desired: { set: ['a'] },
    merged: { set: ['a', 'b', 'c', 'c'] },
    drifts: ['different /spec/set/0'],
  },
  {
    name: 'leaves items without an identity where they are',
    live: { byName: ['x', { value: 'no name' }, { name: [] }], set: [null, { a: 1 }] },
    desired: { byName: [{ name: 'a' }], set: ['a'] },
    merged: {
      byName: ['x', { value: 'no name' }, { name: [] }, { name: 'a' }],
      set: [null, { a: 1 }, 'a'],
    },
    drifts: ['missing /spec/byName/3', 'missing /spec/set/2'],
  },
  {
    name: 'takes a desired list whole that repeats a key or lacks one',
    live: { byName: [{ name: 'z' }], set: ['z'] },
    desired: { byName: [{ value: '1' }], set: ['a', 'a'] },
    merged: { byName: [{ value: '1' }], set: ['a', 'a'] },
    drifts: ['different /spec/byName', 'different /spec/set'],
  },
  {
    name: 'replaces a scalar or null where a container is desired',
    live: { map: 'x', byName: null, set: 5 },
    desired: { map: { a: '1' }, byName: [{ name: 'a' }], set: ['a'] },
    merged: { map: { a: '1' }, byName: [{ name: 'a' }], set: ['a'] },
    drifts: ['missing /spec/map/a', 'missing /spec/byName/0', 'missing /spec/set/0'],
  },
  {
    name: 'replaces a container where a scalar is desired',
    live: { free: { a: { b: 1 } }, set: ['a'] },
    desired: { free: { a: 'x' }, set: 'x' },
    merged: { free: { a: 'x' }, set: 'x' },
    drifts: ['different /spec/free/a', 'different /spec/set'],
  },
  {
    name: 'is content with a filled container where an empty one or null is desired',
    live: { map: { a: '1' }, set: ['a'], byName: [{ name: 'a' }], free: { a: 1 } },
    desired: { map: {}, set: [], byName: null, free: null },
    merged: { map: { a: '1' }, set: ['a'], byName: [{ name: 'a' }], free: { a: 1 } },
    drifts: [],
  },
  {
    name: 'tells an empty container, null and nothing apart',
    live: { map: null, set: [], byName: null },
    desired: { map: {}, set: null, byName: null, free: {} },
    merged: { map: {}, set: null, byName: null, free: {} },
    drifts: ['different /spec/map', 'different /spec/set', 'missing /spec/free'],
  },
  {
    name: 'sets a scalar to an explicit null',
    live: { text: 'x' },
    desired: { text: null },
    merged: { text: null },
    drifts: ['different /spec/text'],
  },
]

for (const { name, live, desired, merged, drifts } of merges) {
  t.test(name, async (t) => {
    const [object, wanted] = [objectWith(live), objectWith(desired)]
    t.strictSame(merge(tree, object, wanted), objectWith(merged))
    t.strictSame(
      drift(tree, object, wanted).map(({ kind, pointer }) => `${kind} ${pointer}`),
      drifts,
    )
  })
}

t.test('says of each drift what was found and what was wanted, and its path by keys', async (t) => {
  const live = objectWith({ byName: [{ name: 'z' }, { name: 'a/b', value: '1' }], set: [] })
  const desired = objectWith({ byName: [{ name: 'a/b', value: '2' }], set: ['x'] })
  t.strictSame(drift(tree, live, desired), [
    {
      path: [{ field: 'spec' }, { field: 'byName' }, { key: { name: 'a/b' } }, { field: 'value' }],
      pointer: '/spec/byName/1/value',
      kind: 'different',
      found: '1',
      wanted: '2',
    },
    {
      path: [{ field: 'spec' }, { field: 'set' }, { value: 'x' }],
      pointer: '/spec/set/0',
      kind: 'missing',
      found: undefined,
      wanted: 'x',
    },
  ])
})

t.test('treats the whole object as one value where the tree does', async (t) => {
  const desired = objectWith({ text: 'a' })
  t.equal(merge(ATOMIC, objectWith({ text: 'b' }), desired), desired)
  t.strictSame(
    drift(ATOMIC, objectWith({ text: 'b' }), desired).map(({ pointer }) => pointer),
    [''],
  )
})

t.test('writes a member called __proto__ as a member', async (t) => {
  const free = JSON.parse('{"__proto__":{"a":1}}')
  const merged = merge(tree, objectWith({ free: {} }), objectWith({ free }))
  t.equal(JSON.stringify(merged.spec), '{"free":{"__proto__":{"a":1}}}')
})

t.test('puts a MachineConfig right without touching what else its ignition holds', async (t) => {
  const machineConfig = crdTree(
    'openshift/machineconfigs.machineconfiguration.openshift.io.yaml',
    'v1',
  )
  const live = objectWith({ config: { ignition: { version: '3.2.0' }, passwd: {} }, fips: true })
  const desired = objectWith({
    config: { ignition: { version: '3.5.0' } },
    kernelArguments: ['psi=1'],
  })
  t.strictSame(merge(machineConfig, live, desired).spec, {
    config: { ignition: { version: '3.5.0' }, passwd: {} },
    fips: true,
    kernelArguments: ['psi=1'],
  })
})

interface Write {
  readonly name: string
  readonly old: unknown
  readonly incoming: unknown
  readonly desired: unknown
  readonly before?: unknown
  readonly corrected: unknown
}

const writes: readonly Write[] = [
  {
    name: 'puts back what the write changes and leaves older drift alone',
    old: { map: { a: 'drifted', b: 'b' } },
    incoming: { map: { a: 'drifted', b: 'changed' } },
    desired: { map: { a: 'a', b: 'b' } },
    corrected: { map: { a: 'drifted', b: 'b' } },
  },
  {
    name: 'puts back what the write leaves out',
    old: { map: { a: 'a' }, set: ['a', 'b'], text: 't' },
    incoming: { set: ['b'] },
    desired: { map: { a: 'a' }, set: ['a', 'b'], text: 't' },
    corrected: { map: { a: 'a' }, set: ['b', 'a'], text: 't' },
  },
  {
    name: 'puts back a list item that the write removes, as desired',
    old: { byName: [{ name: 'a', value: 'drifted', more: 'm' }, { name: 'b' }] },
    incoming: { byName: [{ name: 'b' }] },
    desired: { byName: [{ name: 'a', value: '1' }] },
    corrected: { byName: [{ name: 'b' }, { name: 'a', value: '1' }] },
  },
  {
    name: 'lets the order of list items be changed',
    old: { byName: [{ name: 'a' }, { name: 'b' }] },
    incoming: { byName: [{ name: 'b' }, { name: 'a' }] },
    desired: { byName: [{ name: 'a' }, { name: 'b' }] },
    corrected: { byName: [{ name: 'b' }, { name: 'a' }] },
  },
  {
    name: 'removes a repetition that the write makes, not one that was there',
    old: { byName: [{ name: 'a' }, { name: 'b' }, { name: 'b', value: '2' }] },
    incoming: { byName: [{ name: 'a' }, { name: 'a' }, { name: 'b' }, { name: 'b', value: '2' }] },
    desired: { byName: [{ name: 'a' }, { name: 'b' }] },
    corrected: { byName: [{ name: 'a' }, { name: 'b' }, { name: 'b', value: '2' }] },
  },
  {
    name: 'keeps out of a scalar that replaced a map what was missing before',
    old: { free: { a: 1 } },
    incoming: { free: 'x' },
    desired: { free: { a: 1, b: 2 } },
    corrected: { free: { a: 1 } },
  },
  {
    name: 'judges a field whose desired value this write changes by an override',
    old: { map: { a: 'a', b: 'x' } },
    incoming: { map: { a: 'a', b: 'x' } },
    desired: { map: { a: 'patched', b: 'b' } },
    before: { map: { a: 'a', b: 'b' } },
    corrected: { map: { a: 'patched', b: 'x' } },
  },
  {
    name: 'judges list items that an override adds',
    old: { byName: [], set: 'x' },
    incoming: { byName: [], set: 'x' },
    desired: { byName: [{ name: 'a' }], set: ['a'] },
    before: {},
    corrected: { byName: [{ name: 'a' }], set: ['a'] },
  },
]

for (const { name, old, incoming, desired, before, corrected } of writes) {
  t.test(name, async (t) => {
    const input = { tree, old: objectWith(old), desired: objectWith(desired) }
    const desiredBefore = before === undefined ? undefined : objectWith(before)
    const correction = correct({ ...input, incoming: objectWith(incoming), desiredBefore })
    t.strictSame(correction.corrected, objectWith(corrected))
    t.equal(correction.drifts.length === 0, isEqual(incoming, corrected))
  })
}

t.test('judges everything that a create holds', async (t) => {
  const { corrected } = correct({
    tree,
    incoming: objectWith({ text: 'b' }),
    old: undefined,
    desired: objectWith({ text: 'a', map: { a: '1' } }),
  })
  t.strictSame(corrected.spec, { text: 'a', map: { a: '1' } })
})

t.test('compares however deep two values are nested', async (t) => {
  const nest = (core: unknown) => {
    let nested = core
    for (let depth = 0; depth < 100_000; depth += 1) nested = depth % 2 ? [nested] : { a: nested }
    return nested
  }
  t.equal(isEqual(nest(1), nest(1)), true)
  t.equal(isEqual(nest(1), nest(2)), false)
})

const comparisons: readonly (readonly [unknown, unknown, boolean])[] = [
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { b: 1 }, false],
  [{ a: 1 }, { a: 1, b: 1 }, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [[], {}, false],
  [null, {}, false],
  [{}, { toString: 1 }, false],
  [1, '1', false],
]

t.test('compares JSON values by content', async (t) => {
  for (const [left, right, same] of comparisons) {
    t.equal(isEqual(left, right), same, JSON.stringify([left, right]))
  }
})

const holds = (predicate: (...objects: readonly [KubeObject, KubeObject, KubeObject]) => boolean) =>
  fc.assert(fc.property(anyObject, anyObject, anyObject, predicate), { seed, numRuns: runs(200) })

t.test(
  'has no drift after a merge, and merges the same again to the very same object',
  async () => {
    holds((live, desired) => {
      const merged = deepFreeze(merge(tree, live, desired))
      return drift(tree, merged, desired).length === 0 && merge(tree, merged, desired) === merged
    })
  },
)

t.test('corrects a corrected object to itself', async () => {
  holds((old, incoming, desired) => {
    const first = correct({ tree, incoming, old, desired })
    const again = correct({ tree, incoming: deepFreeze(first.corrected), old, desired })
    return again.corrected === first.corrected && again.drifts.length === 0
  })
})

t.test(
  'corrects a corrected object to itself when an override changes in the same write',
  async () => {
    holds((old, desiredBefore, desired) => {
      const first = correct({ tree, incoming: old, old, desired, desiredBefore })
      const incoming = deepFreeze(first.corrected)
      return correct({ tree, incoming, old, desired, desiredBefore }).corrected === incoming
    })
  },
)

/** More than JavaScript can hold: as a number it becomes …992. */
const THEIRS = '9007199254740993'

/** The object as JSON text, with a number of somebody else's in each of its maps, and each item of its lists twice. */
const withTheirs = (object: KubeObject): string =>
  JSON.stringify(object, (_name, value) => {
    if (Array.isArray(value)) return [...value, ...value]
    return isMap(value) ? { ...value, theirs: `number ${THEIRS}` } : value
  }).replaceAll(`"number ${THEIRS}"`, THEIRS)

// TypeScript knows of neither yet: https://github.com/tc39/proposal-json-parse-with-source
const exactly = JSON as unknown as {
  rawJSON(text: string): object
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { readonly source: string }) => unknown,
  ): object
}
const readExactly = (text: string) =>
  exactly.parse(text, (_name, value, { source }) =>
    typeof value === 'number' ? exactly.rawJSON(source) : value,
  )

const corrections = (check: (text: string, correction: Correction) => void, numRuns = runs(200)) =>
  fc.assert(
    fc.property(anyObject, anyObject, anyObject, (old, live, desired) => {
      const lists = Object.entries(desired.spec as object).filter(([, value]) =>
        Array.isArray(value),
      )
      const text = withTheirs(
        objectWith({ ...Object.fromEntries(lists), ...(live.spec as object) }),
      )
      const correction = correct({ tree, incoming: JSON.parse(text), old, desired })
      // fast-json-patch, which applies the operations here, refuses that name; Go's, in the API server, does not.
      fc.pre(!correction.operations.some(({ path }) => path.split('/').includes('__proto__')))
      check(text, correction)
    }),
    { seed, numRuns },
  )

t.test('a correction as operations makes the corrected object, and none for none', async (t) => {
  let edits = 0
  corrections((text, { corrected, operations, drifts }) => {
    const { newDocument } = jsonPatch.applyPatch(JSON.parse(text), [...operations], true)
    t.same(newDocument, corrected)
    t.equal(operations.length === 0, drifts.length === 0)
    edits += operations.length
  })
  t.ok(edits > runs(200), `${edits}`)
})

t.test('what is not managed keeps its bytes through every correction', async (t) => {
  let removals = 0
  corrections((text, { corrected, operations }) => {
    const { newDocument } = jsonPatch.applyPatch(readExactly(text), [...operations])
    const stored = JSON.stringify(newDocument)
    t.notMatch(stored, /9007199254740992/)
    const left = JSON.stringify(corrected).match(/"theirs"/g)?.length
    t.equal(stored.match(new RegExp(`"theirs":${THEIRS}`, 'g'))?.length, left)
    removals += operations.filter(({ op }) => op === 'remove').length
  })
  t.ok(removals > 20, `${removals}`)
})

t.test('drops the repeats of list items, whatever lies beside and within them', async (t) => {
  const incoming = objectWith({
    byName: [
      { name: 'b', more: 1 },
      { name: 'a', value: 'x' },
      { name: 'c', more: 2 },
      { name: 'a', value: 'y' },
      { name: 'a' },
      { name: 'd', more: 3 },
    ],
    set: ['x', 'a', 'x', 'y'],
  })
  const desired = objectWith({
    byName: [{ name: 'a', value: '1' }, { name: 'e' }, { name: 'd', value: '2' }],
    set: ['x', 'z'],
  })
  const { operations } = correct({ tree, incoming, old: undefined, desired })
  t.strictSame(operations, [
    { op: 'replace', path: '/spec/byName/1', value: { name: 'a', value: '1' } },
    { op: 'add', path: '/spec/byName/6', value: { name: 'e' } },
    { op: 'add', path: '/spec/byName/5/value', value: '2' },
    { op: 'replace', path: '/spec/set/0', value: 'x' },
    { op: 'add', path: '/spec/set/4', value: 'z' },
    { op: 'remove', path: '/spec/byName/4' },
    { op: 'remove', path: '/spec/byName/3' },
    { op: 'remove', path: '/spec/set/2' },
  ])
})

t.test('leaves a write alone that changes nothing', async () => {
  holds((object, desired) => {
    const incoming = JSON.parse(JSON.stringify(object))
    const { corrected, drifts } = correct({ tree, incoming, old: object, desired })
    return corrected === incoming && drifts.length === 0
  })
})

t.test('keeps what the object is and every field that is not desired', async () => {
  holds((live, desired) => {
    const merged = merge(tree, live, desired)
    const spec = merged.spec as Record<string, unknown>
    const [before, wanted] = [live.spec, desired.spec] as Record<string, unknown>[]
    return (
      merged.kind === live.kind &&
      merged.metadata === live.metadata &&
      Object.keys(before ?? {}).every(
        (name) => name in (wanted ?? {}) || spec[name] === before?.[name],
      )
    )
  })
})
