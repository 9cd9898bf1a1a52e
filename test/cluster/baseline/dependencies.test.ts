import t from 'tap'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster, isReady, NAMESPACE } from '../harness/autopilot-fixture.ts'
import {
  DESCHEDULER,
  HCO,
  HEALTH_CHECK,
  HYPERCONVERGED,
  METALLB,
  PCI,
  SWAP,
} from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/virt-platform-autopilot.kubevirt.io`
const OPT_IN = 'platform.kubevirt.io/enable-loadaware'

const named = (name: string) => (manifest: Manifest) => manifest.metadata.name === name
const METALLB_CRD = 'metallbs.metallb.io'
const DESCHEDULER_CRD = 'kubedeschedulers.operator.openshift.io'
const LATER = [
  'hyperconvergeds.hco.kubevirt.io',
  'kubevirt-hyperconverged',
  METALLB_CRD,
  'metallb-system',
  DESCHEDULER_CRD,
  'worker-gpu-0',
]

t.test('what comes later', async (t) => {
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    only: ({ metadata }) => !LATER.includes(metadata.name),
    reconcilerFlags: ['--resync=500ms'],
  })
  const { autopilot, read, install, untilEvent, untilCompared, metric } = cluster
  const alice = cluster.person('alice')
  const { pid } = autopilot.reconciler.child()
  const lines = () => cluster.log('reconciler').split('\n')
  const said = (text: string) => lines().filter((line) => line.includes(text)).length
  const complies = (name: string) =>
    metric('reconciler', 'virt_platform_compliance_status', `name="${name}"`)
  const annotate = (annotation: string) =>
    alice(['annotate', ...HYPERCONVERGED, '--overwrite', annotation])

  await t.test(
    'before the CRD of the HyperConverged, the reconciler waits and says so',
    async () => {
      const message = 'the API hco.kubevirt.io/HyperConverged is not served'
      await until('it says that it waits', async () => said(message) > 0)
      await until('it is ready all the same', () => isReady(autopilot.opsPorts.reconciler))
    },
  )

  await t.test('before there is a HyperConverged, it waits and says so', async (t) => {
    await install(named('hyperconvergeds.hco.kubevirt.io'))
    await until('it says so', async () => said('there is no HyperConverged: nothing to do') > 0)
    t.equal(said('is not served: nothing to do until it is installed'), 1)
    t.equal(await read(SWAP), undefined, 'and nothing is created')
  })

  await t.test('what was there before is adopted, and keeps its other fields', async (t) => {
    const input = JSON.stringify({
      apiVersion: 'remediation.medik8s.io/v1alpha1',
      kind: 'NodeHealthCheck',
      metadata: { name: 'virt-node-health-check', labels: { team: 'storage' } },
      spec: {
        minHealthy: '40%',
        pauseRequests: ['of alice'],
        selector: { matchExpressions: [{ key: 'of-alice', operator: 'Exists' }] },
        remediationTemplate: {
          apiVersion: 'self-node-remediation.medik8s.io/v1alpha1',
          kind: 'SelfNodeRemediationTemplate',
          name: 'of-alice',
          namespace: 'default',
        },
      },
    })
    t.match(await alice(['create', '-f-'], { input }), { code: 0 })
    await install(named('kubevirt-hyperconverged'))
    const { regarding, note } = await untilEvent('AssetAdopted', /node-health-standard/)
    t.equal(regarding.name, 'virt-node-health-check')
    t.match(note, /\/spec\/minHealthy "40%" → "51%"/)
    const { metadata, spec } = await read(HEALTH_CHECK)
    t.match(metadata.labels, {
      team: 'storage',
      'platform.kubevirt.io/managed-by': 'virt-platform-autopilot',
    })
    t.match(spec, { minHealthy: '51%', pauseRequests: ['of alice'] })
    t.equal(said('there is no HyperConverged'), 1)
  })

  await t.test('an asset without its API is not applicable, and no event says so', async (t) => {
    await until('the others are there', () => read(SWAP))
    await untilCompared('metallb')
    t.equal(await complies('metallb'), 0)
    t.same(await cluster.events('CRDMissing'), [])
    const missing = 'virt_platform_missing_dependency'
    t.equal(await metric('reconciler', missing), 0)
  })

  await t.test('an API that was asked for and is missing is told, until it appears', async (t) => {
    await annotate(`${OPT_IN}=true`)
    await untilEvent('CRDMissing', /descheduler-loadaware/)
    const missing = () =>
      metric('reconciler', 'virt_platform_missing_dependency', 'KubeDescheduler')
    t.equal(await missing(), 1)
    await install(named(DESCHEDULER_CRD))
    const { spec } = await until('the descheduler is there', () => read(DESCHEDULER))
    // No node tells its pressure here.
    t.match(spec, { profiles: ['LongLifecycle'], evictionLimits: { total: 8 } })
    await until('nothing is missing', async () => (await missing()) === 0)
  })

  await t.test('an opt-in that is taken back leaves its object', async (t) => {
    await annotate(`${OPT_IN}-`)
    await until('it is not kept any more', async () => (await complies('cluster')) === 0)
    await until('it is told', async () => said('left over') > 0)
    t.ok(await read(DESCHEDULER))
  })

  await t.test('a CRD that appears starts its asset, which waits for its namespace', async (t) => {
    await install(named(METALLB_CRD))
    await untilEvent('AssetSkipped', /namespace metallb-system does not exist/)
    t.equal(await read(METALLB).catch(() => undefined), undefined)
    await install(named('metallb-system'))
    const since = performance.now()
    await until('the asset is there', () => read(METALLB))
    t.comment(`there ${Math.round(performance.now() - since)} ms after its namespace`)
    t.equal(autopilot.reconciler.child().pid, pid)
  })

  await t.test('a CRD that goes away stops its asset without errors', async (t) => {
    await until('it complies', async () => (await complies('metallb')) === 1)
    const before = lines().length
    t.match(await alice(['delete', 'crd', METALLB_CRD]), { code: 0 })
    await until('it is not kept any more', async () => (await complies('metallb')) === 0)
    // A machine that is too slow to renew the Lease in time has the leader say so, which is nothing to do with it.
    const isOfLease = (line: string) => /"msg":"(no longer the leader|leader election)/.test(line)
    const troublesSince = () =>
      lines()
        .slice(before - 1)
        .filter((line) => /"level":[4-6]0/.test(line) && !isOfLease(line))
    await untilCompared('metallb')
    const troubles = troublesSince()
    await untilCompared('metallb')
    t.same(troublesSince(), troubles)
    // Who hears of it late may have tried to write the object, and to watch it, once each.
    t.ok(troubles.length <= 2, troubles.join('\n'))
    for (const line of troubles) {
      t.match(line, 'metallb')
      t.match(line, /"msg":"(asset failed"|cannot read asset:)/)
    }

    await install(named(METALLB_CRD))
    const since = performance.now()
    await until('it is back', () => read(METALLB))
    t.comment(`back ${Math.round(performance.now() - since)} ms after its CRD was served`)
    t.equal(autopilot.reconciler.child().pid, pid)
  })

  await t.test('hardware that appears brings its asset', async (t) => {
    t.equal(await read(PCI), undefined)
    await install(named('worker-gpu-0'))
    const { spec } = await until('the asset is there', () => read(PCI))
    t.ok(spec.kernelArguments.includes('intel_iommu=on'))
  })

  await t.test('while wasp-agent manages swap, wherever it is, ours goes', async () => {
    await until('ours is there', () => read(SWAP))
    const labels = { app: 'wasp' }
    const input = JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'wasp-agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'wasp', image: 'quay.io/kubevirt/wasp-agent' }] },
        },
      },
    })
    t.match(await alice(['create', '-f-'], { input }), { code: 0 })
    await until('ours is gone', async () => (await read(SWAP)) === undefined)
    await untilEvent('AssetPruned', /^swap-enable: deleted: waits until wasp-agent does not/)
    t.match(await alice(['delete', 'daemonset', 'wasp-agent', '-n', 'default']), { code: 0 })
    await until('ours is back', () => read(SWAP))
  })

  await t.test('where the operator would deploy wasp-agent, ours goes, too', async () => {
    const overcommit = async (memoryOvercommitPercentage: number) => {
      const higherWorkloadDensity = { memoryOvercommitPercentage }
      const patch = JSON.stringify({ spec: { virtualization: { higherWorkloadDensity } } })
      const args = ['patch', ...HYPERCONVERGED, '--type=merge', `--patch=${patch}`]
      t.match(await alice(args), { code: 0 })
    }
    await overcommit(150)
    await until('ours is gone', async () => (await read(SWAP)) === undefined)
    await overcommit(100)
    await until('ours is back', () => read(SWAP))
  })

  await t.test('with two HyperConvergeds nothing is written, and that is told', async (t) => {
    const { apiVersion, kind } = await read(HCO)
    const metadata = { name: 'kubevirt-hyperconverged', namespace: 'default' }
    const input = JSON.stringify({ apiVersion, kind, metadata, spec: {} })
    t.match(await alice(['create', '-f-'], { input }), { code: 0 })
    await until('it is told', async () => said('there are several HyperConvergeds') > 0)
    await alice(['delete', 'nodehealthcheck', 'virt-node-health-check'])
    const renewed = async () => (await read(LEASE)).spec.renewTime
    const before = await renewed()
    await until('the leader renews its Lease', async () => (await renewed()) !== before)
    t.equal(await read(HEALTH_CHECK), undefined)
    t.match(
      lines().find((line) => line.includes('several HyperConvergeds')),
      /"level":50/,
    )

    await alice(['delete', 'hyperconverged', '-n', 'default', 'kubevirt-hyperconverged'])
    await until('with one it goes on', () => read(HEALTH_CHECK))
    t.equal(said('there are several HyperConvergeds'), 1)
  })
})
