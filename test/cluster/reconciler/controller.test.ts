import t from 'tap'
import { FIELD_MANAGER } from '../../../src/shared/baseline/annotations.ts'
import type { Asset } from '../../../src/shared/baseline/catalog/catalog.ts'
import { until } from '../harness/until.ts'
import { healthCheck, withControllers } from './controllers.ts'

const minHealthy = (value: string) => ({ spec: { minHealthy: value } })

t.test('what the controller of the assets asks of a real API server', (t) =>
  withControllers(t, async ({ write, stored, fresh }) => {
    const ours = async () =>
      (await stored())?.metadata.managedFields?.find(
        ({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply',
      )?.fieldsV1

    await t.test(
      'an object that is not there is read by name, then created, then left alone',
      async (t) => {
        const { start, look } = await fresh(t)
        t.same(await start(), { asked: ['GET', 'PATCH'], outcomes: ['created'] })
        const before = await stored()
        t.match(before, minHealthy('51%'))
        t.same(await look(), { asked: [], outcomes: ['unchanged'] })
        t.same(await stored(), before)
      },
    )

    await t.test('drift costs a dry run and an apply, once', async (t) => {
      const { start, look, drift } = await fresh(t)
      await start()
      const kept = (await stored())?.spec
      await drift('7%')
      t.same(await look(), { asked: ['dry run', 'PATCH'], outcomes: ['configured'] })
      t.same((await stored())?.spec, kept)
      t.same(await look(), { asked: [], outcomes: ['unchanged'] })
    })

    await t.test('what is put back too often is throttled, without a request', async (t) => {
      const { start, look, drift, clock } = await fresh(t)
      await start()
      await drift('7%')
      t.same((await look()).outcomes, ['configured'])
      await drift('8%')
      t.same(await look(), { asked: [], outcomes: ['throttled'] })
      t.match(await stored(), minHealthy('8%'))
      clock.uptime = 60_000
      t.same(await look(), { asked: ['dry run', 'PATCH'], outcomes: ['configured'] })
      t.match(await stored(), minHealthy('51%'))
    })

    await t.test('a conflict is read and decided again at once, and costs no heal', async (t) => {
      const { start, look, drift, failures, rival } = await fresh(t)
      await start()
      await drift('7%')
      rival.writes = 2
      const { asked, outcomes } = await look()
      const again = ['dry run', 'PATCH', 'GET']
      t.same(asked, [...again, ...again, 'dry run', 'PATCH'])
      t.same(outcomes, ['configured'])
      t.same(failures, [])
      t.match(await stored(), { metadata: { labels: { round: '1' } }, ...minHealthy('51%') })
    })

    await t.test('against a writer who is always faster the queue backs off', async (t) => {
      const { start, look, drift, failures, outcomes, rival } = await fresh(t)
      await start()
      await drift('7%')
      rival.writes = 4
      const { asked, outcomes: meanwhile } = await look()
      const again = ['dry run', 'PATCH', 'GET']
      t.same(asked, [...again, ...again, ...again, 'dry run', 'PATCH'])
      t.same(meanwhile, [])
      t.match(failures, [{ error: { status: 409 } }])
      t.ok((failures[0]?.retryInMs ?? 0) > 0)
      await until('the queue tries again', async () => outcomes.length > 0)
      t.same(outcomes, ['configured'])
      t.match(await stored(), minHealthy('51%'))
    })

    await t.test('a field that the schema does not know is the template’s fault', async (t) => {
      const render: Asset['render'] = (locals, onRead) => {
        const object = healthCheck.render(locals, onRead)
        return object && { ...object, spec: { ...(object.spec as object), no: 1 } }
      }
      const { start, failures } = await fresh(t, { asset: { ...healthCheck, render } })
      t.same(await start(), { asked: ['GET', 'PATCH'], outcomes: ['RenderFailed'] })
      t.same(failures, [], 'and it is not tried again')
      t.equal(await stored(), undefined)
    })

    await t.test('ownership is taken back once, and once more after a resync', async (t) => {
      const { start, look, resync, drift } = await fresh(t)
      await start()
      // As a write does that is corrected: the value is as before, and its owner is its writer.
      const disown = async () => {
        await write(minHealthy('7%'))
        await drift('51%')
      }
      await disown()
      t.same(await look(), { asked: ['PATCH'], outcomes: ['unchanged'] })
      t.match(await ours(), { 'f:spec': { 'f:minHealthy': {} } })
      await disown()
      t.same(await look(), { asked: [], outcomes: ['unchanged'] })
      t.notMatch(await ours(), { 'f:spec': { 'f:minHealthy': {} } })
      t.same(await resync(), { asked: ['PATCH'], outcomes: ['unchanged'] })
      t.match(await ours(), { 'f:spec': { 'f:minHealthy': {} } })
    })
    const observer = { isObserver: true, isLeader: () => false }

    await t.test(
      'an observer asks what the server would say, once, and writes nothing',
      async (t) => {
        const { start, look, drift } = await fresh(t, observer)
        t.same(await start(), { asked: ['GET', 'dry run'], outcomes: ['Observing'] })
        t.same(await look(), { asked: ['GET'], outcomes: ['Observing'] })
        t.equal(await stored(), undefined)

        const leader = await fresh(t)
        await leader.start()
        await drift('7%')
        t.same(await look(), { asked: ['dry run'], outcomes: ['Observing'] })
        t.same(await look(), { asked: [], outcomes: ['Observing'] })
        t.match(await stored(), minHealthy('7%'))
      },
    )

    await t.test('whoever does not lead asks for nothing', async (t) => {
      const { controller, asked, start, outcomes } = await fresh(t, { isLeader: () => false })
      await start()
      t.ok(controller.evaluation)
      t.same([asked, outcomes], [[], []])
    })

    await t.test('nor does anybody who knows nothing of the cluster', async (t) => {
      const { controller, asked, outcomes } = await fresh(t)
      controller.evaluate({ kind: 'unavailable', reason: 'NotYet' })
      t.equal(controller.evaluation, undefined)
      await controller.reconcile(healthCheck.name)
      t.same([asked, outcomes], [[], []])
    })
  }),
)
