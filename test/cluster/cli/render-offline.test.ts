import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { ownFolder } from '../../../src/cli/assets.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { ownProgram } from '../harness/program.ts'
import { run } from '../harness/run.ts'

const NODES = join(import.meta.dirname, '../../fixtures/nodes')
const SAMPLES = join(import.meta.dirname, '../../samples')

/** What `-o status` says of each asset: its state. */
const states = async (...flags: readonly string[]) => {
  const { code, stdout, stderr } = await run(['render', '-o', 'status', ...flags])
  if (code !== 0) throw new Error(stderr)
  const rows = stdout.trim().split('\n').slice(1)
  return Object.fromEntries(rows.map((row) => row.split(/ +/).slice(0, 2)))
}
const objects = (yaml: string) =>
  parseAllDocuments(yaml).map((document) => document.toJS() as KubeObject)

t.test('with nothing said, a plain cluster that has every API', async (t) => {
  const found = await states()
  t.same(
    Object.keys(found),
    ownProgram().catalog.map(({ name }) => name),
  )
  t.match(found, {
    'hco-golden-config': 'Active',
    'swap-enable': 'ConditionFalse',
    'pci-passthrough': 'ConditionFalse',
    'kubelet-perf-settings': 'Active',
    metallb: 'Active',
    'descheduler-loadaware': 'ConditionFalse',
  })
  t.notOk(Object.values(found).includes('NotServed'))
  const { code, stdout, stderr } = await run(['render'])
  t.match({ code, stderr }, { code: 0, stderr: '' })
  const active = ownProgram().catalog.filter(({ name }) => found[name] === 'Active')
  t.same(
    objects(stdout).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    active.map(({ object }) => `${object.kind} ${object.name}`),
  )
})

t.test('hardware is as the flags say, or as the nodes have it', async (t) => {
  t.match(await states('--force-pci'), { 'pci-passthrough': 'Active' })
  t.match(await states('--force-gpu'), { 'pci-passthrough': 'Active' }, 'a GPU is a PCI device')
  t.match(await states(`--nodes=${NODES}/worker-baremetal-gpu.yaml`), {
    'pci-passthrough': 'Active',
  })
})

t.test('an API that is not there takes its assets along', async (t) => {
  const less = await states(
    '--without-api=machineconfiguration.openshift.io',
    '--without-api=metallb.io',
  )
  t.match(less, {
    'swap-enable': 'NotServed',
    'kubelet-perf-settings': 'NotServed',
    metallb: 'NotServed',
    'observability-ui': 'Active',
  })
})

t.test('what other operators keep may be told, too', async (t) => {
  const clusters = join(import.meta.dirname, '../../clusters')
  const told = ['kubelets', 'remediation'].map((name) => `--nodes=${clusters}/${name}.yaml`)
  t.match(await states(...told), { 'swap-enable': 'Active', 'node-health-standard': 'Active' })
})

t.test('the HyperConverged may come from standard input, with what it asks for', async (t) => {
  const input = `apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: kubevirt
  annotations:
    platform.kubevirt.io/enable-loadaware: "true"
    platform.kubevirt.io/disabled-resources: '["swap-enable"]'
spec:
  virtualization: { liveMigrationConfig: { parallelMigrationsPerCluster: 8 } }
`
  const status = await run(['render', '--hco=-', '-o', 'status'], { input })
  t.match(status.stdout, /^swap-enable +Excluded +- .*switched off by disabled-resources$/m)
  const { stdout } = await run(['render', '--hco=-', '--asset=descheduler-loadaware'], { input })
  t.match(objects(stdout), [
    {
      kind: 'KubeDescheduler',
      spec: { profiles: ['LongLifecycle'], evictionLimits: { total: 8, node: 1 } },
    },
  ])
  const [hco] = objects(
    (await run(['render', '--hco=-', '--asset=hco-golden-config'], { input })).stdout,
  )
  t.equal(hco?.metadata.namespace, 'kubevirt')
})

