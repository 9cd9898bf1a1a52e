import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK, METALLB, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { deletionsOn, FINALIZERS, METALLB_NAMESPACE } from './deletions.ts'
import {
  createDeadline,
  INSTALLED,
  OUR_NAMESPACE,
  REGISTERED,
  remove,
  untilGone,
} from './uninstall.ts'

const LABEL = { metadata: { labels: { 'example.com/team': 'a' } } }

t.test('a webhook without which no write passes', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    reconcilerFlags: ['--failure-policy=Fail'],
  })
  const { admin, read, autopilot } = cluster
  const { patch, make, own, disown, untilBack, untilJudged } = deletionsOn(cluster)
  const label = async () =>
    (await admin('PATCH', HEALTH_CHECK, LABEL, 'application/merge-patch+json')).status

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the webhook is gone under `--failure-policy Fail`',
      outcome:
        'people’s writes to what is managed fail; namespaces, garbage and what is terminating end all the same',
    },
    async (t) => {
      await untilJudged()
      const [namespace, metallb, swap] = [
        await read(METALLB_NAMESPACE),
        await read(METALLB),
        await read(SWAP),
      ]
      await own(t, SWAP)
      await patch(t, METALLB, { finalizers: FINALIZERS })
      t.equal((await admin('DELETE', METALLB)).status, 200)
      await autopilot.webhook.child().kill()
      t.equal(await label(), 500, 'a write of somebody’s fails')
      await disown(t, 'Background')
      await untilBack(SWAP, swap)
      await patch(t, METALLB, { finalizers: null })
      const next = await untilBack(METALLB, metallb)
      t.equal((await admin('DELETE', METALLB_NAMESPACE)).status, 200)
      await untilGone(cluster, METALLB_NAMESPACE)
      await make(t, namespace, METALLB_NAMESPACE)
      await untilBack(METALLB, next)
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'it is uninstalled under `--failure-policy Fail`',
      outcome: 'our namespace ends, and writes pass as soon as the ClusterRole is gone',
    },
    async (t) => {
      await autopilot.stop()
      const deadline = createDeadline()
      deadline.start()
      await remove(cluster, INSTALLED)
      for (const path of [...REGISTERED, OUR_NAMESPACE])
        await untilGone(cluster, path, deadline.left())
      // The API server hears a moment later that there is nobody to ask any more.
      await until('a write passes', async () => (await label()) === 200, deadline.left())
      t.equal(await label(), 200)
    },
  )
})
