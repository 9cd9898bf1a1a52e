import t from 'tap'
import { faultTest } from '../harness/fault.ts'
import { loseNone, riskOf } from './losses.ts'
import { rollingCluster, untilEnded } from './rolling-cluster.ts'

t.test('a replica is lost where the failure policy is Fail', async (t) => {
  const cluster = await rollingCluster(t, { reconcilerFlags: ['--failure-policy=Fail'] })
  const [first] = cluster.pair
  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'one of two replicas is killed under load, and the failure policy is Fail',
      outcome: 'writes that were under way to it fail, and no more than these',
    },
    async (t) => {
      const { balancer, underLoad, untilAway } = cluster
      let risked = 0
      const { count, failures, failedOpen, failedClosed } = await underLoad(async (load) => {
        const risk = riskOf(balancer, first, 'killed')
        await first.process.kill()
        await untilAway(first)
        await load.more(100)
        risked = risk()
      })
      t.match(count, { passed: 0, 'sent back': 0 })
      t.equal(failedOpen, 0)
      // Where its copy of the object was old, the API server asks once more before it gives up.
      t.ok(count.failed <= failedClosed, `${count.failed} writes by ${failedClosed} calls`)
      t.ok(failedClosed <= risked, `${failedClosed} of at most ${risked}`)
      for (const failure of failures) t.match(failure, /failed calling webhook/)
      await loseNone(t, cluster)
      t.equal(await untilEnded(first.process), 'killed by SIGKILL')
    },
  )
})
