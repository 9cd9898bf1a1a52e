import fc from 'fast-check'
import t from 'tap'
import { PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import { MAX_VALUES, valuesIn } from '../../../../src/shared/engine/json/json.ts'
import { type Span, scanMap, type Wanted } from '../../../../src/webhook/server/json-scan.ts'
import { readReview } from '../../../../src/webhook/server/read-review.ts'
import { type AdmissionReview, Refused } from '../../../../src/webhook/server/review.ts'
import { seed } from '../../engine/merge/schemas.ts'
import { runs } from '../../runs.ts'
import { baselineOf, handlersWith, requestFor, snapshot } from '../known.ts'

const wanted: Wanted = {
  members: { a: true, b: { members: { a: true } }, c: { prefix: 'p/', most: 2 } },
}

const parsed = (text: string, span: Span | undefined) =>
  span && JSON.parse(Buffer.from(text).toString('utf8', span.start, span.end))

const longText = fc
  .array(fc.constantFrom('x', '"', '\\', 'é', '\n', 'payload'.repeat(12)), {
    minLength: 1,
    maxLength: 90,
  })
  .map((parts) => parts.join(''))

const anyMap = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b', 'c', 'p/1', 'p/2', 'p/3'), fc.string()),
  fc.oneof(
    fc.jsonValue(),
    longText,
    fc.dictionary(fc.constantFrom('a', 'p/1', 'p/2', 'p/3'), fc.jsonValue()),
  ),
  { noNullPrototype: true },
)

t.test('finds the members that are asked for, and counts values as they are', async (t) => {
  const property = fc.property(anyMap, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
    const text = JSON.stringify(value, null, indent)
    const map = scanMap(Buffer.from(text), wanted)
    t.equal(map.values, valuesIn(JSON.parse(text)))
    t.strictSame(parsed(text, map), JSON.parse(text))
    for (const name of ['a', 'b', 'c']) {
      const span = map.members?.get(name)
      t.equal(span !== undefined, Object.hasOwn(value, name))
      if (span) t.equal(span.values, valuesIn(JSON.parse(JSON.stringify(value[name]))))
    }
    const inner = map.members?.get('c')?.members
    t.ok([...(inner?.keys() ?? [])].every((name) => name.startsWith('p/')))
    t.ok((inner?.size ?? 0) <= 2)
  })
  fc.assert(property, { seed, numRuns: runs(100) })
})

t.test('takes whatever is no JSON for that, or passes over it, and always ends', async (t) => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '"',
    '1',
    ' ',
    'nul',
    '\\',
  )
  const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => `{${pieces.join('')}`)
  const property = fc.property(texts, (text) => {
    let isJson = true
    try {
      JSON.parse(text)
    } catch {
      isJson = false
    }
    try {
      scanMap(Buffer.from(text), wanted)
    } catch (error) {
      t.ok(error instanceof Refused, text)
      t.notOk(isJson, `JSON is taken: ${text}`)
    }
  })
  fc.assert(property, { seed, numRuns: runs(1_000) })
})

t.test('takes the last of two members, and none whose name has escapes', async (t) => {
  const members = (text: string) => {
    const { members: found = new Map<string, Span>() } = scanMap(Buffer.from(text), wanted)
    return [...found].map(([name, span]) => [name, parsed(text, span)])
  }
  t.strictSame(members('{"a":1,"b":{"a":2},"a":[3],"b":4}'), [
    ['a', [3]],
    ['b', 4],
  ])
  t.strictSame(members('{"\\u0061":1,"\\"a":2,"a\\"":3,"a":4}'), [['a', 4]])
})

const hco = baselineOf('hco-golden-config')
const PAD = 'x'.repeat(70_000)

/** A review, large enough to be read by parts. */
const reviewOf = (request: object, pad = PAD) =>
  Buffer.from(
    JSON.stringify({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: { ...requestFor('UPDATE', { object: hco, oldObject: hco }), ...request, pad },
    }),
  )
const requestIn = (text: Buffer) => (readReview(text, PREFIX) as AdmissionReview).request

t.test('a large review says what a small one says', async (t) => {
  const request = {
    options: { fieldManager: 'kubectl', force: true },
    dryRun: true,
    subResource: '',
  }
  const [large, small] = [reviewOf(request), reviewOf(request, '')].map(requestIn)
  const { object, oldObject, ...rest } = { ...large }
  t.strictSame([object, oldObject], [hco, hco])
  t.strictSame(rest.options, { fieldManager: 'kubectl' })
  t.match({ ...small }, { ...rest, oversized: undefined, options: {} })
  t.strictSame(large?.oversized, [])
})

t.test('an object that nobody asks for is not read, however wrong it is', async (t) => {
  const text = String(reviewOf({ object: 'here' })).replace('"here"', '{"a":[1 2 nonsense]}')
  const request = requestIn(Buffer.from(text))
  t.equal(request.uid, 'c0ffee')
  t.throws(() => request.object, Refused)
  for (const known of [snapshot, null]) {
    const { mutate, validate } = handlersWith(known)
    t.throws(() => mutate(request), Refused, 'ours is read')
    const kind = { group: 'apps', version: 'v1', kind: 'Deployment' }
    const theirs = requestIn(
      Buffer.from(
        String(text).replace(/"kind":\{"group"[^}]*\}/, `"kind":${JSON.stringify(kind)}`),
      ),
    )
    t.strictSame(theirs.kind, kind)
    for (const handler of [mutate, validate]) t.strictSame(handler(theirs), { allowed: true })
  }
})

t.test('of an object with too many values its names and our annotations are read', async (t) => {
  const ours = (index: number) => [`platform.kubevirt.io/k${index}`, 'v'] as const
  const many = Array.from({ length: 150 }, (_, index) => ours(index))
  const annotations = { theirs: 'x', ...Object.fromEntries(many) }
  const labels = { theirs: 'x' }
  const metadata = { ...hco.metadata, labels, annotations, finalizers: ['x'], uid: 'u' }
  const junk = Array.from({ length: MAX_VALUES }, () => ({}))
  const request = requestIn(reviewOf({ object: { ...hco, metadata, spec: { junk } } }))
  t.strictSame(request.oversized, ['object'])
  t.strictSame(request.object, {
    apiVersion: hco.apiVersion,
    kind: hco.kind,
    metadata: {
      name: hco.metadata.name,
      namespace: hco.metadata.namespace,
      labels: {},
      annotations: Object.fromEntries(many.slice(0, 101)),
      uid: 'u',
    },
  })
  t.strictSame(request.oldObject, hco)
})
