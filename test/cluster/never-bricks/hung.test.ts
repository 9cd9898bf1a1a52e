import t from 'tap'
import { isReady } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { METALLB, MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { brickableCluster } from './brickable-cluster.ts'

const MERGE = 'application/merge-patch+json'

t.test('a webhook that does not answer, where the failure policy is Ignore', async (t) => {
  const cluster = await brickableCluster(t, { isImpatient: true, isOwn: true })
  const {
    admin,
    alarming,
    autopilot,
    mend,
    read,
    spare,
    withBad,
    pass,
    untilFate,
    untilHealed,
    inTheManner,
  } = cluster
  const { webhook } = autopilot

  await t.test('is given up as soon as the API server can give one up', async (t) => {
    for (const path of [MUTATING, VALIDATING])
      t.match((await read(path)).webhooks, [{ failurePolicy: 'Ignore', timeoutSeconds: 1 }])
  })

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its process is stopped (SIGSTOP)',
      outcome:
        'edits of managed objects pass after 1 s for each of its two entries; no other write waits',
    },
    async (t) => {
      const { pid } = webhook.child()
      t.teardown(() => process.kill(pid, 'SIGCONT'))
      process.kill(pid, 'SIGSTOP')
      await spare(t)
      await untilHealed(await pass(t))
      process.kill(pid, 'SIGCONT')
      await until('it is ready', () => isReady(autopilot.opsPorts.webhook), 90_000)
      await untilFate('judged')
    },
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it takes connections and says nothing',
      outcome:
        'edits of managed objects pass after 1 s for each of its two entries; no other write waits',
    },
    inTheManner('silent'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it takes requests and answers none',
      outcome:
        'edits of managed objects pass after 1 s for each of its two entries; no other write waits',
    },
    inTheManner('hung'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers none, and finalizers come and go on managed objects',
      outcome: 'such writes wait for the first of its two entries alone',
    },
    async (t) => {
      await webhook.child().kill()
      await withBad('hung', async () => {
        for (const finalizers of [['example.com/hold'], null]) {
          const before = await alarming()
          const { status } = await admin('PATCH', METALLB, { metadata: { finalizers } }, MERGE)
          t.equal(status, 200)
          const [mutate = 0, validate = 0] = before
          t.same(await alarming(), [mutate + 1, validate])
        }
      })
      await mend()
    },
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it answers later than in 1 s, and denies',
      outcome: 'nobody waits for the denial: the write passes, and is healed',
    },
    inTheManner('slow'),
  )
})
