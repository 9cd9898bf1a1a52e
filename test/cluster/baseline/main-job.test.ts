import t from 'tap'
import { API_SERVER_METRICS } from '../../unit/assets/prometheus/metric-labels.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, KUBELET, METALLB, SWAP } from '../harness/objects.ts'
import type { Person } from '../harness/person.ts'
import { until } from '../harness/until.ts'

const LABEL = 'platform.kubevirt.io/managed-by'
const OURS = 'virt-platform-autopilot'

const postCopy = (hco: Loose) => hco.spec.virtualization.liveMigrationConfig.allowPostCopy
const patchOf = (allowPostCopy: boolean) =>
  JSON.stringify({ spec: { virtualization: { liveMigrationConfig: { allowPostCopy } } } })
const merge = (target: readonly string[], patch: string) => [
  'patch',
  ...target,
  '--type=merge',
  `--patch=${patch}`,
]

/** The command that a warning tells to run. */
const wayOut = ({ stderr }: Said) => /^Warning: To change it: (.*)$/m.exec(stderr)?.[1] ?? ''

/** The object as somebody keeps it in a file, edited. */
function manifestOf({ apiVersion, kind, metadata, spec }: Loose, edit: (spec: Loose) => void) {
  const { name, namespace, labels } = metadata
  const edited = structuredClone(spec)
  edit(edited)
  return JSON.stringify({ apiVersion, kind, metadata: { name, namespace, labels }, spec: edited })
}

/** Every way in which kubectl edits an object, and who takes it here. */
const WAYS: readonly {
  readonly way: string
  readonly by: string
  readonly edit: (person: Person, edited: string) => Promise<Said>
}[] = [
  {
    way: 'kubectl edit',
    by: 'alice',
    edit: (person) => {
      const KUBE_EDITOR = "sed -i 's/allowPostCopy: false/allowPostCopy: true/'"
      return person(['edit', ...HYPERCONVERGED], { env: { KUBE_EDITOR } })
    },
  },
  {
    way: 'kubectl patch --type=merge',
    by: 'alice',
    edit: (person) => person(merge(HYPERCONVERGED, patchOf(true))),
  },
  {
    way: 'kubectl patch --type=json',
    by: 'bob',
    edit: (person) => {
      const path = '/spec/virtualization/liveMigrationConfig/allowPostCopy'
      const patch = JSON.stringify([{ op: 'replace', path, value: true }])
      return person(['patch', ...HYPERCONVERGED, '--type=json', `--patch=${patch}`])
    },
  },
  {
    way: 'kubectl apply',
    by: 'bob',
    edit: (person, input) => person(['apply', '-f-'], { input }),
  },
  {
    way: 'kubectl apply --server-side --force-conflicts',
    by: 'carol',
    edit: (person, input) =>
      person(['apply', '--server-side', '--force-conflicts', '-f-'], { input }),
  },
  {
    way: 'kubectl replace',
    by: 'carol',
    edit: (person, input) => person(['replace', '-f-'], { input }),
  },
]

