import t from 'tap'
import { createClock } from '../faults/clocks.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { until } from '../harness/until.ts'
import {
  AUTHORITY,
  type InUse,
  inUse,
  isJudged,
  SERVING,
  untilInUse,
  untilKept,
} from './certificates.ts'

const HOUR = 3_600_000
const isAbout = (time: number, other: number) => Math.abs(time - other) < HOUR

t.test('clocks that differ by two hours', async (t) => {
  const ofLeader = createClock(t)
  const ofWebhook = createClock(t)
  const cluster = await autopilotCluster(t, {
    reconcilerFlags: ['--resync=1s'],
    env: ofLeader.env,
  })
  // From now on each has its own; the API server’s is the true time.
  await cluster.restart('webhook', { env: ofWebhook.env })

  const madeAnew = async () => {
    const before = await untilInUse(cluster, 'what is stored is in use', () => true)
    // The authority first: a leader that finds only the other gone stores both again.
    for (const path of [AUTHORITY, SERVING]) await cluster.admin('DELETE', path)
    const made = await untilInUse(
      cluster,
      'all is made anew',
      ({ authority, isSigned }) => authority !== before.authority && isSigned,
    )
    await until('writes are judged', () => isJudged(cluster))
    return made
  }
  /** That both clocks were set indeed. */
  const areSet = (made: InUse, leader: number, webhook: number) => {
    const end = made.ends.serving * 1000 - 90 * 24 * HOUR
    const { time } = JSON.parse(cluster.log('webhook').trim().split('\n').at(-1) ?? '{}')
    return isAbout(end, Date.now() + leader) && isAbout(time, Date.now() + webhook)
  }
  /** Lets a leader with this clock take over. */
  const succeed = async (ms: number) => {
    await cluster.restart('reconciler', {
      env: ofLeader.env,
      meanwhile: async () => ofLeader.set(ms),
    })
    await untilKept(cluster)
    await cluster.untilCompared('kubevirt-hyperconverged')
  }

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the leader’s clock is two hours ahead, the webhook’s two hours behind',
      outcome: 'the API server trusts what it makes, and a leader four hours behind it keeps that',
    },
    async (t) => {
      ofWebhook.set(-2 * HOUR)
      await succeed(2 * HOUR)
      const made = await madeAnew()
      t.ok(areSet(made, 2 * HOUR, -2 * HOUR))
      await succeed(-2 * HOUR)
      t.same(await inUse(cluster), made)
      t.ok(await isJudged(cluster))
    },
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the leader’s clock is two hours behind, the webhook’s two hours ahead',
      outcome:
        'the API server trusts what it makes, and a leader four hours ahead of it keeps that',
    },
    async (t) => {
      ofWebhook.set(2 * HOUR)
      await succeed(-2 * HOUR)
      const made = await madeAnew()
      t.ok(areSet(made, -2 * HOUR, 2 * HOUR))
      await succeed(2 * HOUR)
      t.same(await inUse(cluster), made)
      t.ok(await isJudged(cluster))
    },
  )
})
