import t from 'tap'

import { act, type Target, take } from '../../../src/reconciler/baseline/act.ts'
import { skip, type Write } from '../../../src/reconciler/baseline/decide/decision.ts'
import { ApiError, type Client, type RequestInput } from '../../../src/shared/cluster/client.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { baseline, storedWith } from './asset-inputs.ts'

const at = { apiVersion: 'example.com/v1', resource: 'sorts' }
const live = storedWith()
const outcome = { kind: 'removed', was: live } as const

/** An API server that answers everything in one way, and what it was asked and we noted. */
function serverWith(answer: () => unknown, changes: Partial<Target> = {}) {
  const asked: string[] = []
  const stored: KubeObject[] = []
  const send = async (path: string, { method = 'GET', query, body }: RequestInput = {}) => {
    const isDryRun = query?.dryRun === 'All' ? ' (dry run)' : ''
    asked.push(`${method} ${path}${isDryRun} ${JSON.stringify(body) ?? ''}`.trim())
    return { status: 200, body: answer() }
  }
  const target: Target = {
    client: { send } as unknown as Client,
    at,
    name: 'one',
    isLeader: () => true,
    isObserving: false,
    onStored: (object) => stored.push(object),
    ...changes,
  }
  return { target, asked, stored }
}

const refusing = (status: number) => () => {
  throw new ApiError('PATCH', status, { message: 'no' })
}

t.test('an object is read by name, and may be absent', async (t) => {
  const there = serverWith(() => live)
  t.same(await take({ kind: 'read' }, there.target), { live, isRead: true })
  t.same(there.asked, ['GET /apis/example.com/v1/sorts/one'])
  const { target } = serverWith(refusing(404))
  t.same(await take({ kind: 'read' }, target), { live: undefined, isRead: true })
})

t.test('a dry run is asked for, also by whoever does not lead', async (t) => {
  const { target, asked, stored } = serverWith(() => live, { isLeader: () => false })
  const step = { kind: 'dryRun', object: baseline } as const
  t.same(await take(step, target), { dryRun: { answer: live } })
  t.match(asked, [/^PATCH .*\/one \(dry run\) \{/])
  t.same(stored, [], 'nothing of it is stored')
})

t.test('a dry run that is forbidden is an answer to whoever only observes', async (t) => {
  const step = { kind: 'dryRun', object: baseline } as const
  const observing = serverWith(refusing(403), { isObserving: true })
  t.match(await take(step, observing.target), { dryRun: { forbidden: /no/ } })
  await t.rejects(take(step, serverWith(refusing(403)).target), /403/)
  const conflict = serverWith(refusing(409), { isObserving: true })
  await t.rejects(take(step, conflict.target), /409/)
})

t.test('fields are released, and the object that leaves is planned from', async (t) => {
  const { target, asked, stored } = serverWith(() => live)
  const operations = [{ op: 'remove', path: '/metadata/managedFields/0' }] as const
  t.same(await take({ kind: 'release', operations }, target), { live, hasReleased: true })
  t.same(asked, [`PATCH /apis/example.com/v1/sorts/one ${JSON.stringify(operations)}`])
  t.same(stored, [live])
})

const done = (write: Write) => ({ kind: 'final', outcome, write }) as const

t.test('what needs no write costs no request', async (t) => {
  const { target, asked } = serverWith(() => live)
  t.same(await act(skip('Paused'), target), { outcome: { kind: 'skipped', reason: 'Paused' } })
  t.same(asked, [])
})

t.test('an apply is bound to the state that it was planned from, a creation to none', async (t) => {
  const { target, asked, stored } = serverWith(() => live)
  const answer = await act(done({ kind: 'apply', desired: baseline, live }), target)
  t.same(answer, { outcome, object: live })
  t.match(asked[0], /^PATCH \S+\/one \{.*"uid":"u","resourceVersion":"7"/)
  await act(done({ kind: 'apply', desired: baseline, live: undefined }), target)
  t.notMatch(asked[1], /uid|resourceVersion/)
  t.same(stored, [live, live])
})

t.test('a pause annotates the object', async (t) => {
  const { target, asked } = serverWith(() => live)
  await act(done({ kind: 'pause' }), target)
  t.match(asked, [/^PATCH \S+\/one \{"metadata":\{"annotations":\{\S+reconcile-paused":"true"/])
})

t.test('a deletion says what came of it', async (t) => {
  const write = { kind: 'delete', live } as const
  const { target, asked } = serverWith(() => ({ kind: 'Status', status: 'Success' }))
  t.same(await act(done(write), target), { outcome })
  t.match(asked, [/^DELETE .*"preconditions":\{"uid":"u","resourceVersion":"7"\}/])
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const ending = serverWith(() => storedWith({ metadata: { deletionTimestamp } }))
  t.same((await act(done(write), ending.target)).outcome, { kind: 'skipped', reason: 'Deleting' })
  const gone = serverWith(refusing(404))
  t.same((await act(done(write), gone.target)).outcome, { kind: 'removed' })
})

t.test('whoever lost the Lease writes nothing', async (t) => {
  const { target, asked, stored } = serverWith(() => live, { isLeader: () => false })
  const writes: readonly Write[] = [
    { kind: 'apply', desired: baseline, live },
    { kind: 'pause' },
    { kind: 'delete', live },
  ]
  for (const write of writes)
    await t.rejects(act(done(write), target), /the Lease is no longer ours/)
  await t.rejects(take({ kind: 'release', operations: [] }, target), /the Lease is no longer ours/)
  t.same(asked, [])
  t.same(stored, [])
})

t.test('a kind that is not served can be asked about nothing', async (t) => {
  const { target } = serverWith(() => live, { at: undefined })
  await t.rejects(take({ kind: 'read' }, target), /the kind of one is not served/)
})
