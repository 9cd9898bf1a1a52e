import fc from 'fast-check'
import t from 'tap'
import { escapeControls, formatValue } from '../../../src/shared/engine/format-value.ts'
import { growth } from '../growth.ts'
import { seed } from './merge/schemas.ts'

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
  ['/spec/key', 'abc', '(hidden)'],
  ['/data/a~1key', 'abc', '(hidden)'],
  ['/spec/hostKeys/0', 'abc', '(hidden)'],
  ['/spec/nodeLabelKey', 'zone', '"zone"'],
  ['/spec/auth', { key: 'abc' }, '{"key":"(hidden)"}'],
  [
    '/spec/expressions',
    [{ key: 'zone', operator: 'Exists' }],
    '[{"key":"zone","operator":"Exists"}]',
  ],
  [
    '/spec/tolerations',
    [{ key: 'gpu', effect: 'NoExecute' }],
    '[{"key":"gpu","effect":"NoExecute"}]',
  ],
  ['/spec/env', [{ apiKey: 'abc', operator: 'x' }], '[{"apiKey":"(hidden)","operator":"x"}]'],
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
  ['/spec/source', 'data:,plain%20text', '(a payload of 18 characters)'],
  ['/spec/a', 'aHVudGVyMg', '"aHVudGVyMg"'],
  ['/spec/a', `${'aHVudGVy'.repeat(5)}Mg==`, '(a payload of 44 characters)'],
  ['/spec/a', `${'aH9udGVy'.repeat(5)}`, '(a payload of 40 characters)'],
  ['/spec/a', `spec-${'aH9udGVy'.repeat(5)}`, `"spec-${'aH9udGVy'.repeat(5)}"`],
  ['/spec/a', `${'aH9udGVy'.repeat(5)}Mg==\n`, '(a payload of 45 characters)'],
  ['/spec/a', `${'aH9udGVy\n'.repeat(9)}`, '(a payload of 81 characters)'],
  ['/spec/a', 'quay.io/org/image@sha256:0a1B', '"quay.io/org/image@sha256:0a1B"'],
  ['/spec/a', '-----BEGIN RSA PRIVATE KEY-----\nMII', '(a payload of 35 characters)'],
  ['/spec/a', 'Bearer eyJhbGciOiJI.eyJzdWIiOiIx.c2ln', '(a payload of 37 characters)'],
  ['/spec/a', 'see https://bob:hunter2@example.org/x', '(a payload of 37 characters)'],
  ['/spec/a', 'https://example.org:8443/@x', '"https://example.org:8443/@x"'],
]

for (const [pointer, value, text] of shown) {
  t.test(`shows ${text} at ${pointer || 'no pointer'}`, async (t) => {
    t.equal(formatValue(pointer, value), text)
  })
}

t.test('cuts where it is told to', async (t) => {
  t.equal(formatValue('/a', 'abcdef', 5), '"abc…')
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
      const text = formatValue(at, value, limit)
      t.notMatch(text, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      t.ok(text.length <= limit || text === '(hidden)')
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('a value takes time by its length, whatever is repeated in it', async (t) => {
  const pieces = [
    '-eyJ',
    'eyJabcdefgh.',
    '.eyJ',
    '://a:',
    '://a:b',
    'data:',
    'aA1',
    '=',
    '--BEGIN ',
  ]
  for (const piece of pieces) {
    const taskOf = (size: number) => () =>
      formatValue('/spec/a', piece.repeat(size / piece.length), Number.MAX_SAFE_INTEGER)
    t.ok(growth(1 << 18, taskOf) < 3, piece)
  }
})
