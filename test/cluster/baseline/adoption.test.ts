import t, { type Test } from 'tap'

import { ownFolder } from '../../../src/cli/assets.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, KUBELET, METALLB, PCI } from '../harness/objects.ts'
import { programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const MACHINE_CONFIGURATION = 'machineconfiguration.openshift.io/v1'
const LABEL = 'platform.kubevirt.io/managed-by'
const OURS = 'virt-platform-autopilot'
const named =
  (name: string) =>
  ({ metadata }: Loose) =>
    metadata.name === name

/** What an admin made by hand before the autopilot came. */
const before: readonly Loose[] = [
  {
    apiVersion: MACHINE_CONFIGURATION,
    kind: 'KubeletConfig',
    metadata: {
      name: 'virt-perf-settings',
      labels: { team: 'compute' },
      annotations: { note: 'of alice' },
    },
    spec: {
      autoSizingReserved: false,
      logLevel: 3,
      kubeletConfig: { maxPods: 250, podPidsLimit: 4096 },
    },
  },
  {
    apiVersion: MACHINE_CONFIGURATION,
    kind: 'MachineConfig',
    metadata: { name: '50-virt-pci-passthrough' },
    spec: { kernelArguments: ['quiet'], fips: false },
  },
  {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'MetalLB',
    metadata: { name: 'metallb', namespace: 'metallb-system', labels: { [LABEL]: 'somebody' } },
    spec: { logLevel: 'debug' },
  },
  {
    apiVersion: 'hco.kubevirt.io/v1',
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' },
    spec: {
      deployment: { uninstallStrategy: 'RemoveWorkloads' },
      virtualization: {
        evictionStrategy: 'LiveMigrate',
        liveMigrationConfig: { allowPostCopy: true, parallelMigrationsPerCluster: 9 },
      },
    },
  },
]

/** A release in which one value of the baseline is another one. */
const newerProgram = (t: Test) => {
  const { read } = ownFolder()
  const template = 'active/node-health-standard.yaml.ejs'
  const text = read(template).replace('minHealthy: 51%', 'minHealthy: 60%')
  return programWith(t, { change: (catalog) => catalog, files: { [template]: text } })
}

t.test('what was there before', async (t) => {
  const cluster = await autopilotCluster(t, {
    isEarly: true,
    only: (manifest) => !named('kubevirt-hyperconverged')(manifest),
    reconcilerFlags: ['--resync=500ms'],
  })
  const { read, untilEvent, untilCompared, events } = cluster
  const alice = cluster.person('alice')
  const create = async (object: Loose) => {
    const said = await alice(['create', '-f-'], { input: JSON.stringify(object) })
    if (said.code !== 0) throw new Error(said.stderr)
  }
  const untilOurs = (path: string) =>
    until(`${path} is ours`, async () => {
      const object = await read(path)
      return object?.metadata.labels?.[LABEL] === OURS && object
    })
  /** The event of the adoption of one object; there is never a second. */
  const adoptionOf = async (kind: string) => {
    await untilEvent('AssetAdopted', /taken over/)
    const found = await until(`the adoption of a ${kind} is told`, async () => {
      const all = (await events('AssetAdopted')).filter(({ regarding }) => regarding.kind === kind)
      return all.length > 0 && all
    })
    return found.map(({ note }) => note)
  }
  const newer = newerProgram(t)
  for (const object of before) await create(object)

  await t.test(
    'the HyperConverged is taken over, and keeps what we have no opinion on',
    async (t) => {
      const { spec } = await untilOurs(HCO)
      t.match(spec, {
        deployment: { uninstallStrategy: 'BlockUninstallIfWorkloadsExist' },
        virtualization: {
          evictionStrategy: 'LiveMigrate',
          liveMigrationConfig: { allowPostCopy: false, parallelMigrationsPerCluster: 9 },
        },
      })
      const [note] = await adoptionOf('HyperConverged')
      t.match(note, /^hco-golden-config: taken over: /)
      t.match(
        note,
        '/spec/deployment/uninstallStrategy "RemoveWorkloads" → "BlockUninstallIfWorkloadsExist"',
      )
      t.match(note, '/spec/virtualization/liveMigrationConfig/allowPostCopy true → false')
      t.notMatch(note, 'parallelMigrationsPerCluster')
    },
  )

  await t.test('fields, labels and annotations beside ours are kept', async (t) => {
    const { metadata, spec } = await untilOurs(KUBELET)
    t.equal(metadata.labels.team, 'compute')
    t.same(metadata.annotations, { note: 'of alice' })
    t.match(spec, {
      autoSizingReserved: true,
      logLevel: 3,
      kubeletConfig: { maxPods: 500, podPidsLimit: 4096 },
    })
    const [note] = await adoptionOf('KubeletConfig')
    t.match(note, '/spec/autoSizingReserved false → true')
    t.match(note, '/spec/kubeletConfig/maxPods 250 → 500')
    t.notMatch(note, 'podPidsLimit')
  })

  await t.test('a list that the server replaces whole is replaced, and told whole', async (t) => {
    const { spec } = await untilOurs(PCI)
    t.same(spec.kernelArguments, ['intel_iommu=on', 'iommu=pt'])
    t.equal(spec.fips, false)
    const [note] = await adoptionOf('MachineConfig')
    t.match(note, '/spec/kernelArguments ["quiet"] → ["intel_iommu=on","iommu=pt"]')
  })

  await t.test('an object that claims to be another’s is taken over all the same', async (t) => {
    const { spec } = await untilOurs(METALLB)
    t.same(spec, { logLevel: 'debug' })
    const [note] = await adoptionOf('MetalLB')
    t.match(note, `"somebody" → "${OURS}"`)
  })

  await t.test('each adoption is told once, and what was created is none', async (t) => {
    await until('the rest is created', () => read(HEALTH_CHECK))
    await untilCompared('virt-perf-settings')
    for (const kind of ['HyperConverged', 'KubeletConfig', 'MachineConfig', 'MetalLB'])
      t.equal((await adoptionOf(kind)).length, 1, kind)
    t.equal((await events('AssetAdopted')).length, before.length)
  })

  await t.test('a newer release’s value is told as its own, and as nobody’s drift', async (t) => {
    await cluster.restart('reconciler', { program: newer })
    const { regarding } = await untilEvent(
      'AssetApplied',
      /^node-health-standard: its baseline changed: \/spec\/minHealthy "51%" → "60%"$/,
    )
    t.equal(regarding.name, 'virt-node-health-check')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '60%')
    await untilCompared('virt-node-health-check')
    const told = (await events('AssetApplied')).filter(({ note }) => note.includes('60%'))
    t.equal(told.length, 1, 'once')
    t.same(await events('DriftCorrected'), [])
    t.match(
      cluster.log('reconciler'),
      /"asset":"node-health-standard".*"pointers":\["\/spec\/minHealthy"\].*"msg":"baseline changed"/,
    )
  })

  await t.test('what is moved away from that value is drift again', async () => {
    await cluster.withoutWebhook(async () => {
      const patch = '{"spec":{"minHealthy":"51%"}}'
      const target = ['nodehealthcheck', 'virt-node-health-check']
      const said = await alice(['patch', ...target, '--type=merge', `--patch=${patch}`])
      if (said.code !== 0) throw new Error(said.stderr)
      await untilEvent('DriftCorrected', /: put back: \/spec\/minHealthy "51%" → "60%"$/)
    })
  })
})
