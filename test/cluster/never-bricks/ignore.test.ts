import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { METALLB } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { brickableCluster } from './brickable-cluster.ts'

t.test(
  'a webhook that is away, or answers wrong, where the failure policy is Ignore',
  async (t) => {
    const cluster = await brickableCluster(t)
    const { admin, autopilot, read, spare, pass, untilHealed, mend, inTheManner } = cluster
    const { webhook } = autopilot

    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'no replica runs',
        outcome:
          'every write passes; what is managed is healed and told, what is deleted comes back',
      },
      async (t) => {
        await webhook.child().kill()
        await spare(t)
        await untilHealed(await pass(t))
        const { uid } = (await read(METALLB)).metadata
        t.match(await admin('DELETE', METALLB), { status: 200 })
        await until(
          'it is back',
          async () => ![undefined, uid].includes((await read(METALLB))?.metadata.uid),
          90_000,
        )
        await mend()
      },
    )

    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'neither it nor the reconciler runs',
        outcome: 'every write passes; the first leader heals and tells what is managed',
      },
      async (t) => {
        await Promise.all([webhook.child().kill(), autopilot.reconciler.child().kill()])
        await spare(t)
        const value = await pass(t)
        autopilot.reconciler.start()
        await untilHealed(value)
        await mend()
      },
    )

    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'it answers 500',
        outcome: 'every write passes; what is managed is healed and told',
      },
      inTheManner('error 500'),
    )
    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'it answers garbage',
        outcome: 'every write passes; what is managed is healed and told',
      },
      inTheManner('garbage'),
    )
    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'it answers what was not asked, and denies',
        outcome: 'every write passes; what is managed is healed and told',
      },
      inTheManner('a stranger’s answer'),
    )
    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'it resets every connection',
        outcome: 'every write passes; what is managed is healed and told',
      },
      inTheManner('reset'),
    )
  },
)
