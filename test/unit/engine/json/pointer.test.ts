import fc from 'fast-check'
import t from 'tap'
import {
  formatPointer,
  has,
  holdsReservedName,
  isListIndex,
  parsePointer,
  valueAt,
} from '../../../../src/shared/engine/json/pointer.ts'

const DOCUMENT = {
  plain: 1,
  nothing: null,
  '': { '': 'empty names' },
  'a/b': 'slash',
  'm~n': 'tilde',
  '~1': 'not a slash',
  ' ': 'space',
  list: ['zero', { deep: [false] }],
  length: 'a field like any other',
}

t.test('reads what a pointer leads to', async (t) => {
  const vectors: [pointer: string, value: unknown][] = [
    ['', DOCUMENT],
    ['/plain', 1],
    ['/nothing', null],
    ['/', { '': 'empty names' }],
    ['//', 'empty names'],
    ['/a~1b', 'slash'],
    ['/m~0n', 'tilde'],
    ['/~01', 'not a slash'],
    ['/ ', 'space'],
    ['/list', DOCUMENT.list],
    ['/list/0', 'zero'],
    ['/list/1/deep/0', false],
    ['/length', 'a field like any other'],
  ]
  for (const [pointer, value] of vectors) {
    const tokens = parsePointer(pointer)
    t.ok(tokens.ok && has(DOCUMENT, tokens.value), `${pointer} is there`)
    t.same(tokens.ok && valueAt(DOCUMENT, tokens.value), value, `${pointer} is read`)
    t.equal(tokens.ok && formatPointer(tokens.value), pointer, `${pointer} is written back`)
  }
})

t.test('reads names of RFC 6901 for what they are', async (t) => {
  const names: readonly (readonly [pointer: string, name: string])[] = [
    ['/per%20cent', 'per%20cent'],
    ['/c%25d', 'c%25d'],
    ['/e^f|g', 'e^f|g'],
    ['/i\\j', 'i\\j'],
    ['/k"l\u0027', 'k"l\''],
    ['/\u0000', '\u0000'],
    ['/é', 'é'],
    ['/e\u0301', 'e\u0301'],
    ['/\u{1F600}', '\u{1F600}'],
    ['/\ud800', '\ud800'],
    ['/0', '0'],
    ['/007', '007'],
    ['/-', '-'],
    ['/-1', '-1'],
    ['/.', '.'],
    ['/#', '#'],
    ['/a.b[0]', 'a.b[0]'],
    ['/~0~1', '~/'],
    ['/~1~0', '/~'],
    ['/~00', '~0'],
    ['/~001', '~01'],
    ['/~0~01', '~~1'],
    ['/~1~1', '//'],
  ]
  const document = Object.fromEntries(names.map(([, name], index) => [name, index]))
  for (const [index, [pointer, name]] of names.entries()) {
    const tokens = parsePointer(pointer)
    t.same(tokens, { ok: true, value: [name] }, pointer)
    t.equal(valueAt(document, [name]), index, pointer)
    t.equal(formatPointer([name]), pointer, 'and back')
  }
  t.same(parsePointer('/a//b/'), { ok: true, value: ['a', '', 'b', ''] }, 'empty names count')
})

t.test('finds nothing where the document itself holds nothing', async (t) => {
  const vectors: (readonly [document: unknown, ...tokens: string[]])[] = [
    [DOCUMENT, 'missing'],
    [DOCUMENT, 'plain', 'x'],
    [DOCUMENT, 'nothing', 'x'],
    [DOCUMENT, 'list', '-'],
    [DOCUMENT, 'list', '2'],
    [DOCUMENT, 'list', '00'],
    [DOCUMENT, 'list', '01'],
    [DOCUMENT, 'list', '-1'],
    [DOCUMENT, 'list', '1e0'],
    [DOCUMENT, 'list', '+1'],
    [DOCUMENT, 'list', ' 1'],
    [DOCUMENT, 'list', ''],
    [DOCUMENT, 'list', 'length'],
    [DOCUMENT, 'list', '99999999999999999999'],
    [DOCUMENT, 'list', '0', 'length'],
    [DOCUMENT, 'toString'],
    [DOCUMENT, '__proto__'],
    [DOCUMENT, 'constructor', 'prototype'],
    [null, 'x'],
    [undefined, 'x'],
    ['text', '0'],
    [7, 'toFixed'],
  ]
  for (const [document, ...tokens] of vectors) {
    t.notOk(has(document, tokens), formatPointer(tokens))
    t.equal(valueAt(document, tokens), undefined, formatPointer(tokens))
  }
})

t.test('takes a scalar as a document that has only its root', async (t) => {
  for (const document of ['text', 0, false, null]) {
    t.ok(has(document, []))
    t.equal(valueAt(document, []), document)
  }
})

t.test('refuses what is not an RFC 6901 pointer, or is hostile', async (t) => {
  const vectors: [pointer: string, error: RegExp][] = [
    ['spec', /^must start with "\/"/],
    ['#/spec', /^must start with "\/"/],
    [' /spec', /^must start with "\/"/],
    ['/a~', /~0/],
    ['/a~2b', /~0/],
    ['/~/x', /~0/],
    ['/~', /~0/],
    ['/~~1', /~0/],
    ['/a/b~10~', /~0/],
    ['a/b', /^must start with "\/"/],
    ['~1a', /^must start with "\/"/],
    ['.', /^must start with "\/"/],
    ['/__proto__/toString', /segment "__proto__"$/],
    ['/constructor/prototype/x', /segment "constructor"$/],
    ['/spec/prototype', /segment "prototype"$/],
    ['/x'.repeat(65), /more than 64 segments$/],
  ]
  for (const [pointer, error] of vectors) {
    const tokens = parsePointer(pointer)
    t.match(tokens.ok ? 'accepted' : tokens.error, error, pointer)
  }
  t.ok(parsePointer('/x'.repeat(64)).ok, '64 segments are enough for everybody')
  t.ok(parsePointer('/~0__proto__').ok, 'a longer name is not the reserved one')
})

t.test('tells a list index from other tokens', async (t) => {
  t.same(['0', '7', '10', '01', '-', '', '1.0', '٣'].filter(isListIndex), ['0', '7', '10'])
})

t.test('finds reserved names at any depth', async (t) => {
  const hostile = ['{"__proto__":{}}', '[{"a":[{"constructor":1}]}]', '{"x":{"prototype":null}}']
  for (const text of hostile) t.ok(holdsReservedName(JSON.parse(text)), text)
  for (const value of ['__proto__', null, ['constructor'], { toString: 1 }]) {
    t.notOk(holdsReservedName(value), JSON.stringify(value))
  }
})

const isHarmless = (token: string) => !['__proto__', 'constructor', 'prototype'].includes(token)

t.test('writes any tokens so that they are read back', async () => {
  const tokens = fc.array(fc.string({ unit: 'binary' }).filter(isHarmless), { maxLength: 64 })
  fc.assert(
    fc.property(tokens, (tokens) => {
      const parsed = parsePointer(formatPointer(tokens))
      return parsed.ok && formatPointer(parsed.value) === formatPointer(tokens)
    }),
  )
})

t.test('never throws', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (document, text) => {
      const tokens = parsePointer(text)
      if (tokens.ok && !has(document, tokens.value)) {
        return valueAt(document, tokens.value) === undefined
      }
      return true
    }),
  )
})
