// First, since it counts what is compiled after it.
import '../work.ts'

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { PREFIX } from '../../../src/shared/baseline/annotations.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { PromptHandler } from '../../../src/webhook/server/app.ts'
import { readReview } from '../../../src/webhook/server/read-review.ts'
import type { AdmissionRequest, AdmissionReview } from '../../../src/webhook/server/review.ts'
import { Refused } from '../../../src/webhook/server/review.ts'
import { seed } from '../engine/merge/schemas.ts'
import { runs } from '../runs.ts'
import { msOf, workOf } from '../work.ts'
import { baselineOf, handlersWith, requestFor } from './known.ts'

// The API server takes no request, and sends no object, that is larger.
const MOST_BYTES = 3 << 20
// Somebody else's write waits as long.
const LONGEST_MS = 100

/** JSON of about so many bytes, made of one small piece over and over. */
type Filling = (bytes: number) => string

const repeated = (piece: string, bytes: number) =>
  piece === '' ? '' : piece.repeat(Math.ceil(bytes / piece.length))
const listOf =
  (piece: string): Filling =>
  (bytes) =>
    `[${repeated(`${piece},`, bytes)}${piece}]`
const textOf =
  (piece: string): Filling =>
  (bytes) =>
    `"${repeated(JSON.stringify(piece).slice(1, -1), bytes)}"`
const mapOf =
  (prefix: string, piece: string): Filling =>
  (bytes) => {
    const member = (index: number) => `"${prefix}${index}":${piece}`
    const count = bytes / (member(100_000).length + 1)
    return `{${Array.from({ length: Math.max(1, count) }, (_, index) => member(index)).join()}}`
  }
const nestOf = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

const fillings: Readonly<Record<string, Filling>> = {
  'empty maps': listOf('{}'),
  'empty lists': listOf('[]'),
  digits: listOf('1'),
  'long numbers': listOf('9007199254740993'),
  items: listOf('{"name":"a","value":"b"}'),
  members: mapOf('k', '""'),
  'long names': mapOf('n'.repeat(200), '1'),
  'names with our prefix': mapOf(PREFIX, '"x"'),
  'secret names': mapOf('password', '"x"'),
  letters: textOf('x'),
  quotes: textOf('"'),
  'control characters': textOf('\u0001'),
  'wide characters': textOf('\u{1f600}'),
  base64: textOf('aA1+'),
  tokens: textOf('.eyJabcdefgh'),
  addresses: textOf('://a:b'),
  spaces: (bytes) => `${' '.repeat(bytes)}1`,
  nests: listOf(nestOf(60, '[', ']')),
  'deep nests': listOf(nestOf(5_000, '{"a":', '}')),
}

/** What an annotation's text may be made of. */
const pieces = [
  'a,',
  '/spec/a,',
  '10de:1eb8,',
  '- a\n',
  '- "\n',
  `- "${'\\q'.repeat(510)}"\n`,
  '- ',
  '? ',
  '{',
  '[',
  ']',
  '- {kind: a, name: b}\n',
  '"\\x"',
  '&a ',
  '- *a\n',
  '- !!set\n',
  '#\n',
  '%\n',
  '\t',
  '{"op":"remove","path":"/spec"},',
  '{"op":"copy","from":"/spec","path":"/spec/x"},',
  '{"op":"add","path":"/spec/x","value":[{},{},{}]},',
  '{},',
  '"/spec/a",',
  '~1',
  'eyJ.',
  '\u0000',
]
const heads = ['', '[', '{', '"', '- ', '["', '{"a":', '[{"op":"add","path":"/spec/x","value":{}},']

const annotations = [
  'patch',
  'ignore-fields',
  'mode',
  'reconcile-paused',
  'autopilot',
  'disabled-resources',
  'disruptive-changes',
  'enforcement',
  'approve',
  'vfio-device-ids',
  'usb-devices',
  'enable-fence-agents',
  'unknown',
] as const

type Edit = (object: KubeObject) => KubeObject

/** Where a filling is to be; text, since no writer of JSON takes what is nested so deep. */
const HERE = 'here'

