import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { IGNORE_FIELDS, PATCH } from '../../../../../src/shared/baseline/annotations.ts'
import {
  annotateCommand,
  quote,
  unmanageCommand,
} from '../../../../../src/shared/baseline/kubectl.ts'
import { plan } from '../../../../../src/shared/baseline/planner.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { correct, drift } from '../../../../../src/shared/engine/merge/merge.ts'
import { ATOMIC } from '../../../../../src/shared/engine/merge/merge-tree.ts'
import {
  editOperations,
  withEdits,
} from '../../../../../src/webhook/baseline/decide/edit-operations.ts'
import {
  ignoreFor,
  patchFor,
  writtenIn,
} from '../../../../../src/webhook/baseline/decide/remedy.ts'
import { excludeCommand } from '../../../../../src/webhook/baseline/words/deletion-messages.ts'
import { anyObject, objectWith, seed, tree } from '../../../engine/merge/schemas.ts'
import { runs } from '../../../runs.ts'

/** The words that a POSIX shell makes of a text. */
const wordsOf = (text: string) =>
  execFileSync('sh', ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)

const HOSTILE = `it's "so" $HOME \`reboot\` $(reboot) \\ \\' !! * ? [a] {b,c} ~ # & | ; < > %s ''`

t.test('quotes any word so that a shell gives it back', async (t) => {
  const words = ['', 'plain', '~', 'a=~:~', '-n', HOSTILE, "'", "''", 'ü\u202e\n\t', '$', '\\']
  t.strictSame(wordsOf(words.map(quote).join(' ')), words)
  const anyWord = fc
    .string({ unit: 'binary', maxLength: 20 })
    .filter((word) => !word.includes('\0') && word.isWellFormed())
  fc.assert(
    fc.property(fc.array(anyWord, { minLength: 1, maxLength: 40 }), (all) => {
      t.strictSame(wordsOf(all.map(quote).join(' ')), all)
    }),
    { seed, numRuns: runs(5) },
  )
})

t.test('quotes nothing that needs no quotes', async (t) => {
  for (const word of ['mode=unmanaged', '/spec/a,/spec/b', 'a.b@c:d+1']) t.equal(quote(word), word)
})

t.test('writes a command of exactly the words that kubectl needs', async (t) => {
  const object = { kind: 'Sort', metadata: { name: 'one', namespace: 'here' } }
  t.strictSame(wordsOf(annotateCommand(object, PATCH, HOSTILE)), [
    'kubectl',
    'annotate',
    'sort',
    '-n',
    'here',
    'one',
    '--overwrite',
    `${PATCH}=${HOSTILE}`,
  ])
  t.equal(
    unmanageCommand({ kind: 'Sort', metadata: { name: 'one' } }),
    'kubectl annotate sort one --overwrite platform.kubevirt.io/mode=unmanaged',
  )
  t.equal(
    excludeCommand('b', object, [{ asset: 'a*' }, { kind: 'K', name: 'n' }]),
    `kubectl annotate sort -n here one --overwrite platform.kubevirt.io/disabled-resources='["a*",{"kind":"K","name":"n"},"b"]'`,
  )
})

interface EditCase {
  readonly says: string
  readonly baseline: unknown
  readonly object: unknown
  readonly annotations?: Readonly<Record<string, string>>
  readonly patch?: readonly object[] | undefined
  readonly ignore?: string | undefined
}

const add = (path: string, value: unknown) => ({ op: 'add', path, value })
const remove = (path: string) => ({ op: 'remove', path })
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })

