import t from 'tap'
import { PATCH } from '../../../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { DEDUCED } from '../../../../../src/shared/engine/merge/merge-tree.ts'
import { cachedPerEdit, type Edit } from '../../../../../src/webhook/baseline/decide/remedy.ts'

const map = (data: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', annotations },
  data,
})
const baseline = map({ a: 1 })
const editTo = (found: unknown, changes: Partial<Edit> = {}): Edit => ({
  object: map({ a: found }),
  baseline,
  tree: DEDUCED,
  drifts: [
    {
      path: [{ field: 'data' }, { field: 'a' }],
      pointer: '/data/a',
      kind: found === undefined ? 'missing' : 'different',
      found,
      wanted: 1,
    },
  ],
  ...changes,
})

/** Finds, and counts how often it had to. */
function counting() {
  let count = 0
  return { find: cachedPerEdit(() => ({ count: ++count })), times: () => count }
}
function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = { a: value }
  return value
}

const FIRST = editTo(2)
const same: readonly (readonly [what: string, edit: Edit])[] = [
  ['the same edit', editTo(2)],
  ['the same beside what is not meant', editTo(2, { object: map({ a: 2, theirs: 'x' }) })],
]
const other: readonly (readonly [what: string, edit: Edit])[] = [
  ['another value', editTo(3)],
  ['another override in force', editTo(2, { object: map({ a: 2 }, { [PATCH]: '[]' }) })],
  ['another baseline', editTo(2, { baseline: map({ a: 1 }) })],
  ['another schema', editTo(2, { tree: { type: 'map', fields: {} } })],
]

for (const [what, edit] of same) {
  t.test(`${what} is not looked for again`, async (t) => {
    const { find, times } = counting()
    t.equal(find(FIRST), find(edit))
    t.equal(times(), 1)
  })
}

for (const [what, edit] of other) {
  t.test(`${what} is looked for`, async (t) => {
    const { find, times } = counting()
    t.not(find(FIRST), find(edit))
    t.equal(times(), 2)
  })
}

for (const [what, found] of [
  ['a field that is gone', undefined],
  ['a value as large as nobody repeats', 'x'.repeat(20_000)],
  ['a value nested deeper than JSON can be written', nested(10_000)],
] as const) {
  t.test(`${what} is looked for each time`, async (t) => {
    const { find, times } = counting()
    find(editTo(found))
    find(editTo(found))
    t.equal(times(), 2)
  })
}

t.test('of many edits the oldest is forgotten', async (t) => {
  const { find, times } = counting()
  for (let value = 0; value < 17; value++) find(editTo(`value ${value}`))
  find(editTo('value 16'))
  t.equal(times(), 17)
  find(editTo('value 0'))
  t.equal(times(), 18)
})