const withMetadata = (object: KubeObject, metadata: object): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
})
const withSpec = (object: KubeObject, name: string, value: unknown): KubeObject => ({
  ...object,
  spec: { ...(object.spec as object), [name]: value },
})

const places: Readonly<Record<string, (value: unknown) => Edit>> = {
  'a field of somebody else': (value) => (object) => withSpec(object, 'somebodyElses', value),
  'a managed field': (value) => (object) => withSpec(object, 'uninstallStrategy', value),
  'a managed map': (value) => (object) => withSpec(object, 'liveMigrationConfig', value),
  'a managed list': (value) => (object) => withSpec(object, 'unhealthyConditions', value),
  'the content of a machine': (value) => (object) => withSpec(object, 'config', value),
  'managed fields': (value) => (object) => withMetadata(object, { managedFields: value }),
  owners: (value) => (object) => withMetadata(object, { ownerReferences: value }),
  labels: (value) => (object) => withMetadata(object, { labels: value }),
  annotations: (value) => (object) => withMetadata(object, { annotations: value }),
}

const filled = fc
  .record({
    place: fc.constantFrom(...Object.keys(places)),
    filling: fc.constantFrom(...Object.keys(fillings)),
    bytes: fc.constantFrom(50_000, 200_000, 1 << 20, MOST_BYTES - 50_000),
  })
  .map(({ place, filling, bytes }) => ({
    says: `${bytes} bytes of ${filling} in ${place}`,
    edit: (places[place] as (value: unknown) => Edit)(HERE),
    text: (fillings[filling] as Filling)(bytes),
  }))

// As JSON three of them fit into one request.
const fitting = (text: string): string =>
  JSON.stringify(text).length > MOST_BYTES / 3 ? fitting(text.slice(0, text.length / 2)) : text

const annotated = fc
  .record({
    keys: fc.uniqueArray(fc.constantFrom(...annotations), { minLength: 1, maxLength: 3 }),
    head: fc.constantFrom(...heads),
    piece: fc.oneof(fc.constantFrom(...pieces), fc.string({ minLength: 1, maxLength: 8 })),
    other: fc.oneof(fc.constant(''), fc.constantFrom(...pieces)),
    length: fc.constantFrom(1_000, 16_000, 65_000, 250_000, 900_000),
  })
  .map(({ keys, head, piece, other, length }) => ({
    says: `${keys} of ${length} characters: ${head}${piece}…${other}…`,
    edit: (object: KubeObject) => {
      const half = Math.ceil(length / 2)
      const text = `${head}${repeated(piece, half).slice(0, half)}${repeated(other, half)}`.slice(
        0,
        length,
      )
      const stated = Object.fromEntries(keys.map((key) => [`${PREFIX}${key}`, fitting(text)]))
      return withMetadata(object, { annotations: stated })
    },
    text: '""',
  }))

const writes = fc.record({
  asset: fc.constantFrom('hco-golden-config', 'swap-enable', 'node-health-standard'),
  change: fc.oneof(filled, annotated),
  operation: fc.constantFrom('CREATE', 'UPDATE', 'DELETE'),
  /** What was stored before, where that is not the baseline: the same, or something else. */
  before: fc.oneof(fc.constant(undefined), fc.constant('the same' as const), filled, annotated),
})

function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

interface DrawnWrite {
  readonly asset: string
  readonly change: Change
  readonly operation: string
  readonly before: Change | 'the same' | undefined
}

interface Change {
  readonly says: string
  readonly edit: Edit
  readonly text: string
}

// What is stored is half as large at most.
const storedText = ({ text }: Change) => (text.length > MOST_BYTES / 2 ? '""' : text)

/** The write as the API server asks about it. */
function reviewOf({ asset, change, operation, before }: DrawnWrite): Buffer {
  const baseline = baselineOf(asset)
  const object = change.edit(baseline)
  const was = before === 'the same' ? change : before
  const oldObject = was ? was.edit(baseline) : baseline
  const requests: Readonly<Record<string, Partial<AdmissionRequest>>> = {
    CREATE: { object },
    UPDATE: { object, oldObject },
    DELETE: { oldObject },
  }
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: requestFor(operation as 'CREATE', requests[operation] ?? {}),
  }
  const [head = '', ...parts] = JSON.stringify(review).split('"oldObject":')
  const place = (text: string, filling: string) => text.replaceAll(`"${HERE}"`, () => filling)
  const stored = was ? storedText(was) : ''
  return Buffer.from(
    [place(head, change.text), ...parts.map((part) => place(part, stored))].join('"oldObject":'),
  )
}

