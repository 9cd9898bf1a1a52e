import t from 'tap'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO, HEALTH_CHECK, METALLB, STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { deletionsOn, FINALIZERS } from './deletions.ts'
import { contentsOf, managedObjects, untilGone, WITHIN_MS } from './uninstall.ts'

const merge = 'application/merge-patch+json'
const HCO_NAMESPACE = '/api/v1/namespaces/openshift-cnv'
const DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/metallbs.metallb.io'

t.test('deletions of what everything else follows from', async (t) => {
  const cluster = await autopilotCluster(t, {
    controllerManager: true,
    webhookFlags: ['--enforcement=deny'],
    reconcilerFlags: ['--resync=1s'],
  })
  const { admin, read, autopilot, untilCompared } = cluster

  const { patch, make, untilBack, isJudged } = deletionsOn(cluster)

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the HyperConverged is deleted and made again',
      outcome: 'it is not made by us, everything else stays, and all goes on when it is back',
    },
    async (t) => {
      const hco = await read(HCO)
      const others = async () => {
        const objects = await managedObjects(cluster)
        return contentsOf(new Map([...objects].filter(([path]) => path !== HCO)))
      }
      const before = await others()
      await patch(t, HCO, { finalizers: FINALIZERS })
      t.equal((await admin('DELETE', HCO)).status, 200)
      t.ok((await read(HCO)).metadata.deletionTimestamp, 'it is terminating')
      const state = (await read(STATE)).data
      const logged = cluster.log('reconciler').length
      await patch(t, HCO, { finalizers: null })
      await untilGone(cluster, HCO)
      await until(
        'the leader has noticed',
        async () => cluster.log('reconciler').slice(logged).includes('there is no HyperConverged'),
        WITHIN_MS,
      )
      t.equal(await read(HCO), undefined)
      await until('nothing is judged', async () => !(await isJudged()), WITHIN_MS)
      const unknown = { ...state, 'hasHyperConverged.json': 'false' }
      t.same((await read(STATE)).data, unknown, 'all else is remembered')
      t.same(await others(), before)
      await make(t, hco, HCO)
      await cluster.withoutWebhook(async () => {
        const wrong = { spec: { minHealthy: '7%' } }
        t.equal((await admin('PATCH', HEALTH_CHECK, wrong, merge)).status, 200)
        await until(
          'the leader heals again',
          async () => (await read(HEALTH_CHECK)).spec.minHealthy === '51%',
          WITHIN_MS,
        )
      })
      t.same(await others(), before)
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the namespace of the HyperConverged is deleted and made again',
      outcome: 'it ends, and all goes on when the HyperConverged is back',
    },
    async (t) => {
      const [namespace, hco] = [await read(HCO_NAMESPACE), await read(HCO)]
      t.equal((await admin('DELETE', HCO_NAMESPACE)).status, 200)
      await untilGone(cluster, HCO_NAMESPACE)
      t.equal(await read(HCO), undefined)
      await make(t, namespace, HCO_NAMESPACE)
      // Admission may take the new one for the one that was going away, for a moment.
      await until('it takes new objects', async () => {
        const probe = { metadata: { name: 'probe' } }
        const { status } = await admin('POST', `${HCO_NAMESPACE}/configmaps?dryRun=All`, probe)
        return status === 201
      })
      await make(t, hco, HCO)
      await untilCompared('virt-node-health-check')
    },
  )

  await faultTest(
    t,
    {
      part: 'uninstall',
      fault: 'the definition of a managed kind is deleted and installed again',
      outcome: 'it ends, nothing else is disturbed, and the object comes back with it',
    },
    async (t) => {
      const [before, others] = [await read(METALLB), await read(HEALTH_CHECK)]
      const { pid } = autopilot.reconciler.child()
      t.equal((await admin('DELETE', DEFINITION)).status, 200)
      await untilGone(cluster, DEFINITION)
      await untilCompared('virt-node-health-check')
      await cluster.install(({ metadata }) => metadata.name === 'metallbs.metallb.io')
      await untilBack(METALLB, before)
      t.equal((await read(HEALTH_CHECK)).metadata.uid, others.metadata.uid)
      t.equal(autopilot.reconciler.child().pid, pid)
      t.ok(autopilot.reconciler.child().isRunning())
    },
  )
})
