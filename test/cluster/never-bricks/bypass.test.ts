import t from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO, HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { createActor } from '../verdicts/writes/actor.ts'

const PREFIX = 'platform.kubevirt.io'
const PAUSED = `${PREFIX}/reconcile-paused`
const MERGE = 'application/merge-patch+json'
const BASELINE = '51%'

const healthy = (minHealthy: string) => ({ spec: { minHealthy } })
const annotated = (annotations: Readonly<Record<string, string | null>>) => ({
  metadata: { annotations },
})

t.test('ways around the webhook', async (t) => {
  const cluster = await autopilotCluster(t, {
    reconcilerFlags: ['--resync=1s'],
  })
  const { admin, read, asked } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const actor = createActor(client, 'alice', cluster)
  const patch = (path: string, body: object, type = MERGE) =>
    admin<Loose>('PATCH', path, body, type)
  const minHealthy = async () => (await read(HEALTH_CHECK))?.spec.minHealthy
  const untilHealed = () =>
    until('it is at its baseline', async () => (await minHealthy()) === BASELINE, 60_000)

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an object is paused, edited and resumed, in three writes',
      outcome: 'the write that resumes brings the baseline back',
    },
    async (t) => {
      await patch(HEALTH_CHECK, annotated({ [PAUSED]: 'true' }))
      t.equal((await patch(HEALTH_CHECK, healthy('1%'))).body.spec.minHealthy, '1%')
      const { status, body } = await patch(HEALTH_CHECK, annotated({ [PAUSED]: null }))
      t.equal(status, 200)
      t.equal(body.spec.minHealthy, BASELINE)
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'the HyperConverged is written in another version, whose fields nobody converts',
      outcome:
        'the API server drops what that version does not know; what is managed is there afterwards',
    },
    async (t) => {
      const { storage: _, ...before } = (await read(HCO)).spec
      const { evictionStrategy: __, ...virtualization } = before.virtualization
      const asking = await asked()
      const { status, warnings } = await actor.send(HCO.replace('/v1/', '/v1beta1/'), {
        method: 'PATCH',
        contentType: MERGE,
        body: { spec: { uninstallStrategy: 'RemoveWorkloads' } },
      })
      t.equal(status, 200)
      t.strictSame(warnings, [])
      t.ok((await asked()) > asking, 'the webhook was asked')
      const { liveMigrationConfig } = virtualization
      t.strictSame((await read(HCO)).spec, {
        ...before,
        featureGates: [{}],
        virtualization: {
          ...virtualization,
          liveMigrationConfig: { ...liveMigrationConfig, parallelMigrationsPerCluster: 5 },
        },
      })
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an object is deleted, kept by a finalizer, and edited meanwhile',
      outcome:
        'the edit is put back, nothing is in the way of its end, and its successor is as it was',
    },
    async (t) => {
      const { uid } = (await read(HEALTH_CHECK)).metadata
      await patch(HEALTH_CHECK, { metadata: { finalizers: ['example.com/kept'] } })
      t.equal((await admin('DELETE', HEALTH_CHECK)).status, 200)
      const edit = await patch(HEALTH_CHECK, healthy('1%'))
      t.equal(edit.status, 200)
      t.equal(edit.body.spec.minHealthy, BASELINE)
      const held = (await read(HEALTH_CHECK)).metadata
      t.equal(held.uid, uid)
      t.type(held.deletionTimestamp, 'string')
      t.equal((await patch(HEALTH_CHECK, { metadata: { finalizers: null } })).status, 200)
      await until(
        'its successor is there',
        async () => {
          const found = await read(HEALTH_CHECK)
          return found !== undefined && found.metadata.uid !== uid
        },
        60_000,
      )
      await untilHealed()
    },
  )
})
