import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { deletionsOn, everythingEnds } from './deletions.ts'

t.test('deletions while nobody answers', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    isImpatient: true,
    webhookFlags: ['--enforcement=deny'],
    reconcilerFlags: ['--resync=1s'],
  })
  const { untilJudged } = deletionsOn(cluster)

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'they go while the webhook hangs',
      outcome: 'the same, with one second of patience each time that it is asked',
    },
    async (t) => {
      const { pid } = cluster.autopilot.webhook.child()
      process.kill(pid, 'SIGSTOP')
      try {
        await everythingEnds(t, cluster)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await untilJudged()
    },
  )
})
