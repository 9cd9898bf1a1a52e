import fc from 'fast-check'
import t from 'tap'
import { drift } from '../../../../src/shared/engine/merge/merge.ts'
import type { FieldPath } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { pointersOf } from '../../../../src/shared/engine/merge/pointer-of.ts'
import { anyObject, objectWith, seed, tree } from './schemas.ts'

const object = objectWith({
  text: 't',
  map: { a: '1' },
  free: { 'a/b': { 'm~n': 1 } },
  set: ['a', 'b'],
  list: ['x'],
  byName: [{ name: 'a' }, { name: 'b', value: '2' }],
  ports: [{ port: 53, protocol: 'UDP' }, { port: 53 }],
})

const spec = { field: 'spec' }
const fields = (...names: readonly string[]): FieldPath => [
  spec,
  ...names.map((field) => ({ field })),
]

const vectors: readonly (readonly [what: string, path: FieldPath, pointer: string | undefined])[] =
  [
    ['the object itself', [], ''],
    ['a field', fields('text'), '/spec/text'],
    ['a field that is not there', fields('map', 'b'), '/spec/map/b'],
    ['a field beneath one that is not there', fields('dict', 'k', 'x'), '/spec/dict/k/x'],
    ['a field that the schema does not know', fields('unknown', 'x'), '/spec/unknown/x'],
    ['an inherited name', fields('free', 'toString', 'name'), '/spec/free/toString/name'],
    ['names that need escapes', fields('free', 'a/b', 'm~n'), '/spec/free/a~1b/m~0n'],
    ['a member of a set', [...fields('set'), { value: 'b' }], '/spec/set/1'],
    ['a member that the set does not hold', [...fields('set'), { value: 'z' }], '/spec/set/-'],
    ['an item by its key', [...fields('byName'), { key: { name: 'b' } }], '/spec/byName/1'],
    [
      'an item by several keys',
      [...fields('ports'), { key: { port: 53, protocol: 'UDP' } }],
      '/spec/ports/0',
    ],
    [
      'an item by a key with a default',
      [...fields('ports'), { key: { protocol: 'TCP', port: 53 } }],
      '/spec/ports/1',
    ],
    [
      'a field of an item',
      [...fields('byName'), { key: { name: 'b' } }, { field: 'value' }],
      '/spec/byName/1/value',
    ],
    [
      'an item that the list does not hold',
      [...fields('byName'), { key: { name: 'z' } }],
      '/spec/byName/-',
    ],
    [
      'a field of an item that the list does not hold',
      [...fields('byName'), { key: { name: 'z' } }, { field: 'value' }],
      undefined,
    ],
    ['an item of what is no list', [...fields('text'), { key: { name: 'a' } }], '/spec/text/-'],
    ['an item of an atomic list', [...fields('list'), { value: 'x' }], '/spec/list/-'],
  ]

for (const [what, path, pointer] of vectors) {
  t.test(`points to ${what}: ${pointer ?? 'nowhere'}`, async (t) => {
    t.equal(pointersOf(tree, object)(path), pointer)
  })
}

t.test('agrees with the pointer of each value that differs between any two objects', async (t) => {
  const property = fc.property(anyObject, anyObject, (live, desired) => {
    for (const { kind, path, pointer } of drift(tree, live, desired)) {
      if (kind === 'different') t.equal(pointersOf(tree, live)(path), pointer)
    }
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})
