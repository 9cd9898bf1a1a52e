import t from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import {
  HCO,
  HEALTH_CHECK,
  HYPERCONVERGED,
  KUBELET,
  MUTATING,
  PCI,
  STATE,
  SWAP,
  VALIDATING,
} from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const PREFIX = 'platform.kubevirt.io'
const MERGE_PATCH = 'application/merge-patch+json'

interface Probe {
  readonly asset: string
  readonly path: string
  readonly name: string
  readonly edit: object
  /** What the edit sets, in a spec. */
  readonly at: (spec: Loose) => unknown
  readonly edited: unknown
}

/** An edit of each object by which one sees whether it is kept. */
const probes: readonly Probe[] = [
  {
    asset: 'hco-golden-config',
    path: HCO,
    name: 'kubevirt-hyperconverged',
    edit: { deployment: { uninstallStrategy: 'RemoveWorkloads' } },
    at: ({ deployment }) => deployment.uninstallStrategy,
    edited: 'RemoveWorkloads',
  },
  {
    asset: 'kubelet-perf-settings',
    path: KUBELET,
    name: 'virt-perf-settings',
    edit: { autoSizingReserved: false },
    at: ({ autoSizingReserved }) => autoSizingReserved,
    edited: false,
  },
  {
    asset: 'node-health-standard',
    path: HEALTH_CHECK,
    name: 'virt-node-health-check',
    edit: { minHealthy: '7%' },
    at: ({ minHealthy }) => minHealthy,
    edited: '7%',
  },
  {
    asset: 'pci-passthrough',
    path: PCI,
    name: '50-virt-pci-passthrough',
    edit: { kernelArguments: ['quiet'] },
    at: ({ kernelArguments }) => kernelArguments.join(),
    edited: 'quiet',
  },
  {
    asset: 'swap-enable',
    path: SWAP,
    name: '90-worker-swap-online',
    edit: { config: { systemd: { units: [] } } },
    at: ({ config }) => config.systemd.units.length,
    edited: 0,
  },
]
const EVERYTHING = [...probes.map(({ asset }) => asset), 'metallb']
const except = (...names: readonly string[]) => EVERYTHING.filter((name) => !names.includes(name))

const selections: readonly {
  readonly autopilot?: string
  readonly disabled?: string
  readonly active: readonly string[]
  readonly warned?: RegExp
}[] = [
  { autopilot: 'network, node-health-standard', active: ['metallb', 'node-health-standard'] },
  {
    autopilot: 'hco,metalb',
    active: ['hco-golden-config'],
    warned: /^no asset or group is named "metalb": did you mean "metallb"\?$/,
  },
  { autopilot: 'hco,swap', disabled: '[swap-enable]', active: ['hco-golden-config'] },
  {
    disabled: '[passthrough/*, "*-perf-*"]',
    active: except('pci-passthrough', 'kubelet-perf-settings'),
  },
  { disabled: '- {kind: MachineConfig, name: 90-*}', active: except('swap-enable') },
  {
    disabled:
      '- {kind: "*", name: "*", namespace: metallb-*}\n- {kind: HyperConverged, name: "*", namespace: openshift-cnv}',
    active: except('metallb', 'hco-golden-config'),
  },
  {
    disabled:
      '[{kind: MetalLB, name: metallb, namespace: elsewhere}, {kind: MachineConfgi, name: "*"}]',
    active: EVERYTHING,
    warned: /^no object to disable is of kind "MachineConfgi": did you mean "MachineConfig"\?$/,
  },
]

