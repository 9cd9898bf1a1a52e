import fc from 'fast-check'
import t from 'tap'

import { differencesOf } from '../../../../src/shared/baseline/machine-config/differences.ts'
import { isEqual } from '../../../../src/shared/engine/json/equal.ts'
import { seed } from '../../engine/merge/schemas.ts'
import { anything, nested } from '../catalog/machine-configs.ts'

const cases: readonly (readonly [
  before: unknown,
  after: unknown,
  differences: readonly string[],
])[] = [
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, ['field /spec/a changed']],
  [{}, { a: 1 }, ['field /spec/a added']],
  [{ a: 1 }, {}, ['field /spec/a removed']],
  [{ a: null }, {}, ['field /spec/a removed']],
  [
    { a: { b: 1, c: 2 }, d: 3 },
    { a: { b: 2, c: 2 }, e: 3 },
    ['field /spec/a/b changed', 'field /spec/d removed', 'field /spec/e added'],
  ],
  [{ a: [1, 2] }, { a: [2, 1] }, ['field /spec/a changed']],
  [{ a: {} }, { a: [] }, ['field /spec/a changed']],
  [{ 'a/b~c': 1 }, {}, ['field /spec/a~1b~0c removed']],
  [{ 'a\u001b[2J': 1 }, {}, ['field /spec/a\\u001b[2J removed']],
  [
    { constructor: 1 },
    { toString: 1 },
    ['field /spec/constructor removed', 'field /spec/toString added'],
  ],
  [JSON.parse('{"__proto__": 1}'), {}, ['field /spec/__proto__ removed']],
  [undefined, { a: 1 }, ['field /spec added']],
  [1, undefined, ['field /spec removed']],
]

for (const [before, after, differences] of cases) {
  t.test(`from ${JSON.stringify(before)} to ${JSON.stringify(after)}`, async (t) => {
    t.strictSame(differencesOf(before, after, '/spec'), differences)
  })
}

t.test('there are differences exactly where the values are not equal', async (t) => {
  const property = fc.property(anything, anything, (before, after) => {
    t.equal(differencesOf(before, after, '').length === 0, isEqual(before, after))
    t.strictSame(differencesOf(before, before, ''), [])
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('a difference too deep to be named is one of the field above it', async (t) => {
  const maps = (depth: number, value: unknown) => {
    let map: unknown = value
    for (let level = 0; level < depth; level++) map = { a: map }
    return map
  }
  t.strictSame(differencesOf(maps(100_000, 1), maps(100_000, 2), ''), [
    `field ${'/a'.repeat(126)}/… changed`,
  ])
  const [one, two] = [maps(200, { a: 1, b: 1 }), maps(200, { a: 2, b: 2 })]
  t.equal(differencesOf(one, two, '').length, 1)
  t.strictSame(differencesOf(nested(100_000), nested(100_000), ''), [])
})

t.test('a name that fills the memory is cut', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`m${index}`, 1]))
  const found = differencesOf(
    { ['x'.repeat(1_000_000)]: members },
    { ['x'.repeat(1_000_000)]: {} },
    '',
  )
  t.equal(found.length, 20_000)
  t.equal(found[0], `field /${'x'.repeat(128)}/m0 removed`)
})