t.test('the payloads of a MachineConfig are shown as the files that they become', async (t) => {
  const input = `apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
metadata:
  name: kubevirt-hyperconverged
  namespace: openshift-cnv
  annotations: { platform.kubevirt.io/enable-ksm-zero-only: "true" }
`
  const ksm = ['render', '--hco=-', '--asset=ksm-zero-pages']
  const sourceIn = (stdout: string) => {
    const spec = objects(stdout)[0]?.spec as Loose
    return spec.config.storage.files[0].contents.source
  }
  const encoded = await run(ksm, { input })
  t.match(sourceIn(encoded.stdout), /^data:.*;base64,/)
  for (const output of ['yaml', 'json'] as const) {
    const { code, stdout } = await run([...ksm, '--decode', '-o', output], { input })
    t.equal(code, 0)
    const text = output === 'yaml' ? stdout : JSON.stringify(JSON.parse(stdout).items[0])
    t.equal(sourceIn(text), ownFolder().read('active/ksm-zero-pages/ksm-tune.py'), output)
  }
  const { stdout } = await run([...ksm, '--decode'], { input })
  t.match(stdout, /^ +source: \|\n +#!/m, 'line by line')
  t.match((await run(['render', '--help'])).stdout, /--decode +show what payloads/)
})

t.test('an asset that was asked for and is not active is told', async (t) => {
  const said = await run([
    'render',
    '--asset=pci-passthrough',
    '--asset=metallb',
    '--metadata-only',
  ])
  t.equal(said.code, 0)
  t.match(
    said.stderr,
    /pci-passthrough is not active: waits until amd64PciDevicesOnWorkers on some node/,
  )
  t.match(objects(said.stdout), [{ kind: 'MetalLB', metadata: { name: 'metallb' } }])
  t.notOk('spec' in (objects(said.stdout)[0] ?? {}))
})

t.test('an asset that cannot be rendered here is told, beside all others', async (t) => {
  const assets = t.testdir({
    'catalog.yaml': `assets:
  - name: broken
    group: mine
    description: one value of the HyperConverged breaks it
    template: active/broken.yaml.ejs
    object: { group: '', versions: [v1], kind: ConfigMap, resource: configmaps, namespace: default, name: broken }
    install: always
    order: 5
    hcoFields: [/infra]
`,
    active: {
      'broken.yaml.ejs': `apiVersion: v1
kind: ConfigMap
metadata: { name: broken, namespace: default }
data: { infra: <%= optional(facts.hco.spec, '/infra', '') === 'odd' ? [].at(0) : 'even' %> }
`,
    },
  })
  const input = `apiVersion: hco.kubevirt.io/v1
kind: HyperConverged
metadata: { name: kubevirt-hyperconverged, namespace: openshift-cnv }
spec: { infra: odd }
`
  const said = await run(['render', '--hco=-', `--assets=${assets}`], { input })
  t.equal(said.code, 1)
  t.match(
    said.stderr,
    /: broken: .*broken.yaml.ejs:4: only strings, numbers and booleans can be printed, not undefined/,
  )
  t.equal(said.stderr.trim().split('\n').length, 1)
  t.same(objects(said.stdout), objects((await run(['render', '--hco=-'], { input })).stdout))
  const asked = ['render', '--hco=-', `--assets=${assets}`, '--output=status']
  const status = await run(asked, { input })
  t.match(status, { code: 1, stdout: /^broken +RenderFailed +- /m })
})

t.test('what no fact is read from is skipped, and the facts are printed', async (t) => {
  const input = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n'
  const said = await run(['render', '--nodes=-', '-o', 'facts'], { input })
  t.match(said, { code: 0, stdout: /^topology:$/m })
  t.match(said.stderr, /--nodes: skipped Pod p: it is of no kind that facts are read from/)
})

t.test('files that make no sense are told in one line', async (t) => {
  const folder = t.testdir({
    pod: 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n',
    broken: 'a: [',
  })
  for (const [flag, fault] of [
    [`--nodes=${folder}/broken`, /cannot read .*broken: /],
    [`--nodes=${folder}/missing`, /cannot read .*missing: ENOENT/],
    [`--hco=${folder}/pod`, /Pod p is no HyperConverged/],
    [`--hco=${SAMPLES}/namespaces.yaml`, /Namespace openshift-cnv is no HyperConverged/],
    [`--nodes=${SAMPLES}/hyperconverged.yaml`, /is to be given with --hco/],
  ] as const) {
    const said = await run(['render', flag])
    t.match(said, { code: 1, stdout: '' }, flag)
    t.match(said.stderr, fault)
    t.equal(said.stderr.trim().split('\n').length, 1, said.stderr)
  }
})
