import t from 'tap'
import { asLine, audited, isRequest } from '../harness/audit.ts'
import { autopilotCluster, isReady } from '../harness/autopilot-fixture.ts'
import { DESCHEDULER, HEALTH_CHECK, OBJECTS, STATE } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

t.test('a reconciler at rest', async (t) => {
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    reconcilerFlags: ['--resync=100ms'],
  })
  const { read, metric, untilCompared, untilEvent, withoutWebhook } = cluster
  const alice = cluster.person('alice')
  /** What our accounts have asked of the API server: neither to watch nor to keep the Lease. */
  const requests = () => audited(cluster).filter(isRequest).map(asLine)
  const untilSettled = async () => {
    const before = requests().length
    await untilCompared('kubevirt-hyperconverged')
    // The API server and the webhook answer in their turn: what either was late with is asked for before that.
    await cluster.isJudged()
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
    const refused = audited(cluster)
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
      'metrics-service',
      'metrics-servicemonitor',
      'mtv',
      'node-health-standard',
      'observability-ui',
      'pci-passthrough',
      'prometheus-rules',
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

  await t.test('ten minutes of resyncs with every asset applied are idle', async (t) => {
    const enable = 'platform.kubevirt.io/enable-loadaware=true'
    const hco = ['hyperconverged', '-n', 'openshift-cnv', 'kubevirt-hyperconverged']
    await alice(['annotate', ...hco, enable])
    await until('the last asset is applied', () => read(DESCHEDULER))
    // The one that was started anew reads what it needs first.
    await until('the webhook is ready', () => isReady(cluster.autopilot.opsPorts.webhook), 90_000)
    await untilSettled()
    const resyncs = () => metric('reconciler', `${DURATION}_count`, 'name="virt-node-health-check"')
    const versions = async () => {
      const objects = await Promise.all([...OBJECTS, DESCHEDULER].map(read))
      return objects.map(({ kind, metadata }) => `${kind} ${metadata.resourceVersion}`)
    }
    const stored = await versions()
    const [before, served, asked] = [await resyncs(), await requestsServed(), requests().length]
    const isEnough = async () => (await resyncs()) >= before + RESYNCS
    await until(`everything is compared ${RESYNCS} times`, isEnough, 120_000)
    const moved = [...(await requestsServed())].filter(
      ([what, count]) => count !== served.get(what),
    )
    t.same(
      moved.filter(([what]) => !OTHERS.test(what)),
      [],
    )
    t.same(requests().slice(asked), [])
    t.same(await versions(), stored)
  })

  /** The API server's own counts, by verb, resource and whether it was a dry run. */
  async function requestsServed() {
    const { body } = await cluster.admin<string>('GET', '/metrics')
    const counts = new Map<string, number>()
    for (const line of body
      .split('\n')
      .filter((line) => line.startsWith('apiserver_request_total{'))) {
      const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1]
      const what = `${label('verb')} ${label('resource')} dryRun=${label('dry_run')}`
      counts.set(what, (counts.get(what) ?? 0) + Number(line.slice(line.lastIndexOf(' '))))
    }
    return counts
  }
})

// Ten minutes, at five seconds each.
const RESYNCS = 120
const DURATION = 'virt_platform_reconcile_duration_seconds'
// Watches that end in peace and begin again, the Lease, what the API server asks of itself (every three minutes which
// ports its Services have), and our reading of its metrics.
const OTHERS = /^(WATCH |\w+ leases |GET endpoint(s|slices) |LIST services |GET {2})/