t.test('the main job', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, withoutWebhook, untilCompared } = cluster
  const alice = cluster.person('alice')

  await t.test('every object of the baseline exists, with our label', async (t) => {
    const kinds = 'hyperconvergeds,machineconfigs,kubeletconfigs,nodehealthchecks,metallbs'
    const { stdout } = await alice(['get', kinds, '-A', '-l', `${LABEL}=${OURS}`, '-o', 'name'])
    t.same(stdout.trim().split('\n').sort(), [
      'hyperconverged.hco.kubevirt.io/kubevirt-hyperconverged',
      'kubeletconfig.machineconfiguration.openshift.io/virt-perf-settings',
      'machineconfig.machineconfiguration.openshift.io/50-virt-pci-passthrough',
      'machineconfig.machineconfiguration.openshift.io/90-worker-swap-online',
      'metallb.metallb.io/metallb',
      'nodehealthcheck.remediation.medik8s.io/virt-node-health-check',
    ])
    const applied = await cluster.events('AssetApplied')
    t.ok(applied.length > 5)
    const strangers = applied.filter(({ regarding }) => regarding.kind === 'HyperConverged')
    t.same(strangers, [], 'each is told on the object that was made')
    t.match((await read(HCO)).spec, {
      deployment: { uninstallStrategy: 'BlockUninstallIfWorkloadsExist' },
      virtualization: {
        evictionStrategy: 'LiveMigrate', // what the admin set beside it
        liveMigrationConfig: { allowAutoConverge: false, allowPostCopy: false },
      },
    })
    t.match((await read(KUBELET)).spec.kubeletConfig, { maxPods: 500, nodeStatusMaxImages: -1 })
  })

  for (const { way, by, edit } of WAYS) {
    await t.test(`${way} of a managed field is corrected, with a warning`, async (t) => {
      // Between reading and writing the reconciler may take back what the edit before took along.
      const { before, said } = await until('nobody writes in between', async () => {
        const before = await read(HCO)
        const edited = manifestOf(before, (spec) => {
          spec.virtualization.liveMigrationConfig.allowPostCopy = true
        })
        const said = await edit(cluster.person(by), edited)
        return !said.stderr.includes('the object has been modified') && { before, said }
      })
      t.equal(said.code, 0, said.stderr)
      t.match(
        said.stderr,
        /^Warning: HyperConverged openshift-cnv\/kubevirt-hyperconverged: \/spec\/virtualization\/liveMigrationConfig\/allowPostCopy kept at false by virt-platform-autopilot \(hco-golden-config: .+\)\.$/m,
      )
      t.equal(
        wayOut(said),
        `kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged --overwrite platform.kubevirt.io/patch='[{"op":"add","path":"/spec/virtualization/liveMigrationConfig/allowPostCopy","value":true}]'`,
      )
      const after = await read(HCO)
      t.equal(postCopy(after), false)
      t.equal(after.metadata.generation, before.metadata.generation, 'it was never stored')
    })
  }

  await t.test('what the same edit sets beside a managed field is stored', async (t) => {
    const liveMigrationConfig = { allowPostCopy: true, parallelMigrationsPerCluster: 9 }
    const patch = JSON.stringify({ spec: { virtualization: { liveMigrationConfig } } })
    t.match(await cluster.person('dave')(merge(HYPERCONVERGED, patch)), { code: 0 })
    const { liveMigrationConfig: stored } = (await read(HCO)).spec.virtualization
    t.match(stored, { allowPostCopy: false, parallelMigrationsPerCluster: 9 })
  })

  await t.test('the command of the warning makes the edit stick', async (t) => {
    const erin = cluster.person('erin')
    const command = wayOut(await erin(merge(HYPERCONVERGED, patchOf(true))))
    t.match(await erin.shell(command), { code: 0 })
    t.equal(postCopy(await read(HCO)), true, 'the value comes with the annotation')
    await untilCompared('kubevirt-hyperconverged')
    await cluster.untilEvent(
      'PatchApplied',
      /^hco-golden-config: the patch is in force: .*allowPostCopy false → true$/,
    )
    t.equal(postCopy(await read(HCO)), true)
    const again = await erin(merge(HYPERCONVERGED, patchOf(true)))
    t.match(again, { code: 0, stderr: '' })

    t.match(await erin(merge(HYPERCONVERGED, patchOf(false))), { stderr: /kept at true by/ })
    t.equal(postCopy(await read(HCO)), true, 'the patched value is as good as the baseline')

    await erin(['annotate', ...HYPERCONVERGED, 'platform.kubevirt.io/patch-'])
    t.equal(postCopy(await read(HCO)), false, 'without the annotation the baseline is back')
  })

  await t.test('fields that an edit leaves out come back, with a warning', async (t) => {
    const before = await read(KUBELET)
    const input = manifestOf(before, (spec) => {
      delete spec.autoSizingReserved
      delete spec.kubeletConfig.maxPods
    })
    const said = await alice(['replace', '-f-'], { input })
    t.match(said, { code: 0, stderr: /: \/spec\/autoSizingReserved kept at true by/ })
    t.match(said.stderr, /: \/spec\/kubeletConfig\/maxPods kept at 500 by/)
    const after = await read(KUBELET)
    t.same(after.spec, before.spec)
    t.equal(after.metadata.generation, before.metadata.generation)
  })

  await t.test('whoever leaves fields out and changes one is offered that one', async (t) => {
    const { apiVersion, kind, metadata, spec } = await read(HEALTH_CHECK)
    const { remediationTemplate: _left, ...rest } = spec
    const written = { ...rest, minHealthy: '33%' }
    const { name } = metadata
    const input = JSON.stringify({ apiVersion, kind, metadata: { name }, spec: written })
    const said = await cluster.person('frank')(['replace', '-f-'], { input })
    t.equal(said.code, 0, said.stderr)
    t.match(said.stderr, /remediationTemplate\S* kept at/)
    t.equal(
      wayOut(said),
      `kubectl annotate nodehealthcheck virt-node-health-check --overwrite platform.kubevirt.io/patch='[{"op":"add","path":"/spec/minHealthy","value":"33%"}]'`,
    )
    t.match(said.stderr, /: Fields that you left out stay as they are\. To leave them alone, use /)
    t.same((await read(HEALTH_CHECK)).spec, spec)
  })

  await t.test('the label comes back, with the webhook and without it', async (t) => {
    const unlabel = ['label', 'metallb', '-n', 'metallb-system', 'metallb', `${LABEL}-`]
    const said = await alice(unlabel)
    t.match(said, { code: 0, stderr: /^Warning: MetalLB metallb-system\/metallb: / })
    t.equal((await read(METALLB)).metadata.labels[LABEL], OURS)
    await withoutWebhook(async () => {
      t.match(await alice(unlabel), { code: 0, stderr: '' })
      await until('the label is back', async () => (await read(METALLB)).metadata.labels?.[LABEL])
    })
  })

  await t.test('an edit that the webhook did not see is healed', async (t) => {
    await withoutWebhook(async () => {
      t.match(await alice(merge(HYPERCONVERGED, patchOf(true))), { code: 0, stderr: '' })
      const editedAt = performance.now()
      await until('the edit is healed', async () => !postCopy(await read(HCO)))
      t.comment(`healed ${Math.round(performance.now() - editedAt)} ms after kubectl ended`)
    })
    const { regarding } = await cluster.untilEvent('DriftCorrected', /allowPostCopy true → false/)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
  })

  await t.test('a patch that the webhook did not see is told as one', async (t) => {
    const check = ['nodehealthcheck', 'virt-node-health-check']
    const patch = '[{"op":"replace","path":"/spec/minHealthy","value":"77%"}]'
    await withoutWebhook(async () => {
      await alice(['annotate', ...check, `platform.kubevirt.io/patch=${patch}`])
      const { regarding } = await cluster.untilEvent(
        'PatchApplied',
        /^node-health-standard: the patch is in force: \/spec\/minHealthy "51%" → "77%"$/,
      )
      t.equal(regarding.name, 'virt-node-health-check')
      await alice(['annotate', ...check, 'platform.kubevirt.io/patch-'])
      await cluster.untilEvent(
        'AssetApplied',
        /^node-health-standard: as its annotations now say: \/spec\/minHealthy "77%" → "51%"$/,
      )
    })
    const healed = await cluster.events('DriftCorrected')
    t.notOk(healed.some(({ note }) => note.includes('77%')))
  })

  await t.test('an edit of what reboots nodes is denied', async (t) => {
    const before = await read(SWAP)
    const input = manifestOf(before, (spec) => {
      spec.config.systemd.units = []
    })
    const swap = ['machineconfig', '90-worker-swap-online']
    const patch = '{"spec":{"config":{"systemd":{"units":[]}}}}'
    for (const [args, options] of [
      [merge(swap, patch), {}],
      [['apply', '-f-'], { input }],
      [['apply', '--server-side', '--force-conflicts', '-f-'], { input }],
      [['replace', '-f-'], { input }],
      [['edit', ...swap], { env: { KUBE_EDITOR: "sed -i 's/enabled: true/enabled: false/'" } }],
    ] as const) {
      const { code, stderr } = await alice([...args, '-v=6'], options)
      t.equal(code, 1, args[0])
      t.match(stderr, /status="403 Forbidden"/)
      t.match(
        stderr,
        /MachineConfig 90-worker-swap-online: \/spec\/config\/systemd\/units.* is kept/,
      )
      t.match(stderr, /; a change would reboot 3 nodes of pool worker\./)
      t.match(stderr, /This kind takes no (platform\.kubevirt\.io\/)?patch\./)
    }
    t.equal((await read(SWAP)).metadata.resourceVersion, before.metadata.resourceVersion)
  })

  await t.test('the API server counts its calls by the labels that alerts look at', async (t) => {
    const { body } = await cluster.admin<string>('GET', '/metrics')
    for (const [name, labels] of API_SERVER_METRICS) {
      const isOurs = (line: string) =>
        line.startsWith(`${name}{`) && line.includes('name="mutate.platform.kubevirt.io"')
      const series = body.split('\n').find(isOurs) ?? ''
      t.same(
        [...series.matchAll(/(\w+)="/g)].map(([, label]) => label).sort(),
        [...labels].sort(),
        name,
      )
    }
  })

  await t.test('a patch annotation on a sensitive kind is denied', async (t) => {
    const patch = 'platform.kubevirt.io/patch=[]'
    const said = await alice(['annotate', 'machineconfig', '90-worker-swap-online', patch, '-v=6'])
    t.match(said, { code: 1, stderr: /status="403 Forbidden"/ })
    t.match(
      said.stderr,
      /platform\.kubevirt\.io\/patch is refused, since what this kind holds grants power over nodes/,
    )
    t.notOk((await read(SWAP)).metadata.annotations)
  })

  await t.test('mode: unmanaged lets an object go, and without it it is taken back', async (t) => {
    const check = ['nodehealthcheck', 'virt-node-health-check']
    const edit = merge(check, '{"spec":{"minHealthy":"10%"}}')
    const mode = ['annotate', ...check, 'platform.kubevirt.io/mode=unmanaged']
    t.match(await alice(mode), { code: 0, stderr: '' })
    t.match(await alice(edit), { code: 0, stderr: '' })
    await untilCompared('virt-node-health-check')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '10%')
    await cluster.untilEvent('UnmanagedMode', /node-health-standard/)

    await alice(['annotate', ...check, 'platform.kubevirt.io/mode-'])
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '51%')
  })
})
