import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { Gunzip } from 'fflate'
import t from 'tap'
import { withLivePayloads } from '../../../../src/shared/baseline/machine-config/live-payloads.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { deepFreeze, seed } from '../../engine/merge/schemas.ts'
import { runs } from '../../runs.ts'
import {
  anyContent,
  anything,
  base64,
  encodings,
  file,
  gzip,
  hostile,
  machineConfig,
  nested,
  percent,
  plainEncodings,
  withFiles,
} from '../catalog/machine-configs.ts'

const digest = (algorithm: string, content: Uint8Array) =>
  createHash(algorithm).update(content).digest('hex')

const TEXT = 'swap: yes, 100 %\n'

t.test('a payload that decodes to what live has takes live’s bytes', async (t) => {
  const property = fc.property(
    anyContent,
    fc.constantFrom(...plainEncodings),
    fc.constantFrom(...encodings),
    (content, encode, encodeLive) => {
      const desired = deepFreeze(withFiles(file('/etc/a', encode(content), { mode: 493 })))
      const live = withFiles(file('/etc/a', encodeLive(content), { mode: 420, user: { id: 7 } }))
      const expected = withFiles(file('/etc/a', encodeLive(content), { mode: 493 }))
      t.strictSame(withLivePayloads(desired, live), expected)
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('a compressed payload takes live’s bytes where live has it in the clear', async (t) => {
  const live = withFiles(file('/etc/a', percent(TEXT)))
  t.strictSame(withLivePayloads(withFiles(file('/etc/a', gzip(TEXT))), live), live)
})

t.test('a payload that decodes to anything else keeps its own bytes', async (t) => {
  const property = fc.property(
    fc.uniqueArray(anyContent, {
      minLength: 2,
      maxLength: 2,
      selector: (content) => Buffer.from(content).toString('hex'),
    }),
    fc.constantFrom(...plainEncodings),
    fc.constantFrom(...encodings),
    ([content = new Uint8Array(), other = new Uint8Array()], encode, encodeLive) => {
      const desired = withFiles(file('/etc/a', encode(content)))
      t.equal(withLivePayloads(desired, withFiles(file('/etc/a', encodeLive(other)))), desired)
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('only the file whose content is the same is touched', async (t) => {
  const files = [file('/a', base64('a')), file('/b', base64('b')), file('/c', base64('c'))]
  const live = withFiles(
    file('/c', percent('c')),
    file('/b', percent('x')),
    file('/d', base64('d')),
  )
  const kept = withLivePayloads(withFiles(...files), live)
  t.strictSame(kept, withFiles(files[0], files[1], file('/c', percent('c'))))
})

const theSame: readonly (readonly [what: string, desired: KubeObject, live: KubeObject])[] = [
  ['the same bytes', withFiles(file('/a', base64(TEXT))), withFiles(file('/a', base64(TEXT)))],
  ['the file', withFiles(file('/a', base64(TEXT))), withFiles(file('/b', percent(TEXT)))],
  [
    'the path only once',
    withFiles(file('/a', base64(TEXT))),
    withFiles(file('/a', percent(TEXT)), file('/a', gzip(TEXT)), file('/a', percent(TEXT))),
  ],
  ['files', machineConfig({ config: {} }), withFiles(file('/a', percent(TEXT)))],
  ['files in a list', withFiles(file('/a', base64(TEXT))), machineConfig({ config: nested(9) })],
  [
    'a file with a path',
    withFiles({ contents: base64(TEXT) }),
    withFiles({ contents: percent(TEXT) }),
  ],
  ['a file at all', withFiles('file'), withFiles('file', null)],
]

for (const [what, desired, live] of theSame) {
  t.test(`a MachineConfig is left alone unless live has, in other bytes, ${what}`, async (t) => {
    t.equal(withLivePayloads(desired, live), desired)
  })
}

t.test('objects of other kinds are left alone', async (t) => {
  const live = withFiles(file('/a', percent(TEXT)))
  const desired = withFiles(file('/a', base64(TEXT)))
  for (const other of [
    { ...desired, kind: 'KubeletConfig' },
    { ...desired, apiVersion: 'example.com/v1' },
  ]) {
    t.equal(withLivePayloads(other, { ...live, ...other, spec: live.spec }), other)
  }
})

const bytes = gzipSync(TEXT)
const packed = (data: Uint8Array) => ({ ...base64(data), compression: 'gzip' })
const patched = (data: Uint8Array, at: number, byte: number) => {
  const copy = new Uint8Array(data)
  copy[at < 0 ? data.length + at : at] = byte
  return copy
}
const plain = Buffer.from(TEXT).toString('base64')

/** Live `contents` that no node could read as the text, though a careless reader might. */
const unreadable: readonly (readonly [what: string, contents: unknown, text?: string])[] = [
  ['no source', {}],
  ['a source that is no text', { source: 7 }],
  ['no contents', undefined],
  ['contents inline', { inline: TEXT }],
  ['another scheme', { source: 'https://example.com/a' }],
  ['no comma', { source: `data:;base64` }],
  ['a header without end', { source: `data:${';a=b'.repeat(1_000_000)};base64,${plain}` }],
  ['a parameter that is none', { source: `data:;base64;x,${plain}` }],
  ['base64 spelt otherwise', { source: `data:;BASE64,${plain}` }],
  ['a quoted comma', { source: `data:text/plain;a="b,";base64,${plain}` }],
  ['white space in base64', { source: `data:;base64,${plain.slice(0, 4)}\n${plain.slice(4)}` }],
  ['base64 cut short', { source: `data:;base64,${plain.slice(0, -1)}` }],
  ['the alphabet of URLs', { source: 'data:;base64,Pj4-' }, '>>>'],
  ['an escape cut short', { source: 'data:,5%2' }, '5%2'],
  ['an escape that is none', { source: 'data:,5%zz' }, '5\0'],
  ['a space that is not escaped', { source: `data:,${TEXT.replace('%', '%25')}` }],
  ['a compression that nobody knows', { ...base64(TEXT), compression: 'zstd' }],
  ['a compression that is none', { ...base64(TEXT), compression: false }],
  ['a compression without it', { ...base64(TEXT), compression: 'gzip' }],
  ['gzip cut short', packed(bytes.subarray(0, -9))],
  [
    'gzip with its middle missing',
    packed(Buffer.concat([bytes.subarray(0, 14), bytes.subarray(-8)])),
  ],
  [
    'the gzip of a beginning',
    packed(Buffer.concat([gzipSync(TEXT.slice(0, 5)).subarray(0, -8), bytes.subarray(-8)])),
  ],
  ['gzip with a wrong checksum', packed(patched(bytes, -8, Number(bytes.at(-8)) ^ 1))],
  ['gzip with a wrong length', packed(patched(bytes, -4, TEXT.length + 1))],
  ['gzip with something behind it', packed(Buffer.concat([bytes, bytes.subarray(-8)]))],
  ['gzip of another method', packed(patched(bytes, 2, 9))],
  ['only the end of a gzip', packed(bytes.subarray(-8))],
  ['nothing compressed', packed(new Uint8Array())],
]

for (const [what, contents, text = TEXT] of unreadable) {
  t.test(`a live payload with ${what} is not kept`, async (t) => {
    const desired = withFiles(file('/a', base64(text)))
    t.equal(withLivePayloads(desired, withFiles(file('/a', contents))), desired)
  })
}

t.test('two compressed payloads are not compared by their content', async (t) => {
  const desired = withFiles(file('/a', gzip(TEXT, 0)))
  t.equal(withLivePayloads(desired, withFiles(file('/a', gzip(TEXT, 9)))), desired)
  const twice = withFiles(file('/a', gzip(bytes)))
  t.equal(withLivePayloads(twice, withFiles(file('/a', packed(bytes)))), twice)
})

t.test('of a bomb, even one whose end is forged, next to nothing is decompressed', async (t) => {
  const content = Buffer.from('a'.repeat(64))
  const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'), { level: 9 })
  const forged = Buffer.concat([bomb.subarray(0, -8), gzipSync(content).subarray(-8)])
  const harmless = withFiles(file('/a', base64(content)))
  // Counts the bytes that are read, since time is no measure on a busy machine.
  const { push } = Gunzip.prototype
  let read = 0
  Gunzip.prototype.push = function (chunk, isLast) {
    read += chunk.length
    return push.call(this, chunk, isLast)
  }
  t.teardown(() => Object.assign(Gunzip.prototype, { push }))
  for (const [data, most] of [
    [bomb, 0],
    [forged, 1024],
  ] as const) {
    const explosive = withFiles(file('/a', packed(data)))
    read = 0
    t.equal(withLivePayloads(harmless, explosive), harmless)
    t.equal(withLivePayloads(explosive, harmless), explosive)
    t.ok(read <= most, `${read} bytes read`)
  }
})

const sha = (algorithm: string, content: string) => ({
  verification: { hash: `${algorithm}-${digest(algorithm, Buffer.from(content))}` },
})

const verifications: readonly (readonly [what: string, more: object, isKept: boolean])[] = [
  ['no verification', { verification: null }, true],
  ['a verification without hash', { verification: { hash: null } }, true],
  ['the right sha256', sha('sha256', TEXT), true],
  ['the right sha512', sha('sha512', TEXT), true],
  ['another sha256', sha('sha256', 'x'), false],
  ['a hash of a kind that Ignition does not know', sha('sha1', TEXT), false],
  [
    'a hash without its kind',
    { verification: { hash: digest('sha256', Buffer.from(TEXT)) } },
    false,
  ],
  ['a hash that is no text', { verification: { hash: { toString: 1 } } }, false],
  ['a verification that is none', { verification: 'sha256' }, false],
]

for (const [what, more, isKept] of verifications) {
  t.test(`a live payload with ${what} is ${isKept ? '' : 'not '}kept`, async (t) => {
    const desired = withFiles(file('/a', base64(TEXT)))
    for (const contents of [percent(TEXT), gzip(TEXT)]) {
      const live = withFiles(file('/a', { ...contents, ...more }))
      t.strictSame(withLivePayloads(desired, live, digest), isKept ? live : desired)
    }
  })
}

t.test('without a digest, a payload that live states a hash for is not kept', async (t) => {
  const desired = withFiles(file('/a', base64(TEXT)))
  const live = withFiles(file('/a', { ...percent(TEXT), ...sha('sha256', TEXT) }))
  t.equal(withLivePayloads(desired, live), desired)
})

t.test('what was kept once is kept for good', async (t) => {
  const property = fc.property(hostile, hostile, (desired, live) => {
    const kept = withLivePayloads(desired, live, digest)
    t.equal(withLivePayloads(kept, live, digest), kept)
  })
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: runs(150) }))
})

t.test('no live object is a reason to fail', async (t) => {
  const property = fc.property(anything, anything, (contents, liveContents) => {
    const [desired, live] = [contents, liveContents].map((each) => withFiles(file('/a', each)))
    return Boolean(desired && live && withLivePayloads(desired, live, digest))
  })
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: runs(150) }))
  const deep = machineConfig({ config: nested(100_000) })
  t.equal(withLivePayloads(deep, machineConfig(nested(100_000))), deep)
  const deepContents = withFiles(file('/a', nested(100_001)))
  t.equal(withLivePayloads(deepContents, withFiles(file('/a', nested(100_003)))), deepContents)
})

t.test('each of 100,000 files is compared with its own', async (t) => {
  const paths = Array.from({ length: 100_000 }, (_, index) => `/etc/${index}`)
  const desired = withFiles(...paths.map((path) => file(path, base64(path))))
  const live = withFiles(...paths.map((path) => file(path, percent(path))).reverse())
  const kept = withLivePayloads(desired, live)
  t.strictSame(kept, withFiles(...paths.map((path) => file(path, percent(path)))))
})
