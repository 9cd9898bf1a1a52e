import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { isMap, type KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../../src/webhook/server/review.ts'
import { Refused } from '../../../src/webhook/server/review.ts'
import { baselineOf, edited, handlersWith, type Json, requestFor, snapshot } from './known.ts'

const hco = baselineOf('hco-golden-config')
const swap = baselineOf('swap-enable')
const health = baselineOf('node-health-standard')

/** The object with this where a managed field of it is: not frozen, since it may be deeper than that goes. */
function withValue(object: KubeObject, value: unknown): KubeObject {
  const copy = structuredClone(object) as unknown as KubeObject & { spec: Json }
  const holder = object === swap ? copy.spec.config?.systemd : copy.spec
  if (!holder) throw new Error('a MachineConfig has units')
  holder[object === swap ? 'units' : 'uninstallStrategy'] = value as Json
  return copy
}
const update = (object: KubeObject, oldObject: KubeObject, rest: Partial<AdmissionRequest> = {}) =>
  requestFor('UPDATE', { object, oldObject, ...rest })
const drifted = withValue(hco, 'x')

const named = (object: KubeObject, metadata: object): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
})

t.test('a review that contradicts itself is no review', async (t) => {
  const base = update(drifted, hco)
  const contradictions: readonly (readonly [says: string, request: AdmissionRequest])[] = [
    ['another name', { ...base, object: named(drifted, { name: 'other' }) }],
    ['another name than the request', { ...base, name: 'other' }],
    ['a name that climbs', { ...base, object: named(drifted, { name: '../../x' }) }],
    ['another namespace', { ...base, object: named(drifted, { namespace: 'other' }) }],
    ['another namespace before', { ...base, oldObject: named(hco, { namespace: '../../x' }) }],
    ['no namespace', { ...base, object: named(drifted, { namespace: undefined }) }],
    ['another kind', { ...base, object: { ...drifted, kind: 'Secret' } }],
    ['another group', { ...base, object: { ...drifted, apiVersion: 'v1' } }],
    ['a uid that is a map', { ...base, object: named(drifted, { uid: {} }) }],
  ]
  for (const [says, request] of contradictions) {
    for (const known of [snapshot, null]) {
      const { mutate, counted, events, logged } = handlersWith(known)
      t.throws(() => mutate(request), { name: 'Refused' }, says)
      t.strictSame([counted, events, logged], [[], [], []], says)
    }
  }
})

t.test('a name that only looks like one of ours is nobody’s', async (t) => {
  const { mutate, validate, counted } = handlersWith()
  for (const name of [
    '../../90-worker-swap-online',
    '%2e%2e',
    '90%2dworker-swap-online',
    '90\u2011worker-swap-online',
    '90-worker-swap-online.',
    '90-Worker-Swap-Online',
    ' 90-worker-swap-online',
    '90-worker-swap-online\0',
    '90-worker-swap-online\u200b',
    '',
  ]) {
    const [object, oldObject] = [named(withValue(swap, []), { name }), named(swap, { name })]
    const request = update(object, oldObject, { name })
    t.strictSame(mutate(request), { allowed: true }, name)
    t.strictSame(
      validate({ ...request, operation: 'DELETE', object: null }),
      { allowed: true },
      name,
    )
  }
  t.strictSame(counted, [])
})

const nested = (depth: number) => {
  let value: unknown = 'x'
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value }
  return value
}
const RTL = '\u202e\u2066gnp.exe\u0000\u001b[2J\r\nE0101 forged line\u2028'

const hostile: readonly (readonly [says: string, value: unknown])[] = [
  ['10,000 levels', nested(10_000)],
  ['100,000 levels', nested(100_000)],
  ['a list of 200,000', Array(2e5).fill(0)],
  ['a lone surrogate', '\ud800'],
  ['a text that forges lines and moves the cursor', RTL],
  ['a key that does', { [RTL]: 1 }],
  ['3 MiB of text', 'x'.repeat(3 << 20)],
  ['20,000 members', Object.fromEntries(Array.from({ length: 2e4 }, (_, at) => [`k${at}`, '']))],
]

for (const [says, value] of hostile) {
  t.test(
    `${says} in a managed field: put back or denied, in few and printable words`,
    async (t) => {
      for (const object of [hco, swap]) {
        const { mutate, validate, events } = handlersWith(snapshot, 'correct', 1)
        const request = update(withValue(object, value), object)
        const last = validate(request)
        t.equal(last.allowed, false)
        // Once more than is tolerated, and again, so that it is a war too.
        const answers = Array.from({ length: 3 }, () => mutate(request))
        t.equal(answers[0]?.allowed, object === hco)
        for (const answer of [last, ...answers]) {
          const words = [answer.status?.message ?? '', ...(answer.warnings ?? [])]
          t.ok(words.join('').length < 2_300)
          for (const word of words) t.notMatch(word, /[^\P{C}\n]|\p{Zl}|\p{Zp}|forged line\n/u)
        }
        for (const { note } of events) t.ok(note.length <= 1_000)
      }
    },
  )
}

