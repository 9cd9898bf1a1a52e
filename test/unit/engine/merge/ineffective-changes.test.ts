import t from 'tap'
import { ineffectiveChanges } from '../../../../src/shared/engine/merge/ineffective-changes.ts'
import type { FieldPath } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { objectWith, tree } from './schemas.ts'

const path = (...names: readonly string[]): FieldPath => names.map((field) => ({ field }))
const item = (name: string): FieldPath => [...path('spec', 'byName'), { key: { name } }]

const cases: readonly (readonly [
  behaviour: string,
  baseline: unknown,
  patched: unknown,
  released: readonly FieldPath[],
  pointers: readonly string[],
])[] = [
  ['nothing is changed', { text: 'a' }, { text: 'a' }, [path('spec', 'text')], []],
  [
    'another field is released',
    { text: 'a' },
    { text: 'b', map: { a: '1' } },
    [path('spec', 'map')],
    ['/spec/map/a'],
  ],
  ['the field is released', { text: 'a' }, { text: 'b' }, [path('spec', 'text')], ['/spec/text']],
  [
    'a parent is released',
    { map: { a: '1' } },
    { map: { a: '2', b: '3' } },
    [path('spec', 'map')],
    ['/spec/map/a', '/spec/map/b'],
  ],
  [
    'what it removes is released with its parent',
    { map: { a: '1', b: '2' } },
    { map: { a: '1' } },
    [path('spec', 'map')],
    ['/spec/map/b'],
  ],
  [
    'a sibling with the same beginning',
    { map: { a: '1' }, text: 'a' },
    { map: { a: '2' }, text: 'b' },
    [path('spec', 'te'), path('spec', 'map', 'b')],
    [],
  ],
  [
    'an item that it moves away keeps its key',
    { byName: [{ name: 'a', value: '1' }] },
    { byName: [{ name: 'z' }, { name: 'a', value: '1' }] },
    [item('a')],
    [],
  ],
  [
    'a field of an item, by its place in the patched list',
    { byName: [{ name: 'a', value: '1' }] },
    { byName: [{ name: 'z' }, { name: 'a', value: '2' }] },
    [[...item('a'), { field: 'value' }]],
    ['/spec/byName/1/value'],
  ],
  [
    'a part of an item that it puts there',
    { byName: [{ name: 'a' }] },
    { byName: [{ name: 'z', value: '1' }, { name: 'a' }] },
    [[...item('z'), { field: 'value' }]],
    ['/spec/byName/0/value'],
  ],
  [
    'a value that it replaces whole',
    { list: ['a'] },
    { list: ['b'] },
    [path('spec', 'list')],
    ['/spec/list'],
  ],
]

t.test('names where a patch has no effect', async (t) => {
  for (const [behaviour, baseline, patched, released, pointers] of cases) {
    const input = { tree, baseline: objectWith(baseline), patched: objectWith(patched), released }
    t.same(ineffectiveChanges(input), pointers, behaviour)
  }
})

t.test('tells of labels too', async (t) => {
  const [baseline, patched] = [{ a: '1' }, { a: '2' }].map((labels) => objectWith({}, { labels }))
  if (!baseline || !patched) throw new Error('there are two')
  const released = [path('metadata', 'labels', 'a')]
  t.same(ineffectiveChanges({ tree, baseline, patched, released }), ['/metadata/labels/a'])
})

t.test('names no more than anybody reads', async (t) => {
  const dict = (value: string) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, { x: value }]))
  const [baseline, patched] = [objectWith({ dict: dict('1') }), objectWith({ dict: dict('2') })]
  const released = [path('spec', 'dict')]
  t.equal(ineffectiveChanges({ tree, baseline, patched, released }).length, 20)
})
