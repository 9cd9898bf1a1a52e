import t from 'tap'
import type { Passed } from '../harness/network/proxy.ts'
import { STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { createClock } from './clocks.ts'
import { faultyCluster, HEAL } from './faulty-cluster.ts'

const HOUR_MS = 3_600_000
const JUMPS = [
  { jump: 'a day ahead', ms: 24 * HOUR_MS },
  { jump: 'a day behind', ms: -24 * HOUR_MS },
  { jump: 'back to where it was', ms: 0 },
]

t.test('a system clock that is set while we run', async (t) => {
  const clock = createClock(t)
  const cluster = await faultyCluster(t, {
    reconcilerFlags: ['--resync=1h'],
    env: clock.env,
  })
  const { metric, proxy, read, edit, survive, untilHealed, mark, log, autopilot } = cluster
  // What the leader sees registered it publishes a moment later: a write that no clock has caused.
  await until('both registrations are published', async () => {
    const { data } = await read(STATE)
    return Object.keys(JSON.parse(data['registered.json'])).length === 2
  })
  await autopilot.webhook.child().kill()
  const isRenewal = ({ method, path, account, status }: Passed) =>
    method === 'PUT' && path.includes('/leases/') && account === 'reconciler' && status === 200
  const untilRenewed = async () => {
    const before = proxy.passed.length
    await until(
      'the Lease is renewed three times',
      async () => proxy.passed.slice(before).filter(isRenewal).length >= 3,
      90_000,
    )
    return proxy.passed.slice(before).filter(({ account }) => account === 'reconciler')
  }

  for (const { jump, ms } of JUMPS) {
    await t.test(`${jump}, costs neither the Lease, nor writes, nor a loop`, async (t) => {
      const since = mark()
      const work = async () => {
        clock.set(ms)
        const passed = await untilRenewed()
        const others = passed.filter(({ path, isWatch }) => !path.includes('/leases/') && !isWatch)
        // A machine that is too slow to renew in time makes a new leader read the state and the certificates.
        t.ok(others.length <= 10, `${others.length} other requests meanwhile`)
        await edit()
        await untilHealed()
      }
      await survive(t, work, [HEAL])
      const at = log('reconciler')
        .slice(since)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).time)
      t.ok(Math.abs((at.at(-1) ?? 0) - Date.now() - ms) < HOUR_MS, 'its clock was set indeed')
      await until(
        'it leads',
        async () => (await metric('reconciler', 'virt_platform_leader')) === 1,
      )
    })
  }
})
