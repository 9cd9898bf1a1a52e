import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../../../src/shared/engine/json/canonical.ts'
import { isMap } from '../../../../src/shared/engine/json/object.ts'
import { seed } from '../merge/schemas.ts'

const vectors: readonly (readonly [value: unknown, text: string])[] = [
  [{ b: 1, a: { d: 1, c: [{ f: 1, e: 1 }] } }, '{"a":{"c":[{"e":1,"f":1}],"d":1},"b":1}'],
  [{ B: 1, a: 1, A: 1 }, '{"A":1,"B":1,"a":1}'],
  [[2, 1], '[2,1]'],
  ['a', '"a"'],
  [null, 'null'],
  [{ a: undefined, b: null }, '{"b":null}'],
  [JSON.parse('{"b": 1, "__proto__": {"d": 1, "c": 1}}'), '{"__proto__":{"c":1,"d":1},"b":1}'],
]

for (const [value, text] of vectors) {
  t.test(`writes ${text}`, async (t) => {
    t.equal(canonicalJson(value), text)
  })
}

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  )
}

t.test('equal values give equal text, whatever the order of their members', async (t) => {
  const property = fc.property(fc.jsonValue(), (value) => {
    const json: unknown = JSON.parse(JSON.stringify(value))
    t.equal(canonicalJson(reversed(json)), canonicalJson(json))
    t.strictSame(JSON.parse(canonicalJson(json)), json, 'and lose nothing')
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('writes what nests deeper than calls can, in the very same way', async (t) => {
  const core = { b: [1, undefined, 'x"', { z: null, a: undefined, c: {} }, []], a: true }
  const wrap = (value: unknown) => ({ y: 1, x: [value] })
  const open = canonicalJson(wrap(0)).split('0')
  let value: unknown = core
  for (let level = 0; level < 20_000; level++) value = wrap(value)
  const [before = '', after = ''] = open
  t.ok(canonicalJson(value) === before.repeat(20_000) + canonicalJson(core) + after.repeat(20_000))
})

t.test('what is no JSON is not taken for what nests too deep', async (t) => {
  t.throws(() => canonicalJson({ a: 1n }), TypeError)
})
