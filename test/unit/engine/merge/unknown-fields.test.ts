import t from 'tap'

import { ATOMIC, DEDUCED, type MergeTree } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { unknownFields } from '../../../../src/shared/engine/merge/schema-misfits.ts'

const spec: MergeTree = {
  type: 'map',
  fields: {
    known: ATOMIC,
    anything: DEDUCED,
    open: { type: 'map', fields: {}, rest: ATOMIC },
    items: {
      type: 'list',
      keys: ['name'],
      defaults: {},
      items: { type: 'map', fields: { name: ATOMIC } },
    },
    members: { type: 'set' },
  },
}
const tree: MergeTree = { type: 'map', fields: { apiVersion: ATOMIC, kind: ATOMIC, spec } }

t.test('finds what the schema does not know, and nothing else', async (t) => {
  const cases: [behaviour: string, content: object, pointers: string[]][] = [
    [
      'known fields',
      { known: { a: 1 }, members: ['a'], anything: { b: { c: 1 } }, open: { d: 1 } },
      [],
    ],
    ['an unknown field', { unknwon: 1 }, ['/spec/unknwon']],
    ['what is beneath it is not told again', { unknown: { a: { b: 1 } } }, ['/spec/unknown']],
    [
      'a field of a list item',
      { items: [{ name: 'a' }, { name: 'b', nmae: 1 }] },
      ['/spec/items/1/nmae'],
    ],
    ['a value of another shape', { items: { a: 1 }, open: [1], members: {} }, []],
    ['a key that needs escapes', { 'a/b': 1 }, ['/spec/a~1b']],
    ['an inherited name', { toString: 1 }, ['/spec/toString']],
  ]
  for (const [behaviour, content, pointers] of cases) {
    t.same(
      unknownFields(tree, { apiVersion: 'v1', kind: 'X', metadata: { any: 1 }, spec: content }),
      pointers,
      behaviour,
    )
  }
})

t.test('names no more than anybody reads', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]))
  t.equal(unknownFields(tree, { spec: many }).length, 20)
})
