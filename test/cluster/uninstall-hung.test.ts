import t from 'tap'
import { autopilotCluster } from './autopilot-fixture.ts'
import { deletionsOn, everythingEnds } from './deletions.ts'
import { faultTest } from './fault.ts'

t.test('deletions while nobody answers', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    webhookFlags: ['--enforcement=deny'],
    reconcilerFlags: ['--resync=1s'],
  })
  const { untilJudged } = deletionsOn(cluster)

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'they go while the webhook hangs',
      outcome: 'the same, with three seconds of patience for each write that it is asked about',
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