t.test('what is beside the managed fields is not looked at, however much it is', async (t) => {
  const { mutate } = handlersWith()
  const many = Object.fromEntries(Array.from({ length: 1e5 }, (_, at) => [`k${at}`, 'v']))
  const annotations = { big: 'x'.repeat(256 << 10), [RTL]: RTL }
  const object = edited(hco, { annotations, labels: { ...hco.metadata.labels, ...many } })
  const userInfo = { username: 'alice', groups: Array(1e5).fill('group') }
  const { dryRun: _none, ...request } = update(object, hco, { userInfo })
  t.strictSame(mutate(request), { allowed: true })
  t.strictSame(mutate({ ...request, operation: 'CONNECT' }), { allowed: true })
})

/** What is in use once everything that can go is gone. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

t.test('what is remembered of callers is bounded, whatever they call themselves', async (t) => {
  const { mutate, contests, events, logged } = handlersWith()
  const before = bytesInUse()
  for (let count = 0; count < 100; count++) {
    const username = `${count}-${'x'.repeat(1 << 20)}`
    const old = named(hco, { resourceVersion: username })
    const object = named(withValue(hco, `${count}`), { resourceVersion: username })
    mutate(update(object, old, { userInfo: { username } }))
  }
  const refused = Array.from({ length: 20_000 }, (_, count) => {
    try {
      return mutate(update(named(drifted, { name: `x${count}` }), hco))
    } catch (error) {
      return error instanceof Refused
    }
  })
  t.same(new Set(refused), new Set([true]))
  t.ok(JSON.stringify(logged).length < 100_000, 'a line holds no more than it must')
  t.equal(events.length, 5)
  t.ok(bytesInUse() - before < 64 << 20, `${bytesInUse() - before}`)
  t.ok(contests.atWar(0).length <= 1)
})

t.test('events are few for one object, and come again', async (t) => {
  const { mutate, events, clock } = handlersWith()
  const flood = () => {
    for (let user = 0; user < 20; user++)
      mutate(
        update(withValue(hco, `${clock.now}-${user}`), hco, {
          userInfo: { username: `u${clock.now}-${user}` },
        }),
      )
  }
  flood()
  t.equal(events.length, 5)
  mutate(update(edited(health, { spec: () => ({}) }), health))
  t.equal(events.length, 6, 'those of another object are not fewer for it')
  for (let minute = 1; minute <= 10; minute++) {
    clock.now = minute * 60_000
    flood()
  }
  t.equal(events.length, 6 + 10, 'one a minute from then on')
})

t.test('the log has a bounded number of lines, and says how many it lacks', async (t) => {
  const { mutate, logged, clock } = handlersWith()
  const incoming = edited(hco, { annotations: { 'platform.kubevirt.io/mode': 'x' } })
  const writeAs = (username: string) => mutate(update(incoming, hco, { userInfo: { username } }))
  for (let count = 0; count < 300; count++) writeAs(`user ${count}`)
  t.equal(logged.length, 100)
  clock.now = 60_000
  writeAs('alice')
  t.match(logged.at(-1), { verdict: 'denied', unlogged: 200 })
  writeAs('bob')
  t.notOk('unlogged' in (logged.at(-1) ?? {}))
})

/** Each scalar in a value. */
const leaves = (value: unknown): readonly unknown[] =>
  isMap(value) || Array.isArray(value) ? Object.values(value).flatMap(leaves) : [value]

const toldBy = ({ patch }: AdmissionResponse): readonly unknown[] => {
  const text = Buffer.from(patch ?? '', 'base64').toString() || '[]'
  return leaves((JSON.parse(text) as { value?: unknown }[]).map(({ value }) => value))
}

t.test('a forged review is told baselines, and nothing else of the cluster', async (t) => {
  const { mutate } = handlersWith()
  // The account that is exempt is known by the API server alone: to name it here gains nothing.
  const userInfo = {
    username: 'system:serviceaccount:autopilot:virt-platform-autopilot-reconciler',
  }
  for (const asset of ['hco-golden-config', 'swap-enable', 'node-health-standard']) {
    const oldObject = baselineOf(asset)
    const object = { ...oldObject, spec: {} }
    const baseline = new Set(leaves(oldObject))
    const answers = [
      mutate(requestFor('CREATE', { object, userInfo })),
      mutate(requestFor('UPDATE', { object, oldObject, userInfo })),
    ]
    t.ok(
      answers.some((answer) => toldBy(answer).length > 0),
      `${asset}: this is how it is put back`,
    )
    for (const told of answers.flatMap(toldBy)) t.ok(baseline.has(told), `${asset}: ${told}`)
  }
})
