import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, KUBELET, PCI, STATE } from '../harness/objects.ts'
import { ownProgram, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const TEMPLATE = 'active/node-health-standard.yaml.ejs'
const FIFTEEN_MINUTES_MS = 15 * 60_000

const NEWER = join(import.meta.dirname, '../../clusters/definitions')
const textOf = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../assets', name), 'utf8')
const template = textOf(TEMPLATE)
const merge = (target: readonly string[], spec: object) => [
  'patch',
  ...target,
  '--type=merge',
  `--patch=${JSON.stringify({ spec })}`,
]
const contest = (minHealthy: string) => merge(CHECK, { minHealthy })
const postCopy = { virtualization: { liveMigrationConfig: { allowPostCopy: true } } }

t.test('processes of two versions', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, restart, metric, untilCompared } = cluster
  const newer = programWith(t, {
    change: (catalog) => catalog,
    files: { [TEMPLATE]: template.replace('minHealthy: 51%', 'minHealthy: 60%') },
  })
  const older = programWith(t, { change: (catalog) => catalog })
  const alice = cluster.person('alice')
  const minHealthy = async () => (await read(HEALTH_CHECK)).spec.minHealthy
  const untilHealed = (value: string) =>
    until(`minHealthy is ${value}`, async () => (await minHealthy()) === value)
  const passed = () =>
    metric('webhook', 'virt_platform_admission_requests_total', 'reason="Disagreement"')
  const digest = async () =>
    JSON.parse((await read(STATE)).data['baselines.json'])['node-health-standard']
  const versions = async () => {
    const objects = await Promise.all([HEALTH_CHECK, STATE].map(read))
    return objects.map(({ metadata }) => metadata.resourceVersion)
  }
  const untilSettled = async (): Promise<void> => {
    const before = await versions()
    await untilCompared('virt-node-health-check')
    if ((await versions()).join() !== before.join()) await untilSettled()
  }
  /** Edits through the webhook until it corrects to this value: it learns of a new state a moment later. */
  const untilCorrected = (value: string) =>
    until(`edits are corrected to ${value}`, async () =>
      (await alice([...contest('9%'), '--dry-run=server'])).stderr.includes(`kept at "${value}"`),
    )
  const untilPassed = () =>
    until('edits pass', async () => {
      const { code, stderr } = await alice([...contest('9%'), '--dry-run=server'])
      return code === 0 && stderr === ''
    })

  await t.test('a new leader brings its baseline, and publishes it', async (t) => {
    const before = await digest()
    await restart('reconciler', { program: newer })
    await untilHealed('60%')
    await until('it is published', async () => (await digest()) !== before)
    t.equal(await metric('webhook', 'virt_platform_admission_requests_total', 'Disagreement'), 0)
  })

  await t.test(
    'an old webhook lets pass what it has another opinion of, and counts it',
    async (t) => {
      await untilPassed()
      const [counted, judged] = [await passed(), await cluster.judged()]
      const said = await alice(contest('10%'))
      t.match(said, { code: 0, stderr: '' })
      t.equal((await passed()) - counted, (await cluster.judged()) - judged)
      t.not(await passed(), counted)
      t.match(cluster.log('webhook'), /"disagreeing":\["node-health-standard"\]/)
      await untilHealed('60%')
      await cluster.untilEvent('DriftCorrected', /minHealthy "10%" → "60%"/)
    },
  )

  await t.test('an old webhook goes on to correct what both agree on', async (t) => {
    t.match(await alice(merge(HYPERCONVERGED, postCopy)), { code: 0, stderr: /kept at false by/ })
    const refused = await alice(
      merge(['kubeletconfig', 'virt-perf-settings'], { autoSizingReserved: false }),
    )
    t.match(refused, { code: 1, stderr: /is kept by virt-platform-autopilot/ })
    t.equal((await read(KUBELET)).spec.autoSizingReserved, true)
  })

  await t.test('a new leader and an old webhook do not write against each other', async (t) => {
    await untilSettled()
    const before = await versions()
    await untilCompared('virt-node-health-check')
    t.same(await versions(), before)
    t.equal(await minHealthy(), '60%')
  })

  await t.test('a webhook of the leader’s version enforces the new baseline', async (t) => {
    await restart('webhook')
    await untilCorrected('60%')
    const { generation } = (await read(HEALTH_CHECK)).metadata
    t.match(await alice(contest('11%')), { code: 0, stderr: /kept at "60%"/ })
    t.equal((await read(HEALTH_CHECK)).metadata.generation, generation, 'it was never stored')
  })

  await t.test(
    'a leader of the old version brings its baseline back, and a new webhook lets it',
    async (t) => {
      await restart('reconciler', { program: older })
      await untilHealed('51%')
      await untilPassed()
      t.match(await alice(contest('12%')), { code: 0, stderr: '' })
      await untilHealed('51%')
      await untilSettled()
      const before = await versions()
      await untilCompared('virt-node-health-check')
      t.same(await versions(), before)
    },
  )

  await t.test(
    'a webhook that was first to be upgraded agrees as soon as the leader is',
    async (t) => {
      const { pid } = cluster.autopilot.webhook.child()
      await restart('reconciler', { program: newer })
      await untilCorrected('60%')
      t.equal(cluster.autopilot.webhook.child().pid, pid)
    },
  )

  const flag = async (): Promise<Loose> =>
    JSON.parse((await read(STATE)).data['hardware.json']).amd64PciDevicesOnWorkers
  const baselines = async () => Object.keys(JSON.parse((await read(STATE)).data['baselines.json']))
  const said = (text: string) =>
    cluster
      .log('reconciler')
      .split('\n')
      .filter((line) => line.includes(text)).length

  await t.test(
    'a device that vanishes is believed in for a while, by a new leader too',
    async (t) => {
      t.same(await flag(), { value: true })
      t.match(await alice(['delete', 'node', 'worker-gpu-0']), { code: 0 })
      const gone = await until('its absence is noted', async () => {
        const found = await flag()
        return found.falseSince !== undefined && found
      })
      t.equal(gone.value, true)
      await restart('reconciler')
      await untilCompared('50-virt-pci-passthrough')
      t.same(await flag(), gone)
      t.ok((await baselines()).includes('pci-passthrough'))
      t.equal(
        await metric(
          'reconciler',
          'virt_platform_compliance_status',
          'name="50-virt-pci-passthrough"',
        ),
        1,
      )
    },
  )

  await t.test(
    'a device that was gone for long is not believed in, and its object is left',
    async (t) => {
      const { falseSince } = await flag()
      await restart('reconciler', {
        async meanwhile() {
          const { data } = await read(STATE)
          const hardware = JSON.parse(data['hardware.json'])
          hardware.amd64PciDevicesOnWorkers.falseSince = falseSince - FIFTEEN_MINUTES_MS
          const patch = { data: { 'hardware.json': JSON.stringify(hardware) } }
          await cluster.admin('PATCH', STATE, patch, 'application/merge-patch+json')
        },
      })
      await until('its flag is false', async () => (await flag()).value === false)
      t.same(await flag(), { value: false })
      t.notOk((await baselines()).includes('pci-passthrough'))
      const told = /"asset":"pci-passthrough".*"left over"/
      await until('it is told', async () => told.test(cluster.log('reconciler')))
      await untilCompared('50-virt-pci-passthrough')
      t.equal(said('"asset":"pci-passthrough","because"'), 1)
      t.ok(await read(PCI))
      await until('it may be deleted', async () => {
        const { code } = await alice(['delete', 'machineconfig', '50-virt-pci-passthrough'])
        return code === 0
      })
      await untilCompared('50-virt-pci-passthrough')
      t.equal(await read(PCI), undefined)
    },
  )

  await t.test(
    'a value that a new leader states no more is the operator’s default again',
    async (t) => {
      const name = 'active/hco-golden-config.yaml.ejs'
      const timeout = '      allowPostCopy: false\n      completionTimeoutPerGiB: 150\n'
      const text = textOf(name).replace('      allowPostCopy: false\n', timeout)
      const stating = programWith(t, { change: (catalog) => catalog, files: { [name]: text } })
      const found = async () => {
        const { spec, metadata }: Loose = await read(HCO)
        const ours = metadata.managedFields.find(
          ({ manager, operation }: Loose) =>
            manager === 'virt-platform-autopilot' && operation === 'Apply',
        )
        const isOurs = JSON.stringify(ours).includes('"f:completionTimeoutPerGiB"')
        return [spec.virtualization.liveMigrationConfig.completionTimeoutPerGiB, isOurs]
      }
      const untilFound = (value: number, isOurs: boolean) =>
        until(`it is ${value}`, async () => `${await found()}` === `${[value, isOurs]}`)
      await restart('reconciler', { program: stating })
      await untilFound(150, true)
      const isHyperConverged = ({ metadata }: Loose) => metadata.name.startsWith('hyperconvergeds.')
      await install(cluster, loadManifests(NEWER).filter(isHyperConverged))
      await untilCompared('kubevirt-hyperconverged')
      t.same(await found(), [150, true], 'what is stated goes before a new default')
      await restart('reconciler', { program: ownProgram() })
      await untilFound(20, false)
      await untilCompared('kubevirt-hyperconverged')
      t.same(await found(), [20, false])
    },
  )
})
