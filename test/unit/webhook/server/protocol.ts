import { gzipSync } from 'node:zlib'
import t from 'tap'
import { renewCertificates } from '../../../../src/reconciler/admission/certificates.ts'
import { PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import { createApp } from '../../../../src/webhook/server/app.ts'
import { call, chunked, requestOf, say, statusIn } from '../door.ts'
import { baselineOf, edited, handlersWith, type Json, requestFor } from '../known.ts'

const hco = baselineOf('hco-golden-config')
const drifted = edited(hco, {
  spec: (spec) => {
    spec.uninstallStrategy = 'x' as unknown as Json
  },
})
const update = requestFor('UPDATE', { object: drifted, oldObject: hco })
const reviewOf = (request: unknown, apiVersion = 'admission.k8s.io/v1') =>
  JSON.stringify({ apiVersion, kind: 'AdmissionReview', request })
const REVIEW = reviewOf(update)

const { serving } = await renewCertificates({}, ['127.0.0.1'], Date.now(), true)
const app = createApp({
  prefix: PREFIX,
  ...handlersWith(),
  tls: { key: serving.key, cert: serving.certificate },
  onError: (error) => t.fail(`a caller made the webhook fail: ${error.stack}`),
})
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
const door = { port: typeof address === 'object' && address ? address.port : 0 }
t.teardown(() => app.close())

// Who never begins with TLS is waited for by the last test, while the others run.
const neverBegun = call({ ...door, isPlain: true }).then(({ closed }) => closed)

const padded = (size: number) => {
  const text = reviewOf({ ...update, options: '' })
  return text.replace('"options":""', `"options":"${'x'.repeat(size - text.length)}"`)
}
const noHeader = { headers: { 'content-type': '' } }
const MiB = 1 << 20
const END_OF_CHUNKS = '\r\n0\r\n\r\n'

const requests: readonly (readonly [
  says: string,
  parts: readonly (string | Buffer)[],
  status: number | undefined,
  /** Nothing more is sent than has to be read, so that the answer always arrives. */
  isHeard?: true,
])[] = [
  ['a review', requestOf(REVIEW), 200],
  ['1 MiB', requestOf(padded(MiB)), 200],
  ['7 MiB', requestOf(padded(7 * MiB)), 200],
  ['a byte more', requestOf(padded(7 * MiB + 1)), 413],
  ['8 MiB', requestOf(padded(8 * MiB)), 413],
  [
    'chunks, of no length that is told',
    requestOf(chunked(REVIEW), { headers: { 'transfer-encoding': 'chunked' } }),
    200,
  ],
  [
    'a byte more in chunks, before they end',
    requestOf(chunked(padded(7 * MiB + 1)).slice(0, -END_OF_CHUNKS.length), {
      headers: { 'transfer-encoding': 'chunked' },
    }),
    413,
    true,
  ],
  [
    'chunks and a length',
    requestOf(chunked(REVIEW), {
      headers: { 'transfer-encoding': 'chunked', 'content-length': '5' },
    }),
    400,
  ],
  [
    'two lengths',
    requestOf(REVIEW, { headers: { 'content-length': '5\r\ncontent-length: 6' } }),
    400,
  ],
  ['a length below zero', requestOf(REVIEW, { headers: { 'content-length': '-1' } }), 400],
  ['gzip', requestOf(gzipSync(REVIEW), { headers: { 'content-encoding': 'gzip' } }), 415],
  ['gzip that is not told', requestOf(gzipSync(REVIEW)), 400],
  [
    'an encoding that is none',
    requestOf(REVIEW, { headers: { 'content-encoding': 'identity' } }),
    200,
  ],
  ['no content type', requestOf(REVIEW, noHeader), 415],
  ['text', requestOf(REVIEW, { headers: { 'content-type': 'text/plain' } }), 415],
  ['YAML', requestOf(REVIEW, { headers: { 'content-type': 'application/yaml' } }), 415],
  [
    'protobuf',
    requestOf(REVIEW, { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } }),
    415,
  ],
  [
    'JSON of a charset',
    requestOf(REVIEW, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
    200,
  ],
  ['GET', requestOf('', { start: 'GET /mutate HTTP/1.1', ...noHeader }), 404],
  ['PUT', requestOf(REVIEW, { start: 'PUT /mutate HTTP/1.1' }), 404],
  [
    'a path that climbs',
    requestOf(REVIEW, { start: 'POST /mutate/../../etc/passwd HTTP/1.1' }),
    404,
  ],
  ['a path in percents', requestOf(REVIEW, { start: 'POST /%2e%2e%2fmutate HTTP/1.1' }), 404],
  ['a path that cannot be read', requestOf(REVIEW, { start: 'POST /%ff%zz HTTP/1.1' }), 400],
  ['CONNECT', ['CONNECT 10.0.0.1:443 HTTP/1.1\r\nhost: x\r\n\r\n'], undefined],
  ['HTTP/0.9', ['GET /mutate\r\n\r\n'], 404],
  ['HTTP/2 without being asked', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'], 400],
  ['no HTTP at all', ['\0\0\0\0hello\r\n\r\n'], 400],
  [
    '10,000 headers',
    requestOf(REVIEW, {
      headers: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x-${at}`, 'y'])),
    }),
    431,
  ],
  ['a header of 1 MiB', requestOf(REVIEW, { headers: { 'x-a': 'y'.repeat(MiB) } }), 431],
  [
    'a header with a line of its own',
    requestOf(REVIEW, { headers: { 'x-a': 'a\nallowed: true' } }),
    400,
  ],
  ['a version that is gone', requestOf(reviewOf(update, 'admission.k8s.io/v1beta1')), 400],
  ['a list 1,000,000 long', requestOf(`[${'0,'.repeat(1e6)}0]`), 400],
  ['100,000 lists in one another', requestOf('['.repeat(1e5) + ']'.repeat(1e5)), 400],
  [
    'a review of 100,000 maps in one another',
    requestOf(
      reviewOf({ ...update, options: 0 }).replace(
        '"options":0',
        `"options":${'{"a":'.repeat(1e5)}0${'}'.repeat(1e5)}`,
      ),
    ),
    200,
  ],
]

for (const [says, parts, status, isHeard = false] of requests) {
  t.test(`${says} is answered ${status ?? 'by silence'}, and nothing is told`, async (t) => {
    const answer = await say(door, ...parts)
    // What is cut off while it is still sending may never read why.
    const isCut = !isHeard && (status === 413 || status === 431) && answer === ''
    t.equal(isCut ? status : statusIn(answer), status)
    if (status === 200) return
    t.ok(answer.length < 700, 'whatever was sent, little comes back')
    t.notMatch(answer, /node_modules|\.ts:|at \w+ \(|fastify|powered/i)
    t.notMatch(answer, /BlockUninstall|openshift-cnv|kubevirt/i)
  })
}

t.test(
  'what is no TLS is cut off, and what is no certificate of ours is never asked',
  async (t) => {
    for (const garbage of ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\xff\xff', 'x'.repeat(100_000)]) {
      const answer = await say({ ...door, isPlain: true }, garbage)
      t.notMatch(answer, /HTTP/)
    }
    t.equal(statusIn(await say(door, ...requestOf(REVIEW))), 200)
  },
)

t.test('an answer is to the request on its connection, whatever came before', async (t) => {
  const { socket, closed } = await call(door)
  const keep = { headers: { connection: 'keep-alive' } }
  for (const uid of ['a', 'b']) socket.write(requestOf(reviewOf({ ...update, uid }), keep).join(''))
  socket.write(requestOf(reviewOf({ ...update, uid: 'c' })).join(''))
  const uids = [...(await closed).matchAll(/"uid":"(\w)"/g)].map(([, uid]) => uid)
  t.same(uids, ['a', 'b', 'c'])
})

t.test('whoever says nothing, or one byte at a time, is cut off', async (t) => {
  // What they are in the product is tested in connections.ts.
  Object.assign(app.server, { headersTimeout: 500, requestTimeout: 500 })
  const [head, body] = requestOf(REVIEW)
  const slow = async (...first: readonly (string | Buffer)[]) => {
    const { socket, closed } = await call(door)
    for (const part of first) socket.write(part)
    const drip = setInterval(() => socket.write('x'), 200)
    const answer = await closed
    clearInterval(drip)
    return statusIn(answer) ?? 'cut off'
  }
  const [inHead, inBody, afterHandshake] = await Promise.all([
    slow('POST /mutate HTTP/1.1\r\nx-slow: '),
    slow(head, String(body).slice(0, 10)),
    call(door).then(({ closed }) => closed),
  ])
  t.equal(inHead, 408)
  t.equal(inBody, 408)
  t.ok(['', 'HTTP/1.1 408 Request Timeout'].includes(afterHandshake.split('\r\n')[0] ?? ''))
  t.equal(await neverBegun, '')
})
