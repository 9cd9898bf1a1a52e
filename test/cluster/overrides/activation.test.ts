import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HEALTH_CHECK, HYPERCONVERGED, METALLB, MUTATING, STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const ANNOTATION = 'platform.kubevirt.io/autopilot'

t.test('a product that only observes unless the HyperConverged says otherwise', async (t) => {
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    reconcilerFlags: ['--activation=observe', '--resync=500ms'],
  })
  const { read, metric, untilEvent, isJudged, restart } = cluster
  const alice = cluster.person('alice')
  const annotate = async (value: string) =>
    t.match(await alice(['annotate', ...HYPERCONVERGED, '--overwrite', `${ANNOTATION}${value}`]), {
      code: 0,
    })
  const isObserving = async () =>
    (await metric('reconciler', 'virt_platform_activation_info', 'mode="observe"')) === 1

  await t.test('reports what would be, and writes nothing but what is its own', async (t) => {
    await untilEvent('DriftDetected', /^metallb: /)
    await until('the state is published', () => read(STATE))
    await until('the webhook is registered', () => read(MUTATING))
    t.ok(await isObserving())
    t.equal(await read(METALLB), undefined)
    t.equal(await read(HEALTH_CHECK), undefined)
  })

  await t.test('goes to work when the HyperConverged says so', async () => {
    await annotate('=true')
    await until('what was missing is there', () => read(HEALTH_CHECK))
    await until('edits are put back', isJudged)
  })

  await t.test('only observes again without its word, after a restart too', async (t) => {
    await annotate('-')
    await until('edits pass', async () => !(await isJudged()))
    t.ok(await isObserving())
    await restart('reconciler')
    await until('it observes', isObserving)
    t.notOk(await isJudged())
  })
})
