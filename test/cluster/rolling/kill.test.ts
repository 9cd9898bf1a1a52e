import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { loseNone, loseSome, untilAtBaseline } from './losses.ts'
import { type Replica, rollingCluster } from './rolling-cluster.ts'

t.test('replicas of the webhook are lost while 100 writes a second are made', async (t) => {
  const cluster = await rollingCluster(t)
  const { startReplica, untilAway } = cluster
  let [first, second]: [Replica, Replica] = [...cluster.pair]

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'one of two replicas is killed under load',
      outcome: 'calls that were under way to it fail open, and no more than these',
    },
    async (t) => {
      await loseSome(t, cluster, [first, 'killed'], async (load) => {
        await first.process.kill()
        await untilAway(first)
        await load.more(100)
        first = second
        second = await startReplica()
      })
      await loseNone(t, cluster)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'every replica is killed under load, and they come back',
      outcome: 'writes pass unjudged and are healed, and judging goes on by itself',
    },
    async (t) => {
      const { count, failures, failedOpen, failedClosed } = await cluster.underLoad(
        async (load) => {
          await Promise.all([first.process.kill(), second.process.kill()])
          await Promise.all([untilAway(first), untilAway(second)])
          await load.more(100)
          first = await startReplica()
          second = await startReplica()
        },
      )
      t.same(failures, [])
      t.ok(
        count.passed > 0 && failedOpen >= 2 * count.passed,
        'a write that passes has failed twice',
      )
      t.equal(failedClosed, 0)
      await untilAtBaseline(cluster)
      await loseNone(t, cluster)
    },
  )
})
