import t from 'tap'
import { DEDUCED, type MergeTree } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { nullFields } from '../../../../src/shared/engine/merge/schema-misfits.ts'
import { crdTree, tree } from './schemas.ts'

const open: MergeTree = {
  type: 'map',
  fields: { named: DEDUCED },
  rest: DEDUCED,
}

const cases: readonly (readonly [
  behaviour: string,
  spec: unknown,
  pointers: readonly string[],
  tree?: MergeTree,
])[] = [
  ['no null', { text: 't', map: { a: '1' }, list: ['a'], free: { a: 1 } }, []],
  ['a field', { text: null }, ['/spec/text']],
  ['a field that is a container', { map: null, byName: null }, ['/spec/map', '/spec/byName']],
  ['a field in a map', { map: { inner: { c: null } } }, ['/spec/map/inner/c']],
  ['a value under any key', { dict: { 'a/b': null } }, ['/spec/dict/a~1b']],
  ['a field under any key', { dict: { k: { x: null } } }, ['/spec/dict/k/x']],
  ['a field of a list item', { byName: [{ name: 'a', value: null }] }, ['/spec/byName/0/value']],
  ['a list item', { byName: [null] }, ['/spec/byName/0']],
  ['a member of a set', { set: ['a', null] }, ['/spec/set/1']],
  ['an item of an atomic list', { list: [null] }, ['/spec/list/0']],
  ['inside an atomic value', { atomicMap: { a: { b: null } } }, ['/spec/atomicMap/a/b']],
  ['untyped content', { free: { a: null, b: [null], c: { d: [{ e: null }] } } }, []],
  ['an untyped field itself', { free: null }, ['/spec/free']],
  ['a key that the schema does not name, where it preserves', { any: null }, [], open],
  ['a key that it does name there', { named: null }, ['/spec/named'], open],
  ['an inherited name', { toString: null }, [], open],
]

t.test('finds the nulls that the API server would not keep', async (t) => {
  for (const [behaviour, spec, pointers, specTree] of cases) {
    const kind: MergeTree = specTree ? { type: 'map', fields: { spec: specTree } } : tree
    t.same(nullFields(kind, { metadata: { x: null }, spec }), pointers, behaviour)
  }
})

t.test('finds null for a field with a default and no type', async (t) => {
  const file = 'remediation/nodehealthchecks.remediation.medik8s.io.yaml'
  const spec = { minHealthy: null }
  t.same(nullFields(crdTree(file, 'v1alpha1'), { spec }), ['/spec/minHealthy'])
})

t.test('names no more than anybody reads', async (t) => {
  const dict = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, null]))
  t.equal(nullFields(tree, { spec: { dict } }).length, 20)
})
