import t from 'tap'

import {
  answerOn,
  isClaimed,
  remember,
  requeueAfterMs,
  withAnswer,
} from '../../../../../src/reconciler/baseline/decide/memory.ts'
import type { Outcome } from '../../../../../src/reconciler/baseline/decide/outcome.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'

const object = (value: number, metadata = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', ...metadata },
  spec: { value },
})
const CHANGE = { drifts: [] }

t.test('what is expected holds for the very same pair of states', async (t) => {
  t.equal(answerOn({}, object(1), object(2)), undefined)
  const memory = withAnswer({}, object(1), object(2), CHANGE)
  t.equal(answerOn(memory, object(1), object(2)), CHANGE)
  const touched = { ...object(2, { resourceVersion: '9', managedFields: [] }), status: { a: 1 } }
  t.equal(answerOn(memory, object(1), touched), CHANGE, 'status and bookkeeping do not count')
  t.equal(answerOn(memory, object(1), object(3)), undefined)
  t.equal(answerOn(memory, object(3), object(2)), undefined)
  t.equal(answerOn(memory, object(1), undefined), undefined)
})

t.test('what is expected of a creation is no word on what is there', async (t) => {
  const memory = withAnswer({}, object(1), undefined, CHANGE)
  t.equal(answerOn(memory, object(1), undefined), CHANGE)
  t.equal(answerOn(memory, object(1, { name: 'y' }), undefined), undefined)
  t.equal(answerOn(memory, object(1), object(1)), undefined)
})

t.test(
  'that the server saw no difference holds for the very same pair, of one object',
  async (t) => {
    const live = object(2, { uid: 'u' })
    const memory = withAnswer({}, object(1), live, 'nothing')
    t.equal(answerOn(memory, object(1), live), 'nothing')
    t.equal(answerOn(memory, object(1), { ...live, status: { a: 1 } }), 'nothing')
    t.equal(answerOn(memory, object(1), object(3, { uid: 'u' })), undefined)
    t.equal(answerOn(memory, object(2), live), undefined)
    t.equal(answerOn(memory, object(1), object(2, { uid: 'another' })), undefined, 'created anew')
    t.equal(answerOn(memory, object(1), object(2, { uid: 'u', labels: { a: 'b' } })), undefined)
  },
)

const time = { healLimits: { capacity: 2, windowMs: 1_000 }, uptime: 0, resyncs: 3 }
const plan = {
  kind: 'enforce',
  desired: object(1),
  released: [],
  isPatched: false,
  remarks: [],
} as const
const live = object(2, { uid: 'u', resourceVersion: '7' })
const stored = object(1, { uid: 'u', resourceVersion: '8' })
const write = { kind: 'apply', desired: object(1), live } as const

t.test(
  'an apply takes every field, until the resync, or until an orphan’s object changes',
  async (t) => {
    const outcome: Outcome = { kind: 'unchanged', plan }
    const memory = remember({}, { outcome, write }, stored, time)
    t.ok(isClaimed({ memory, resyncs: 3 }, object(1), stored, false))
    t.ok(isClaimed({ memory, resyncs: 3 }, object(1), stored, true))
    t.notOk(isClaimed({ memory, resyncs: 4 }, object(1), stored, false), 'after a resync')
    t.notOk(
      isClaimed({ memory, resyncs: 3 }, object(2), stored, false),
      'something else is desired',
    )
    const anew = object(1, { uid: 'v', resourceVersion: '8' })
    t.notOk(isClaimed({ memory, resyncs: 3 }, object(1), anew, false))
    const touched = object(1, { uid: 'u', resourceVersion: '9' })
    t.ok(isClaimed({ memory, resyncs: 3 }, object(1), touched, false))
    t.notOk(isClaimed({ memory, resyncs: 3 }, object(1), touched, true))
    t.equal(answerOn(memory, object(1), stored), 'nothing')
    t.equal(memory.heals, undefined, 'it is no heal')
  },
)

t.test('a creation claims nothing yet, and counts for the next', async (t) => {
  const outcome: Outcome = { kind: 'created', plan }
  const created = { ...write, live: undefined }
  const memory = remember({}, { outcome, write: created }, stored, time)
  t.notOk(isClaimed({ memory, resyncs: 3 }, object(1), stored, false))
  t.equal(answerOn(memory, object(1), stored), 'nothing')
  t.ok(memory.heals)
})

t.test('a heal counts, and a decision without a write teaches nothing', async (t) => {
  const outcome: Outcome = { kind: 'configured', plan, drifts: [], cause: 'drift' }
  const once = remember({}, { outcome, write }, stored, time)
  t.equal(once.heals?.memory, undefined)
  const twice = remember(once, { outcome, write }, stored, time)
  t.match(twice.heals?.memory, { throttles: 0, bucket: { tokens: 1 } })
  t.equal(remember(twice, { outcome: { kind: 'unchanged', plan } }, undefined, time), twice)
})

t.test('a pause that is written ends the war', async (t) => {
  const outcome: Outcome = { kind: 'throttled', plan, drifts: [], rivals: [], isPaused: true }
  const heals = { digest: 'd', memory: { bucket: undefined, throttles: 3, until: 5 } }
  const memory = remember({ heals }, { outcome, write: { kind: 'pause' } }, stored, time)
  t.same(memory.heals, { digest: 'd', memory: undefined })
})

t.test('what is throttled or being deleted is looked at again', async (t) => {
  const throttled: Outcome = { kind: 'throttled', plan, drifts: [], rivals: [], isPaused: false }
  const heals = { digest: 'd', memory: { bucket: undefined, throttles: 1, until: 9_000 } }
  t.equal(requeueAfterMs(throttled, { heals }, 2_000), 7_000)
  t.equal(requeueAfterMs(throttled, { heals }, 8_900), 1_000, 'not at once')
  t.equal(requeueAfterMs({ kind: 'skipped', reason: 'Deleting' }, {}, 0), 30_000)
  t.equal(requeueAfterMs({ kind: 'skipped', reason: 'Paused' }, {}, 0), undefined)
  t.equal(requeueAfterMs({ kind: 'unchanged', plan }, { heals }, 0), undefined)
})
