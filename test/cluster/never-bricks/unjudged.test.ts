import t from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { auditedOfAll } from '../harness/audit.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HCO, HEALTH_CHECK, MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const RECONCILER = `system:serviceaccount:${NAMESPACE}:virt-platform-autopilot-reconciler`
const MANAGED_BY = 'platform.kubevirt.io/managed-by'
const JSON_PATCH = 'kubevirt.kubevirt.io/jsonpatch'
const MERGE = 'application/merge-patch+json'
const BASELINE = '51%'
const LONG_MS = 60_000

t.test('writes that nobody judges', async (t) => {
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    reconcilerFlags: ['--resync=1s'],
  })
  const { admin, read } = cluster
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  const untilHealed = () =>
    until(
      'it is at its baseline',
      async () => (await read(HEALTH_CHECK))?.spec.minHealthy === BASELINE,
      LONG_MS,
    )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an administrator impersonates the reconciler',
      outcome: 'the write is put back, and the audit log names who it was and whom they played',
    },
    async (t) => {
      const { status, body } = await client.send(HEALTH_CHECK, {
        method: 'PATCH',
        contentType: MERGE,
        body: { spec: { minHealthy: '7%' } },
        headers: { 'impersonate-user': RECONCILER },
      })
      t.equal(status, 200)
      t.equal((body as Loose).spec.minHealthy, '7%', 'it is not judged')
      const entry: Loose = await until('it is audited', async () =>
        auditedOfAll(cluster).find(({ impersonatedUser }) => impersonatedUser),
      )
      t.match(entry, {
        verb: 'patch',
        impersonatedUser: { username: RECONCILER },
        objectRef: { name: 'virt-node-health-check' },
        responseStatus: { code: 200 },
      })
      t.type(entry.user.username, 'string')
      t.not(entry.user.username, RECONCILER)
      await untilHealed()
    },
  )

  await t.test('a JSON patch of the KubeVirt, which the HyperConverged carries', async (t) => {
    const path = '/spec/configuration/developerConfiguration/cpuAllocationRatio'
    const patch = JSON.stringify([{ op: 'add', path, value: 3 }])
    const said = await cluster.person('alice')([
      'annotate',
      'hyperconverged',
      '-n',
      'openshift-cnv',
      'kubevirt-hyperconverged',
      `${JSON_PATCH}=${patch}`,
    ])
    t.match(said, { code: 0, stderr: '' }, 'it is the operator’s to judge')
    await cluster.untilCompared('kubevirt-hyperconverged')
    t.equal((await read(HCO)).metadata.annotations[JSON_PATCH], patch, 'and it stays')
  })

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'somebody creates an object of ours before the webhook is registered',
      outcome: 'it is adopted and brought to its baseline, and the event says so',
    },
    async (t) => {
      let uid = ''
      await cluster.restart('reconciler', {
        meanwhile: async () => {
          for (const path of [MUTATING, VALIDATING, HEALTH_CHECK])
            t.equal((await admin('DELETE', path)).status, 200)
          // The API server goes on asking for a moment.
          const early = {
            apiVersion: 'remediation.medik8s.io/v1alpha1',
            kind: 'NodeHealthCheck',
            metadata: { name: 'virt-node-health-check' },
            spec: { minHealthy: '3%', selector: {} },
          }
          const collection = HEALTH_CHECK.slice(0, HEALTH_CHECK.lastIndexOf('/'))
          await until('nobody is asked', async () => {
            const dry = await admin<Loose>('POST', `${collection}?dryRun=All`, early)
            return dry.body.spec?.minHealthy === '3%'
          })
          const { status, body } = await admin<Loose>('POST', collection, early)
          t.equal(status, 201)
          t.equal(body.spec.minHealthy, '3%', 'it is not judged')
          uid = body.metadata.uid
        },
      })
      await untilHealed()
      const { metadata } = await read(HEALTH_CHECK)
      t.equal(metadata.uid, uid, 'it is the same object')
      t.equal(metadata.labels[MANAGED_BY], 'virt-platform-autopilot')
      await until('it is told', async () =>
        (await cluster.events('AssetAdopted')).find(
          ({ regarding, note }) =>
            regarding.kind === 'NodeHealthCheck' && /taken over: .*minHealthy/.test(note),
        ),
      )
    },
  )
})
