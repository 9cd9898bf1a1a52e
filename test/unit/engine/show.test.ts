import fc from 'fast-check'
import t from 'tap'
import { escapeControls, showValue } from '../../../src/shared/engine/show.ts'
import { seed } from './schemas.ts'

const PAYLOAD = `data:text/plain;charset=utf-8;base64,${'QUJD'.repeat(4)}`

const shown: readonly (readonly [pointer: string, value: unknown, text: string])[] = [
  ['/spec/a', undefined, 'nothing'],
  ['/spec/a', null, 'null'],
  ['/spec/a', 'on', '"on"'],
  ['/spec/a', { b: [1, true] }, '{"b":[1,true]}'],
  ['/spec/a', 'x'.repeat(58), `"${'x'.repeat(58)}"`],
  ['/spec/a', 'x'.repeat(59), `"${'x'.repeat(58)}…`],
  ['/spec/a', `${'x'.repeat(57)}😀😀`, `"${'x'.repeat(57)}…`],
  ['/spec/a', 'a\nb\u001b[2J', '"a\\nb\\u001b[2J"'],
  ['/spec/a', 'a\u202eb', '"a\\u202eb"'],
  ['', 'a text of its own', '"a text of its own"'],
  ['/spec/password', undefined, 'nothing'],
  ['/spec/password', 'hunter2', '(hidden)'],
  ['/spec/adminPasswd', 'hunter2', '(hidden)'],
  ['/data/PASSPHRASE', 'hunter2', '(hidden)'],
  ['/spec/clientSecret', { a: 1 }, '(hidden)'],
  ['/spec/token', 'abc', '(hidden)'],
  ['/spec/tokens/0', 'abc', '(hidden)'],
  ['/spec/tokens/0/1/-', 'abc', '(hidden)'],
  ['/data/tls.key', 'abc', '(hidden)'],
  ['/spec/key', 'abc', '"abc"'],
  ['/spec/apiKey', 'abc', '(hidden)'],
  ['/spec/access_key', 'abc', '(hidden)'],
  ['/spec/sshKey', 'abc', '(hidden)'],
  ['/spec/credentials', 'abc', '(hidden)'],
  ['/spec/topologyKey', 'zone', '"zone"'],
  ['/spec/tokens/0/name', 'abc', '(hidden)'],
  ['/spec/monkeys', 3, '3'],
  ['/spec/user', { name: 'a', password: 'hunter2' }, '{"name":"a","password":"(hidden)"}'],
  ['/spec/users', [{ token: 'abc' }], '[{"token":"(hidden)"}]'],
  ['/spec/source', PAYLOAD, '(a payload of 53 characters)'],
  ['/spec/file', { source: PAYLOAD }, '{"source":"(payload)"}'],
  ['/spec/files', [PAYLOAD], '["(payload)"]'],
  ['/spec/source', 'data:,plain%20text', '"data:,plain%20text"'],
]

for (const [pointer, value, text] of shown) {
  t.test(`shows ${text} at ${pointer || 'no pointer'}`, async (t) => {
    t.equal(showValue(pointer, value), text)
  })
}

t.test('cuts where it is told to', async (t) => {
  t.equal(showValue('/a', 'abcdef', 5), '"abc…')
})

const escaped: readonly (readonly [text: string, visible: string])[] = [
  ['plain, ünïcödé 😀', 'plain, ünïcödé 😀'],
  ['\r\n\t', '\\u000d\\u000a\\u0009'],
  ['\u0000\u007f\u009b', '\\u0000\\u007f\\u009b'],
  ['\u2028\u2029', '\\u2028\\u2029'],
  ['\u200b\u202e\ufeff', '\\u200b\\u202e\\ufeff'],
  ['\u{e0001}', '\\udb40\\udc01'],
  ['\ud800', '\\ud800'],
]

for (const [text, visible] of escaped) {
  t.test(`makes ${visible} visible`, async (t) => {
    t.equal(escapeControls(text), visible)
  })
}

t.test('shows any value on one line, within the limit', async (t) => {
  const pointer = fc.constantFrom('/spec/a', '/spec/list/0')
  const property = fc.property(
    pointer,
    fc.jsonValue(),
    fc.integer({ min: 1, max: 80 }),
    (at, value, limit) => {
      const text = showValue(at, value, limit)
      t.notMatch(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      t.ok(text.length <= limit || text === '(hidden)')
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})