const edits: readonly EditCase[] = [
  {
    says: 'a field set otherwise',
    baseline: { text: 'a', map: { a: '1' } },
    object: { text: 'b', map: { a: '1' } },
    patch: [add('/spec/text', 'b')],
    ignore: '/spec/text',
  },
  {
    says: 'a field left out',
    baseline: { text: 'a', map: { a: '1', b: '2' } },
    object: { text: 'a', map: { b: '2' } },
    patch: [remove('/spec/map/a')],
    ignore: '/spec/map/a',
  },
  {
    says: 'a map that goes with its fields',
    baseline: { text: 'a', map: { a: '1', inner: { c: '3' } } },
    object: { text: 'a' },
    patch: [remove('/spec/map')],
    ignore: '/spec/map/a,/spec/map/inner/c',
  },
  {
    says: 'a map that stays without its fields',
    baseline: { text: 'a', map: { a: '1', inner: { c: '3' } } },
    object: { text: 'a', map: {} },
    patch: [remove('/spec/map/inner'), remove('/spec/map/a')],
    ignore: '/spec/map/a,/spec/map/inner/c',
  },
  {
    says: 'a map that became something else',
    baseline: { text: 'a', map: { a: '1' } },
    object: { text: 'a', map: 'x' },
    patch: [remove('/spec/map')],
    ignore: '/spec/map/a',
  },
  {
    says: 'fields of list items, found by their keys',
    baseline: {
      byName: [
        { name: 'a', value: '1' },
        { name: 'b', value: '2' },
      ],
    },
    object: { byName: [{ name: 'b', value: 'x' }, { name: 'a' }] },
    patch: [add('/spec/byName/1/value', 'x'), remove('/spec/byName/0/value')],
    ignore: '/spec/byName/0/value,/spec/byName/1/value',
  },
  {
    says: 'list items that are left out, the last first',
    baseline: { byName: [{ name: 'a', value: '1' }, { name: 'b' }, { name: 'c' }] },
    object: { byName: [{ name: 'b' }] },
    patch: [remove('/spec/byName/2'), remove('/spec/byName/0')],
    ignore: '/spec/byName/0,/spec/byName/2',
  },
  {
    says: 'a list that is left out',
    baseline: { text: 'a', byName: [{ name: 'a', value: '1' }] },
    object: { text: 'a' },
    patch: [remove('/spec/byName')],
    ignore: '/spec/byName/0',
  },
  {
    says: 'members of a set, which only the set can be owned with',
    baseline: { text: 'a', set: ['a', 'b', 'c'] },
    object: { text: 'a', set: ['b'] },
    patch: [remove('/spec/set/2'), remove('/spec/set/0')],
    ignore: undefined,
  },
  {
    says: 'keys with signs of their own',
    baseline: { dict: { 'a/b~c,d': { x: '1' } } },
    object: { dict: { 'a/b~c,d': { x: '2' } } },
    patch: [add('/spec/dict/a~1b~0c,d/x', '2')],
    ignore: '["/spec/dict/a~1b~0c,d/x"]',
  },
  {
    says: 'keys that nobody sees',
    baseline: { dict: { 'a\u202e': { x: '1' } } },
    object: { dict: { 'a\u202e': { x: '2' } } },
    patch: [add('/spec/dict/a\u202e/x', '2')],
    ignore: '["/spec/dict/a\\u202e/x"]',
  },
  {
    says: 'an edit beside a patch and fields that are ignored',
    baseline: { text: 'a', map: { a: '1', b: '2' }, list: ['x'] },
    object: { text: 'b', map: { a: '9', b: '2' }, list: ['y'] },
    annotations: {
      [PATCH]: '[{"op":"add","path":"/spec/list","value":["y"]}]',
      [IGNORE_FIELDS]: ' ["/spec/map/a"]',
    },
    patch: [add('/spec/list', ['y']), add('/spec/text', 'b')],
    ignore: '/spec/map/a,/spec/text',
  },
  {
    says: 'another value than that of a patch',
    baseline: { text: 'a', map: { a: '1' } },
    object: { text: 'c', map: { a: '1' } },
    annotations: {
      [PATCH]: '[{"op":"add","path":"/spec/text","value":"b"},{"op":"remove","path":"/spec/map"}]',
    },
    patch: [remove('/spec/map'), add('/spec/text', 'c')],
    ignore: '/spec/text',
  },
  {
    says: 'a field that is left out, which only a patch had added',
    baseline: { text: 'a' },
    object: { text: 'a' },
    annotations: { [PATCH]: '[{"op":"add","path":"/spec/list","value":["y"]}]' },
    patch: [],
    ignore: '/spec/list',
  },
  {
    says: 'another item than a patch has put there, before one of the baseline',
    baseline: { byName: [{ name: 'a', value: '1' }] },
    object: {
      byName: [
        { name: 'z', value: '2' },
        { name: 'a', value: '1' },
      ],
    },
    annotations: {
      [PATCH]:
        '[{"op":"add","path":"/spec/byName/0","value":{"name":"z","value":"1"}},{"op":"replace","path":"/spec/byName/0/value","value":"3"}]',
    },
    patch: [add('/spec/byName/0', { name: 'z', value: '1' }), add('/spec/byName/0/value', '2')],
    ignore: '/spec/byName/0/value',
  },
  {
    says: 'a field of an item that a patch has put there',
    baseline: { byName: [{ name: 'a' }] },
    object: { byName: [{ name: 'z', value: '2' }, { name: 'a' }] },
    annotations: {
      [PATCH]: '[{"op":"add","path":"/spec/byName/0","value":{"name":"z","value":"1"}}]',
    },
    patch: [add('/spec/byName/0', { name: 'z', value: '1' }), add('/spec/byName/0/value', '2')],
    ignore: '/spec/byName/0/value',
  },
  {
    says: 'an item that the list holds twice, which no object may have',
    baseline: { byName: [{ name: 'a', value: '1' }] },
    object: { byName: [{ name: 'a' }, { name: 'a' }] },
    patch: undefined,
    ignore: '/spec/byName/0',
  },
  {
    says: 'a spec that is left out',
    baseline: { text: 'a' },
    object: undefined,
    patch: undefined,
    ignore: '/spec/text',
  },
  {
    says: 'a number that JavaScript cannot hold',
    baseline: { text: 'a' },
    object: { text: 2 ** 60 },
    patch: undefined,
    ignore: '/spec/text',
  },
  {
    says: 'the key of a list item, which it is still known by',
    baseline: { ports: [{ port: 1, protocol: 'TCP', name: 'a' }] },
    object: { ports: [{ port: 1, name: 'a' }] },
    patch: [remove('/spec/ports/0/protocol')],
    ignore: '/spec/ports/0',
  },
]

