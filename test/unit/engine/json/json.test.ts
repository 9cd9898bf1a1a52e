import fc from 'fast-check'
import t from 'tap'
import {
  byteLength,
  isDeeper,
  isExact,
  parseJson,
} from '../../../../src/shared/engine/json/json.ts'

t.test('parses strict JSON', async (t) => {
  const texts = [
    'null',
    '"\\ud800 \\u2028 \\/"',
    '-0.5e-3',
    '[9007199254740991, -9007199254740991]',
    '\t{"a": {"b": 1}, "b": [{"b": 2}, {"b": 3}]}\r\n',
    '['.repeat(64) + ']'.repeat(64),
  ]
  for (const text of texts) t.same(parseJson(text), { ok: true, value: JSON.parse(text) }, text)
})

t.test('says what is wrong with other text, and where', async (t) => {
  const vectors: [text: string, error: string][] = [
    ['', 'value expected at offset 0 (line 1, column 1)'],
    ['[1,\n]', 'value expected at offset 4 (line 2, column 1)'],
    ['{"a":1,}', 'property name expected at offset 7 (line 1, column 8)'],
    ['[1 2]', 'comma expected at offset 3 (line 1, column 4)'],
    ['{"a" 1}', 'colon expected at offset 5 (line 1, column 6)'],
    ['[1', 'close bracket expected at offset 2 (line 1, column 3)'],
    ['{"a":1', 'close brace expected at offset 6 (line 1, column 7)'],
    ['{} {}', 'end of file expected at offset 3 (line 1, column 4)'],
    ['\ufeff[]', 'invalid symbol at offset 0 (line 1, column 1)'],
    ['[NaN]', 'invalid symbol at offset 1 (line 1, column 2)'],
    ["['a']", 'invalid symbol at offset 1 (line 1, column 2)'],
    ['[1] // why', 'invalid comment token at offset 4 (line 1, column 5)'],
    ['["secret', 'unexpected end of string at offset 1 (line 1, column 2)'],
    ['"\\x41"', 'invalid escape character at offset 0 (line 1, column 1)'],
    ['"\t"', 'invalid character at offset 0 (line 1, column 1)'],
    ['01', 'end of file expected at offset 1 (line 1, column 2)'],
    ['{"a":1,"b":{"a":2},"a":3}', 'duplicate member "a" at offset 19 (line 1, column 20)'],
    ['{"op":1,"\\u006fp":2}', 'duplicate member "op" at offset 8 (line 1, column 9)'],
    [
      `{"${'n'.repeat(99)}":1,"${'n'.repeat(99)}":2}`,
      `duplicate member "${'n'.repeat(64)}" at offset 105 (line 1, column 106)`,
    ],
    ['9007199254740992', 'number too large to be kept exactly at offset 0 (line 1, column 1)'],
    ['[1e400]', 'number too large to be kept exactly at offset 1 (line 1, column 2)'],
    ['{"a":-1e20}', 'number too large to be kept exactly at offset 5 (line 1, column 6)'],
    [
      '['.repeat(65) + ']'.repeat(65),
      'more than 64 levels of nesting at offset 64 (line 1, column 65)',
    ],
    ['{"a":'.repeat(100_000), 'more than 64 levels of nesting at offset 320 (line 1, column 321)'],
  ]
  for (const [text, error] of vectors) {
    t.same(parseJson(text), { ok: false, error }, JSON.stringify(text).slice(0, 80))
  }
})

t.test('reads a member called __proto__ as content', async (t) => {
  const parsed = parseJson('{"__proto__": {"allowed": true}}')
  t.ok(parsed.ok && Object.hasOwn(Object(parsed.value), '__proto__'))
  t.equal(Object.getPrototypeOf(parsed.ok && parsed.value), Object.prototype)
  t.same(Object.keys(Object.prototype), [])
})

t.test('agrees with JSON.parse on everything that it accepts', async () => {
  const texts = fc.oneof(
    fc.json(),
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n-+.0e1atru/*') }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const parsed = parseJson(text)
      return !parsed.ok || JSON.stringify(parsed.value) === JSON.stringify(JSON.parse(text))
    }),
  )
})

t.test('accepts whatever JSON.stringify writes of numbers it can keep', async () => {
  const values = fc.jsonValue({ maxDepth: 5 }).filter((value) => !/\d{16}|e\+/.test(str(value)))
  fc.assert(fc.property(values, (value) => parseJson(str(value)).ok))
})

const str = (value: unknown) => JSON.stringify(value)

t.test('measures depth, size and exactness', async (t) => {
  const values = [7, null, {}, [], { a: [{}], b: 1 }]
  t.same(
    values.map((value) => [0, 1, 2, 3].find((limit) => !isDeeper(value, limit))),
    [0, 0, 1, 1, 3],
  )
  t.same(['', 'a', 'é', '€', '😀'].map(byteLength), [0, 1, 2, 3, 4])
  const numbers = [0, -1.5, 2 ** 53 - 1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY]
  t.same(numbers.map(isExact), [true, true, true, false, false, false])
})
