import t, { type Test } from 'tap'
import type { Autopilot } from '../../../tools/dev/autopilot.ts'
import { audited } from '../harness/audit.ts'
import { faultTest } from '../harness/fault.ts'
import { sumOf } from '../harness/readings.ts'
import { until } from '../harness/until.ts'
import {
  INSTALLED,
  OUR_NAMESPACE,
  REGISTERED,
  readFrom,
  untilGivenUp,
  WITHIN_MS,
} from './uninstall.ts'
import { uninstalling } from './uninstalling.ts'

t.test('uninstalling under the processes that still run', async (t) => {
  const { cluster, uninstalled, remove, untilGone } = await uninstalling(t)
  const isLeader = async ({ opsPorts }: Autopilot) => {
    const reply = await fetch(`http://127.0.0.1:${opsPorts.reconciler}/metrics`)
    return sumOf(await reply.text(), 'virt_platform_leader') === 1
  }
  const stillRun = (t: Test, { webhook, reconciler }: Autopilot) => {
    for (const { child } of [webhook, reconciler])
      t.ok(child().isRunning(), `the ${child().name} did not crash`)
  }

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'our namespace goes first, and both processes still run',
      outcome: 'it ends, the leader writes nothing more, and the rest can go',
    },
    uninstalled('namespace-first', async (t, autopilot) => {
      await remove(INSTALLED.filter(({ kind }) => kind === 'Namespace'))
      await untilGone(OUR_NAMESPACE)
      await until('it leads no more', async () => !(await isLeader(autopilot)), WITHIN_MS)
      stillRun(t, autopilot)
      await autopilot.stop()
      await remove(INSTALLED)
    }),
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the webhook configurations go first, and the leader still runs',
      outcome: 'they stay away, and the rest can go',
    },
    uninstalled('configurations-first', async (t, autopilot) => {
      for (const path of REGISTERED) t.equal((await cluster.admin('DELETE', path)).status, 200)
      await remove(INSTALLED)
      await untilGone(OUR_NAMESPACE)
      for (const path of REGISTERED) t.equal(await readFrom(cluster, path), undefined, path)
      stillRun(t, autopilot)
      await autopilot.stop()
    }),
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the roles go first, and both processes still run',
      outcome: 'the registration goes with them and is not made again, and the rest can go',
    },
    uninstalled('roles-first', async (t, autopilot) => {
      const since = audited(cluster).length
      await remove(INSTALLED.filter(({ kind }) => kind.startsWith('ClusterRole')))
      for (const path of REGISTERED) await untilGone(path)
      t.same(await untilGivenUp(cluster, since), [], 'nothing is registered again')
      stillRun(t, autopilot)
      await remove(INSTALLED)
      await untilGone(OUR_NAMESPACE)
      await autopilot.stop()
    }),
  )
})
