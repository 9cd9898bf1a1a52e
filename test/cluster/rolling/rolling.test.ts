import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { until } from '../harness/until.ts'
import { loseNone, loseSome, untilAtBaseline } from './losses.ts'
import { type Replica, rollingCluster } from './rolling-cluster.ts'

t.test(
  'replicas of the webhook are replaced and lost while 100 writes a second are made',
  async (t) => {
    const cluster = await rollingCluster(t)
    const { startReplica, untilAway, untilServing, balancer } = cluster
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

    await faultTest(
      t,
      {
        part: 'webhook',
        fault: 'one of two replicas freezes under load, and thaws',
        outcome:
          'calls that wait for it fail open, the other judges the rest, and both do again afterwards',
      },
      async (t) => {
        const { pid } = second.process
        t.teardown(() => second.process.isRunning() && process.kill(pid, 'SIGCONT'))
        await loseSome(t, cluster, [second, 'frozen'], async (load) => {
          process.kill(pid, 'SIGSTOP')
          await untilAway(second)
          await load.more(200)
          process.kill(pid, 'SIGCONT')
          await untilServing(second)
        })
        await loseNone(t, cluster)
      },
    )

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
  },
)
