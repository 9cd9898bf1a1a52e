import { gzipSync } from 'node:zlib'
import t from 'tap'

import { decoded } from '../../../../src/cli/render/decode.ts'

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64')
const zipped = (content: string) => `data:;base64,${base64(gzipSync(content))}`
const script = '#!/bin/sh\n\techo "größer"\n'

const cases: readonly (readonly [what: string, source: string, shown: string])[] = [
  ['base64', `data:text/plain;charset=utf-8;base64,${base64(script)}`, script],
  ['percent escapes', 'data:,a%20b%0A', 'a b\n'],
  ['gzip', zipped(script), script],
  ['nothing', 'data:,', ''],
  ['bytes that are no text', 'data:;base64,/w==', '(1 bytes that are no text)'],
  ['what would act on the terminal', 'data:,%1B%5B2J', '(4 bytes that are no text)'],
  ['what would reorder the line', 'data:,a%E2%80%AEb', '(5 bytes that are no text)'],
  ['what only begins as gzip', 'data:;base64,H4sA', '(3 bytes that are no text)'],
  ['what unpacks to too much', zipped('a'.repeat((64 << 20) + 1)), '(N bytes that are no text)'],
  ['a data URL that is none', 'data:;base64,?', 'data:;base64,?'],
  ['another URL', 'https://example.com/a', 'https://example.com/a'],
  ['a text that only mentions one', 'see data:,a', 'see data:,a'],
]

for (const [what, source, shown] of cases) {
  t.test(`shows ${what}`, async (t) => {
    const number = /^\((?!N)/.test(shown) ? /$^/ : /\d+(?= bytes)/
    t.equal(String(decoded(source)).replace(number, 'N'), shown)
  })
}

t.test('every payload of an object, and nothing else of it', async (t) => {
  const files = (source: string) => [
    { path: '/etc/a', mode: 0o644, contents: { source, compression: 'gzip' } },
  ]
  const object = (source: string) => ({
    kind: 'MachineConfig',
    metadata: { name: 'a', labels: {} },
    spec: { config: { storage: { files: files(source) } }, fips: false, none: null },
  })
  t.same(decoded(object(zipped(script))), object(script))
})
