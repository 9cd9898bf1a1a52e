import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { loseNone, loseSome } from './losses.ts'
import { rollingCluster } from './rolling-cluster.ts'

t.test('a replica of the webhook freezes while 100 writes a second are made', async (t) => {
  const cluster = await rollingCluster(t)
  const { untilServing, untilAway } = cluster
  const [, second] = cluster.pair

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
})