function answerTo(text: Buffer, handler: PromptHandler): string {
  try {
    return String(handler((readReview(text, PREFIX) as AdmissionReview).request).allowed)
  } catch (error) {
    if (error instanceof Refused) return 'no review'
    throw error
  }
}

const annotating = (key: string, text: string): Change => ({
  says: `${key}: ${text.slice(0, 20)}…`,
  edit: (object) => withMetadata(object, { annotations: { [`${PREFIX}${key}`]: text } }),
  text: '""',
})
const filling = (place: string, what: string, bytes: number): Change => ({
  says: `${bytes} bytes of ${what} in ${place}`,
  edit: (places[place] as (value: unknown) => Edit)(HERE),
  text: (fillings[what] as Filling)(bytes),
})
const copies = Array.from({ length: 950 }, (_, index) => ({
  op: 'copy',
  from: '/spec/liveMigrationConfig',
  path: `/spec/x${index}`,
}))

/** What once took from a tenth of a second to a minute. */
const known: readonly Change[] = [
  annotating('vfio-device-ids', '10de:1eb8,'.repeat(26_000)),
  annotating('usb-devices', '10de:1eb8,'.repeat(60_000)),
  annotating('patch', JSON.stringify(copies)),
  annotating('disabled-resources', '- "\n'.repeat(4_000)),
  annotating('disabled-resources', `- "${'\\q'.repeat(510)}"\n`.repeat(15)),
  annotating('disabled-resources', `${']'.repeat(740)}${'['.repeat(740)}`),
  annotating('disabled-resources', `[${','.repeat(1_490)}]`),
  annotating('disabled-resources', '['.repeat(8_000)),
  annotating('disabled-resources', '- '.repeat(8_000)),
  filling('a field of somebody else', 'empty maps', 2_900_000),
  filling('a managed field', 'control characters', 2_900_000),
  filling('a managed field', 'quotes', 2_900_000),
  filling('annotations', 'members', 2_900_000),
  filling('annotations', 'members', 300_000),
  filling('annotations', 'names with our prefix', 700_000),
]

t.test('what once held the others up does so no more', async (t) => {
  const { mutate, validate } = handlersWith()
  for (const change of known) {
    const text = reviewOf({
      asset: 'hco-golden-config',
      change,
      operation: 'UPDATE',
      before: undefined,
    })
    for (const handler of [mutate, validate]) {
      const ms = msOf(workOf(() => answerTo(text, handler)))
      t.ok(ms < 50, `${ms} ms: ${change.says}`)
    }
  }
})

t.test('no write, whatever it holds, holds up the others, and its memory comes back', async (t) => {
  const { mutate, validate, contests } = handlersWith()
  const slowest = { ms: 0, says: '' }
  const answers = new Map<string, number>()
  const property = fc.property(writes, (write) => {
    const text = reviewOf(write)
    for (const handler of [mutate, validate]) {
      let answer = ''
      const ms = msOf(
        workOf(() => {
          answer = answerTo(text, handler)
        }),
      )
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      const says = `${write.operation} ${write.change.says}`
      if (ms > slowest.ms) Object.assign(slowest, { ms, says })
      if (ms > LONGEST_MS) throw new Error(`${ms} ms: ${says}`)
    }
  })
  const before = bytesInUse()
  fc.assert(property, { seed, numRuns: runs(12) })
  t.comment(JSON.stringify({ ...slowest, answers: Object.fromEntries(answers) }))
  t.ok((answers.get('true') ?? 0) > 3 && (answers.get('false') ?? 0) > 3)
  t.ok(bytesInUse() - before < 16 << 20, `${bytesInUse() - before} bytes`)
  t.ok(contests.atWar(0).length <= 3)
})
