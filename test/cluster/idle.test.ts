import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  autopilotCluster,
  HCO,
  HEALTH_CHECK,
  KUBELET,
  type Loose,
  METALLB,
  MUTATING,
  NAMESPACE,
  PCI,
  STATE,
  SWAP,
  VALIDATING,
} from './autopilot-fixture.ts'
import { until } from './until.ts'

const ACCOUNT = `system:serviceaccount:${NAMESPACE}:virt-platform-autopilot-`
const USERS = ['reconciler', 'webhook'].map((name) => `${ACCOUNT}${name}`)
const AUDIT = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata', users: USERS }, { level: 'None' }],
}
const OBJECTS = [HCO, SWAP, PCI, KUBELET, HEALTH_CHECK, METALLB, STATE, MUTATING, VALIDATING]

t.test('a reconciler at rest', async (t) => {
  const cluster = await autopilotCluster(t, {
    auditPolicy: AUDIT,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { read, untilCompared, untilEvent, withoutWebhook } = cluster
  const alice = cluster.person('alice')
  const audited = () =>
    readFileSync(cluster.auditLog, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const asLine = ({ verb, requestURI, responseStatus }: Loose) =>
    `${verb} ${requestURI} ${responseStatus.code}`
  /** What our accounts have asked of the API server: neither to watch nor to keep the Lease. */
  const requests = () =>
    audited()
      .filter(({ verb, objectRef }) => verb !== 'watch' && objectRef?.resource !== 'leases')
      .map(asLine)
  const untilSettled = async () => {
    const before = requests().length
    await untilCompared('kubevirt-hyperconverged')
    if (requests().length > before) await untilSettled()
  }

  await t.test(
    'nothing that is in sync costs a request, however often it is compared',
    async (t) => {
      await untilSettled()
      const versions = async () => {
        const objects = await Promise.all(OBJECTS.map(read))
        return objects.map(({ kind, metadata }) => `${kind} ${metadata.resourceVersion}`)
      }
      const [asked, stored] = [requests(), await versions()]
      await untilCompared('kubevirt-hyperconverged')
      await untilCompared('virt-node-health-check')
      t.same(requests().slice(asked.length), [])
      t.same(await versions(), stored)
    },
  )

  await t.test('what was healed costs three requests, and then none', async (t) => {
    await withoutWebhook(async () => {
      const before = requests().length
      const patch = '{"spec":{"minHealthy":"7%"}}'
      const check = ['nodehealthcheck', 'virt-node-health-check']
      await alice(['patch', ...check, '--type=merge', `--patch=${patch}`])
      await until('it is healed', async () => (await read(HEALTH_CHECK)).spec.minHealthy === '51%')
      await untilEvent('DriftCorrected', /minHealthy "7%" → "51%"/)
      await untilSettled()
      const [dryRun, apply, event, ...more] = requests().slice(before)
      t.match(dryRun, /^patch .*\/virt-node-health-check\?.*dryRun=All.* 200$/)
      t.match(apply, /^patch .*\/virt-node-health-check\?(?!.*dryRun).* 200$/)
      t.match(event, /^create .*\/events/)
      t.same(more, [])
    })
  })

  await t.test('nothing that either process needs was ever refused', async (t) => {
    const refused = audited()
      .map(asLine)
      .filter((line) => / 40[13]$/.test(line))
    t.same(refused, [])
  })

  await t.test('the state says what is kept, and from which facts', async (t) => {
    const { data } = await read(STATE)
    t.same(Object.keys(JSON.parse(data['baselines.json'])).sort(), [
      'hco-golden-config',
      'kubelet-perf-settings',
      'metallb',
      'node-health-standard',
      'pci-passthrough',
      'swap-enable',
    ])
    t.match(JSON.parse(data['facts.json']), {
      hco: { namespace: 'openshift-cnv' },
      pools: { worker: 3 },
      hardware: { pciDevicesPresent: true },
    })
    t.same(Object.keys(JSON.parse(data['applied.json'])).sort(), [
      'kubelet-perf-settings',
      'pci-passthrough',
      'swap-enable',
    ])
  })
})
