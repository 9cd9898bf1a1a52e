import t from 'tap'
import { isReady, METALLB } from './autopilot-fixture.ts'
import { faultTest } from './fault.ts'
import { brickableCluster } from './never-bricks.ts'
import { until } from './until.ts'

const MERGE = 'application/merge-patch+json'

t.test('a webhook that does not answer, where the failure policy is Ignore', async (t) => {
  const cluster = await brickableCluster(t)
  const {
    admin,
    alarming,
    autopilot,
    mend,
    spare,
    withBad,
    pass,
    untilFate,
    untilHealed,
    inTheManner,
  } = cluster
  const { webhook } = autopilot

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its process is stopped (SIGSTOP)',
      outcome:
        'writes to managed objects pass after 3 s for each of its two entries; no other waits',
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
        'writes to managed objects pass after 3 s for each of its two entries; no other waits',
    },
    inTheManner('silent'),
  )
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it takes requests and answers none',
      outcome:
        'writes to managed objects pass after 3 s for each of its two entries; no other waits',
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
      fault: 'it answers later than in 3 s, and denies',
      outcome: 'nobody waits for the denial: the write passes, and is healed',
    },
    inTheManner('slow'),
  )
})