for (const { says, baseline, object, annotations, ...expected } of edits) {
  t.test(`finds the way out for ${says}`, async (t) => {
    const wanted = objectWith(baseline)
    const edited = objectWith(object, annotations && { annotations })
    const decision = plan({ baseline: wanted, object: edited, tree, isSensitive: false })
    if (decision.kind !== 'enforce') throw new Error('the overrides of this test are valid')
    const drifts = drift(tree, edited, decision.desired)
    const edit = { object: edited, baseline: wanted, tree, drifts }
    const patch = patchFor(edit)
    t.strictSame(patch && JSON.parse(patch), expected.patch)
    t.equal(ignoreFor(edit), expected.ignore)
  })
}

t.test('says nothing where the overrides in force are not valid', async (t) => {
  const baseline = objectWith({ text: 'a' })
  const object = objectWith({ text: 'b' }, { annotations: { [PATCH]: '[' } })
  const edit = { object, baseline, tree, drifts: drift(tree, object, baseline) }
  t.strictSame([patchFor(edit), ignoreFor(edit)], [undefined, undefined])
})

t.test('names no field of one segment on a sensitive kind, and reads no patch there', async (t) => {
  const baseline = objectWith({})
  const object = objectWith('x', { annotations: { [PATCH]: '[' } })
  const edit = { object, baseline, tree, drifts: drift(tree, object, baseline), isSensitive: true }
  t.equal(ignoreFor(edit), undefined)
})

t.test('makes the edit legitimate whenever it finds a way out', async (t) => {
  let found = 0
  fc.assert(
    fc.property(anyObject, anyObject, (baseline, object) => {
      const drifts = drift(tree, object, baseline)
      const edit = { object, baseline, tree, drifts }
      for (const [key, value] of [
        [PATCH, patchFor(edit)] as const,
        [IGNORE_FIELDS, ignoreFor(edit)] as const,
      ]) {
        if (value === undefined || drifts.length === 0) continue
        found++
        const annotated: KubeObject = {
          ...object,
          metadata: { ...object.metadata, annotations: { [key]: value } },
        }
        const decision = plan({ baseline, object: annotated, tree, isSensitive: false })
        if (decision.kind !== 'enforce') throw new Error(`invalid: ${value}`)
        t.strictSame(drift(tree, annotated, decision.desired), [], value)
      }
    }),
    { seed, numRuns: runs(100) },
  )
  t.ok(found > 20)
})

