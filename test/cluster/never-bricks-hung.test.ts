import t from 'tap'
import { isReady } from './autopilot-fixture.ts'
import { faultTest } from './fault.ts'
import { brickableCluster } from './never-bricks.ts'
import { until } from './until.ts'

t.test('a webhook that does not answer, where the failure policy is Ignore', async (t) => {
  const cluster = await brickableCluster(t)
  const { autopilot, spare, pass, untilFate, untilHealed, inTheManner } = cluster
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
      fault: 'it answers later than in 3 s, and denies',
      outcome: 'nobody waits for the denial: the write passes, and is healed',
    },
    inTheManner('slow'),
  )
})
