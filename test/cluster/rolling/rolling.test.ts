import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { until } from '../harness/until.ts'
import { loseNone } from './losses.ts'
import { type Replica, rollingCluster } from './rolling-cluster.ts'

t.test('the webhook is replaced while 100 writes a second are made', async (t) => {
  const cluster = await rollingCluster(t)
  const { startReplica, untilAway, balancer } = cluster
  let [first, second]: [Replica, Replica] = [...cluster.pair]

  /** Asks a replica to end, and gives how it did. */
  const end = async (replica: Replica) => {
    process.kill(replica.process.pid, 'SIGTERM')
    await untilAway(replica)
    return replica.process.ended
  }

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'both replicas are replaced one after the other, under load',
      outcome: 'no write fails, and none passes unjudged',
    },
    async (t) => {
      const count = await loseNone(t, cluster, async (load) => {
        for (const old of [first, second]) {
          const ended = end(old)
          const successor = await startReplica()
          t.equal(await ended, 'exit code 0')
          await until('none of its connections is open', async () => balancer.open(old) === 0)
          first = second
          second = successor
          await load.more(100)
        }
      })
      t.ok(count.corrected > 300 && count.stored > 50)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'one replica is drained under load, and its successor comes later',
      outcome: 'the other judges every write',
    },
    async (t) => {
      const count = await loseNone(t, cluster, async (load) => {
        t.equal(await end(first), 'exit code 0')
        await load.more(300)
        first = await startReplica()
      })
      t.ok(count.corrected > 300 && count.stored > 50)
    },
  )
})