t.test('takes for written what is neither left out nor a default in its place', async (t) => {
  const drift = (pointer: string, found?: unknown) =>
    ({
      path: [],
      pointer,
      kind: found === undefined ? 'missing' : 'different',
      found,
      wanted: 0,
    }) as const
  const [gone, changed, filled] = [drift('/spec/a'), drift('/spec/b', 1), drift('/spec/c', [2])]
  const defaults = { '/spec/b': 3, '/spec/c': [2] }
  t.same(writtenIn([gone, changed, filled], defaults), [changed])
  t.same(writtenIn([changed, filled], defaults), [changed, filled], 'where nothing is left out')
  t.same(writtenIn([gone, filled], defaults), [gone, filled], 'where nothing is written')
  t.same(writtenIn([gone, changed, filled], {}), [changed, filled])
})

t.test('concedes what an object has, so that a write is put back to that', async (t) => {
  let found = 0
  fc.assert(
    fc.property(anyObject, anyObject, (desired, object) => {
      const granted = withEdits(tree, desired, object)
      if (!granted) return
      found++
      t.strictSame(drift(tree, object, granted), [])
      t.strictSame(
        correct({ tree, incoming: object, old: undefined, desired: granted }).corrected,
        object,
      )
    }),
    { seed, numRuns: runs(100) },
  )
  t.ok(found > 20)
})

t.test('concedes nothing where that cannot be said', async (t) => {
  const desired = objectWith({ byName: [{ name: 'a', value: '1' }] })
  t.equal(
    withEdits(tree, desired, objectWith({ byName: [{ name: 'a' }, { name: 'a' }] })),
    undefined,
  )
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`k${index}`, 'x']))
  t.equal(withEdits(tree, objectWith({ free: many }), objectWith({ free: {} })), undefined)
  const path = [{ field: 'spec' }, { field: 'byName' }, { key: { name: 'b' } }, { field: 'more' }]
  const drifts = [{ path, pointer: '', kind: 'different', found: 'x', wanted: 'y' }] as const
  t.equal(editOperations({ tree, desired, object: objectWith({}), drifts }), undefined)
})

t.test('concedes the outermost container that is not there', async (t) => {
  const step = (field: string) => ({ field })
  const path = [step('spec'), step('byName'), { key: { name: 'b' } }, step('more'), step('x')]
  const drifts = [{ path, pointer: '', kind: 'missing', found: undefined, wanted: 'y' }] as const
  const desired = objectWith({ byName: [{ name: 'b', more: { x: 'y' } }] })
  t.strictSame(editOperations({ tree, desired, object: objectWith({}), drifts }), [
    remove('/spec/byName'),
  ])
})

t.test('concedes everything under a schema that tells nothing apart', async (t) => {
  t.strictSame(withEdits(ATOMIC, objectWith({ text: 'a' }), objectWith('x')), objectWith('x'))
})

t.test('finds no patch for a value nested deeper than any patch may be', async (t) => {
  const deep = Array.from({ length: 9_000 }).reduce<unknown>((inner) => [inner], [])
  const baseline = objectWith({ text: 'a' })
  const object = { ...baseline, spec: { text: deep } }
  const edit = { object, baseline, tree, drifts: drift(tree, object, baseline) }
  t.strictSame([patchFor(edit), ignoreFor(edit)], [undefined, '/spec/text'])
})

t.test('concedes a whole item where the list replaces its items whole', async (t) => {
  const owner = (uid: string, name: string) => ({ apiVersion: 'v1', kind: 'K', name, uid })
  const owned = (name: string) => objectWith({}, { ownerReferences: [owner('u', name)] })
  const drifts = drift(tree, owned('b'), owned('a'))
  t.strictSame(editOperations({ tree, desired: owned('a'), object: owned('b'), drifts }), [
    replace('/metadata/ownerReferences/0', owner('u', 'b')),
  ])
})

t.test('concedes no name that reaches a prototype', async (t) => {
  for (const name of ['constructor', '__proto__']) {
    const inner = (value: object) => JSON.parse(`{"${name}":{"a":${JSON.stringify(value)}}}`)
    const desired = objectWith({ free: inner({ b: 1 }) })
    const object = objectWith({ free: inner({}) })
    t.equal(withEdits(tree, desired, object), undefined)
  }
})
