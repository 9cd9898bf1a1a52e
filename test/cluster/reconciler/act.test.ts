import t from 'tap'
import { act, type Target, takeStep } from '../../../src/reconciler/baseline/act.ts'
import { withPreconditions } from '../../../src/reconciler/baseline/decide/comparison.ts'
import { skip } from '../../../src/reconciler/baseline/decide/decision.ts'
import type { Write } from '../../../src/reconciler/baseline/decide/outcome.ts'
import {
  FIELD_MANAGER,
  MANAGED_BY,
  PAUSE_FIELD_MANAGER,
  RECONCILE_PAUSED,
} from '../../../src/shared/baseline/annotations.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { releaseOperations } from '../../../src/shared/engine/merge/ownership.ts'
import { testCluster } from '../harness/fixture.ts'
import { createSubject, done, outcome } from './subject.ts'

const CONFLICT = { name: 'ApiError', status: 409 }
const LEASE_LOST = /the Lease is no longer ours/

t.test('what a decision asks of a real API server', async (t) => {
  const cluster = await testCluster(t)
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(client.close)

  const subject = (changes?: Partial<Target>) => createSubject(cluster, client, changes)
  const managersOf = ({ metadata: { managedFields = [] } }: KubeObject) =>
    managedFields.map(({ manager, operation }) => `${manager} ${operation}`)

  await t.test('an object is read by name, and may be absent', async (t) => {
    const { target, asked, made } = subject()
    t.same(await takeStep({ kind: 'read' }, target), { live: undefined, isRead: true })
    const live = await made()
    t.same(await takeStep({ kind: 'read' }, target), { live, isRead: true })
    t.same(asked, ['GET', 'GET'])
  })

  await t.test('a kind that is not served can be asked about nothing', async (t) => {
    const { target, asked } = subject({ at: undefined })
    await t.rejects(takeStep({ kind: 'read' }, target), /the kind of subject-\d+ is not served/)
    t.same(asked, [])
  })

  await t.test('a dry run stores nothing, and is open to whoever does not lead', async (t) => {
    const { target, asked, stored, baseline, find, made } = subject({ isLeader: () => false })
    const step = (value: string) => ({ kind: 'dryRun', object: baseline({ value }) }) as const
    t.match(await takeStep(step('new'), target), { dryRun: { answer: { data: { value: 'new' } } } })
    t.equal(await find(), undefined, 'nothing is created')
    const before = await made()
    t.match(await takeStep(step('other'), target), {
      dryRun: { answer: { data: { value: 'other' } } },
    })
    t.same(await find(), before, 'nothing is changed')
    t.same(asked, ['dry run', 'dry run'])
    t.same(stored, [])
  })

  await t.test('a dry run that is forbidden is an answer to whoever only observes', async (t) => {
    const visitor = cluster.kubeconfigFor({ name: 'bob', groups: ['visitors'] })
    const powerless = await connect(loadKubeconfig(visitor))
    t.teardown(powerless.close)
    const observing = subject({ client: powerless, isObserving: true })
    const step = { kind: 'dryRun', object: observing.baseline() } as const
    t.match(await takeStep(step, observing.target), {
      dryRun: { forbidden: /User "bob" cannot patch resource "configmaps"/ },
    })
    const enforcing = { ...observing.target, isObserving: false }
    await t.rejects(takeStep(step, enforcing), { name: 'ApiError', status: 403 })
    t.same(observing.asked, ['dry run', 'dry run'])

    const outpaced = subject({ isObserving: true })
    const stale = withPreconditions(outpaced.baseline(), await outpaced.made())
    await outpaced.edit({ data: { beside: 'theirs' } })
    await t.rejects(takeStep({ kind: 'dryRun', object: stale }, outpaced.target), CONFLICT)
  })

  await t.test(
    'fields are released and keep their values, unless somebody is faster',
    async (t) => {
      const { target, asked, stored, baseline, found, made, edit } = subject()
      const before = await made({ value: 'kept', released: 'theirs' })
      const paths = [[{ field: 'data' }, { field: 'released' }]]
      const operations = releaseOperations(before, FIELD_MANAGER, paths, MANAGED_BY) ?? []
      t.not(operations.length, 0)
      await edit({ metadata: { labels: { theirs: 'yes' } } })
      await t.rejects(takeStep({ kind: 'release', operations }, target), CONFLICT)
      t.same(stored, [])

      const live = await found()
      const again = releaseOperations(live, FIELD_MANAGER, paths, MANAGED_BY) ?? []
      const taken = await takeStep({ kind: 'release', operations: again }, target)
      t.same(taken, { live: await found(), hasReleased: true })
      t.same(stored, [taken.live])
      t.same(asked, ['PATCH', 'PATCH'])

      const desired = baseline({ value: 'new' })
      const { object } = await act(done({ kind: 'apply', desired, live: taken.live }), target)
      t.same(object?.data, { value: 'new', released: 'theirs' }, 'an apply without it leaves it')
    },
  )

  await t.test('what needs no write costs no request', async (t) => {
    const { target, asked } = subject()
    t.same(await act(skip('Paused'), target), { outcome: { kind: 'skipped', reason: 'Paused' } })
    t.same(asked, [])
  })

  await t.test('an apply creates and changes under our field manager', async (t) => {
    const { target, asked, stored, baseline, found } = subject()
    const created = await act(done({ kind: 'apply', desired: baseline(), live: undefined }), target)
    const live = await found()
    t.same(created, { outcome, object: live })
    t.same(managersOf(live), [`${FIELD_MANAGER} Apply`])
    const configured = await act(
      done({ kind: 'apply', desired: baseline({ value: 'new' }), live }),
      target,
    )
    t.same(configured.object, await found())
    t.match(configured.object, { data: { value: 'new' } })
    t.same(asked, ['PATCH', 'PATCH'])
    t.same(stored, [created.object, configured.object])
  })

  await t.test('an apply is bound to the state that it was planned from', async (t) => {
    const { target, stored, baseline, find, found, made, edit, remove } = subject()
    const desired = baseline({ value: 'new' })
    const planned = await made()
    const late = () => act(done({ kind: 'apply', desired, live: planned }), target)

    await edit({ data: { beside: 'theirs' } })
    const edited = await found()
    await t.rejects(late(), CONFLICT, 'somebody wrote in between')
    t.same(await found(), edited)

    await remove()
    await t.rejects(late(), CONFLICT, 'it is gone')
    t.equal(await find(), undefined, 'and not made anew')

    const another = await made()
    await t.rejects(late(), CONFLICT, 'it is another one of the same name')
    t.same(await found(), another)
    t.same(stored, [])
  })

  await t.test('a pause annotates the object, under a field manager of its own', async (t) => {
    const { target, asked, stored, found, made } = subject()
    const before = await made()
    const { object } = await act(done({ kind: 'pause' }), target)
    const paused = await found()
    t.same(object, paused)
    t.same(stored, [paused])
    t.same(paused.data, before.data)
    t.same(paused.metadata.annotations, { [RECONCILE_PAUSED]: 'true' })
    t.same(managersOf(paused), [`${FIELD_MANAGER} Apply`, `${PAUSE_FIELD_MANAGER} Update`])
    t.same(asked, ['PATCH'])
  })

  await t.test(
    'a deletion takes the very object that was planned from, and no other',
    async (t) => {
      const { target, asked, stored, find, found, made, edit, remove } = subject()
      const planned = await made()
      const deletion = (live: KubeObject) => act(done({ kind: 'delete', live }), target)

      await edit({ data: { beside: 'theirs' } })
      await t.rejects(deletion(planned), CONFLICT, 'somebody wrote in between')
      await remove()
      const live = await made()
      await t.rejects(deletion(planned), CONFLICT, 'it is another one of the same name')
      t.same(await found(), live)

      t.same(await deletion(live), { outcome })
      t.equal(await find(), undefined)
      t.same(await deletion(live), { outcome: { kind: 'gone' } }, 'it is gone already')
      t.same(asked, Array(4).fill('DELETE'))
      t.same(stored, [])
    },
  )

  await t.test('a deletion says where a finalizer holds it up', async (t) => {
    const { target, find, found, made, edit } = subject()
    await made()
    await edit({ metadata: { finalizers: ['example.com/cleanup'] } })
    const deletion = await act(done({ kind: 'delete', live: await found() }), target)
    t.same(deletion, { outcome: { kind: 'skipped', reason: 'Deleting' } })
    t.ok((await found()).metadata.deletionTimestamp)
    await edit({ metadata: { finalizers: null } })
    t.equal(await find(), undefined)
  })

  await t.test('whoever lost the Lease asks for no write', async (t) => {
    const { target, asked, stored, baseline, found, made } = subject({ isLeader: () => false })
    const live = await made()
    const writes: readonly Write[] = [
      { kind: 'apply', desired: baseline({ value: 'new' }), live },
      { kind: 'apply', desired: baseline({ value: 'new' }), live: undefined },
      { kind: 'pause' },
      { kind: 'delete', live },
    ]
    for (const write of writes) await t.rejects(act(done(write), target), LEASE_LOST, write.kind)
    const operations = [{ op: 'remove', path: '/data' }] as const
    await t.rejects(takeStep({ kind: 'release', operations }, target), LEASE_LOST)
    t.same(asked, [])
    t.same(stored, [])
    t.same(await found(), live)
  })
})
