import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { deletionsOn, everythingEnds } from './deletions.ts'

t.test('deletions by whoever cleans up', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    webhookFlags: ['--enforcement=deny'],
    reconcilerFlags: ['--resync=1s'],
  })
  const { isJudged, untilJudged } = deletionsOn(cluster)

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'namespaces, owners and finalizers of managed objects go while the webhook denies',
      outcome: 'nothing is held up, and what is managed comes back with its namespace',
    },
    async (t) => {
      await untilJudged()
      // The API server hears of each of the two configurations by itself.
      await until('deletions are judged', async () => {
        const { status } = await cluster.admin('DELETE', `${SWAP}?dryRun=All`)
        return status === 403
      })
      t.equal((await cluster.admin('DELETE', SWAP)).status, 403, 'people are refused')
      await everythingEnds(t, cluster)
      t.ok(await isJudged())
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'they go while the webhook is gone',
      outcome: 'the same',
    },
    async (t) => {
      await cluster.withoutWebhook(() => everythingEnds(t, cluster))
      await untilJudged()
    },
  )
})