t.test('which assets are kept', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, admin, untilCompared, untilEvent } = cluster
  const alice = cluster.person('alice')
  const merge = async (path: string, patch: object) => {
    const { status, body } = await admin('PATCH', path, patch, MERGE_PATCH)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const annotate = (annotations: Readonly<Record<string, string | null>>) => {
    const prefixed = Object.entries(annotations).map(([key, text]) => [`${PREFIX}/${key}`, text])
    return merge(HCO, { metadata: { annotations: Object.fromEntries(prefixed) } })
  }
  const untilActive = (names: readonly string[]) =>
    until(`${names} are active`, async () => {
      const all = Object.keys(JSON.parse((await read(STATE)).data['baselines.json']))
      const active = all.filter((name) => EVERYTHING.includes(name))
      return active.sort().join() === [...names].sort().join()
    })
  /** Edits everything, and tells what of it is put back; what should be is waited for. */
  const keptOnes = async (expected: readonly string[]) => {
    for (const { path, edit } of probes) await merge(path, { spec: edit })
    const kept: string[] = []
    for (const probe of probes) {
      if (expected.includes(probe.asset))
        await until(`${probe.asset} is put back`, async () => !(await isEdited(probe)))
      else await untilCompared(probe.name)
      if (!(await isEdited(probe))) kept.push(probe.asset)
    }
    return kept
  }
  const untilWarned = async (warned: RegExp | undefined) => {
    const event = warned && (await untilEvent('InvalidSetting', warned))
    if (event && event.regarding.kind !== 'HyperConverged') throw new Error(event.regarding.kind)
  }
  const isEdited = async ({ path, at, edited }: Probe) => at((await read(path)).spec) === edited

  const noted = async (file: 'registered.json' | 'unregistered.json') =>
    Object.keys(JSON.parse((await read(STATE)).data[file])).length
  // Deleted, the registration stays away until the product was off: if the leader had seen it.
  await until('the leader has seen both', async () => (await noted('registered.json')) === 2)
  for (const path of [MUTATING, VALIDATING]) await admin('DELETE', path)
  await until('the API server asks nobody', async () => !(await cluster.isJudged()))
  for (const { autopilot: list = null, disabled = null, active, warned } of selections) {
    const title = [list && `autopilot: ${list}`, disabled && `disabled-resources: ${disabled}`]
    await t.test(title.filter(Boolean).join(', '), async (t) => {
      await annotate({ autopilot: list, 'disabled-resources': disabled })
      await untilActive(active)
      t.same(
        await keptOnes(active),
        probes.map(({ asset }) => asset).filter((name) => active.includes(name)),
      )
      await untilWarned(warned)
    })
  }

  await t.test('the webhook, too, judges only what is named', async (t) => {
    await annotate({ autopilot: 'false', 'disabled-resources': null })
    await until('nothing is missed', async () => (await noted('unregistered.json')) === 0)
    await until('the webhook knows that it is off', async () =>
      cluster.log('webhook').includes('"activation":"off"'),
    )
    await annotate({ autopilot: 'remediation' })
    await untilActive(['node-health-standard'])
    await until('the webhook is asked again', () => read(MUTATING))
    const patch = (target: readonly string[], spec: object) =>
      alice(['patch', ...target, '--type=merge', `--patch=${JSON.stringify({ spec })}`])
    const check = ['nodehealthcheck', 'virt-node-health-check']
    await until('edits are corrected', async () =>
      (await patch(check, { minHealthy: '8%' })).stderr.includes('kept at "51%"'),
    )
    const others = [
      ['kubeletconfig', 'virt-perf-settings'],
      ['machineconfig', '50-virt-pci-passthrough'],
      HYPERCONVERGED,
    ]
    const specs = [{ autoSizingReserved: true }, { kernelArguments: [] }, { deployment: null }]
    for (const [index, target] of others.entries())
      t.match(await patch(target, specs[index] ?? {}), { code: 0, stderr: '' }, target.join())
    const swap = ['delete', 'machineconfig', '90-worker-swap-online', '--dry-run=server']
    t.match(await alice(swap), { code: 0, stderr: '' })
  })

  await t.test(
    'a HyperConverged that is being deleted is left alone, the rest is kept',
    async (t) => {
      await annotate({ autopilot: null })
      await untilActive(EVERYTHING)
      const [probe, , check] = probes as readonly [Probe, Probe, Probe]
      await until('it is put back', async () => !(await isEdited(probe)))
      await merge(HCO, { metadata: { finalizers: ['example.com/wait'] } })
      t.equal((await admin('DELETE', HCO)).status, 200)
      await cluster.withoutWebhook(async () => {
        await merge(HCO, { spec: probe.edit })
        await untilCompared(probe.name)
        t.ok(await isEdited(probe))
        await merge(check.path, { spec: check.edit })
        await until('the rest is kept', async () => !(await isEdited(check)))
      })
    },
  )

  await t.test('without a HyperConverged nothing is done, and none is created', async (t) => {
    const { apiVersion, kind } = await read(HCO)
    await merge(HCO, { metadata: { finalizers: null } })
    const said = () =>
      cluster.log('reconciler').split('there is no HyperConverged: nothing to do').length - 1
    await until('it is told', async () => said() === 1)
    t.equal((await admin('DELETE', HEALTH_CHECK)).status, 200)
    await until('the webhook lets everybody do as they like', async () => {
      return (await admin('DELETE', `${PCI}?dryRun=All`)).status === 200
    })
    const edit = ['patch', 'machineconfig', '50-virt-pci-passthrough', '--type=merge', '-p']
    const without = '{"spec":{"kernelArguments":["quiet"]}}'
    t.match(await alice([...edit, without, '--dry-run=server']), { code: 0, stderr: '' })
    const metadata = { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' }
    t.equal(await read(HCO), undefined)
    t.equal(await read(HEALTH_CHECK), undefined)
    const input = JSON.stringify({ apiVersion, kind, metadata, spec: {} })
    t.match(await alice(['create', '-f-'], { input }), { code: 0 })
    await until('with one it goes on', () => read(HEALTH_CHECK))
    t.equal(said(), 1)
  })
})
