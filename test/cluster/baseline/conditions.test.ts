import t from 'tap'
import type { Condition } from '../../../src/shared/baseline/catalog/condition-schemas.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { HYPERCONVERGED, STATE } from '../harness/objects.ts'
import { type CatalogText, configMap, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const PREFIX = 'platform.kubevirt.io'
const METALLB_CRD = 'metallbs.metallb.io'
const GPU = 'feature.node.kubernetes.io/pci-0302_10de.present'
const LONG_AGO = 0

const CONDITIONS: readonly Condition[] = [
  { type: 'annotation', key: 'enable-probe' },
  { type: 'annotation', key: 'disable-probe', not: true },
  { type: 'hardware-detection', detector: 'gpuPresent' },
  { type: 'feature-gate', name: 'downwardMetrics' },
  { type: 'topology', field: 'schedulableMasters' },
  { type: 'image', key: 'probe' },
  { type: 'hco-field-unconfigured', pointer: '/storage/vmStateStorageClass' },
  { type: 'crd', group: 'metallb.io', kind: 'MetalLB', versions: ['v1beta1'] },
]
const nameOf = ({ type, not }: Condition) => `${not ? 'not-' : ''}${type}`

const asset = (name: string, conditions: readonly Condition[], template = 'constant') => ({
  name,
  group: 'probe',
  description: 'a test needs it',
  template: `active/${template}.yaml.ejs`,
  object: configMap(name),
  install: 'always',
  order: 10,
  conditions,
})
const template = (value: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: <%= object.name %>, namespace: <%= object.namespace %> }
data: { value: ${value} }
`
const files = {
  'active/constant.yaml.ejs': template('baseline'),
  'active/sized.yaml.ejs': template('<%= facts.hco.annotations.size %>'),
  'active/misspelt.yaml.ejs': template('baseline').replace('\ndata:', '\ndataa:'),
}
/** An asset for each type of condition, and three that fail. */
const change = ({ assets }: CatalogText) => ({
  assets: [
    ...assets.slice(0, 1),
    ...CONDITIONS.map((condition) => asset(nameOf(condition), [condition])),
    // The schema of the catalog admits the pointer, and no object can have the field.
    asset('unjudged', [{ type: 'hco-field-unconfigured', pointer: '/constructor' }]),
    asset('sized', [], 'sized'),
    asset('misspelt', [], 'misspelt'),
  ],
})

t.test('conditions', async (t) => {
  const cluster = await autopilotCluster(t, {
    program: programWith(t, { change, files }),
    isEarly: true,
    only: ({ metadata }) => !['worker-gpu-0', METALLB_CRD].includes(metadata.name),
    reconcilerFlags: ['--resync=500ms'],
  })
  const { read, restart, install, metric, untilCompared, untilEvent, events } = cluster
  const alice = cluster.person('alice')
  const succeeds = async (args: readonly string[]) => {
    const said = await alice(args)
    if (said.code !== 0) throw new Error(said.stderr)
  }
  const annotate = (annotation: string) =>
    succeeds(['annotate', ...HYPERCONVERGED, '--overwrite', `${PREFIX}/${annotation}`])
  const merge = (target: readonly string[], patch: object) =>
    succeeds(['patch', ...target, '--type=merge', `--patch=${JSON.stringify(patch)}`])
  const lines = (name: string, message: string) =>
    cluster
      .log('reconciler')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ asset, msg }) => asset === name && msg === message)
  const valueIn = async (name: string): Promise<string | undefined> =>
    (await read(`${CONFIG_MAPS}/${name}`))?.data.value
  const untilHolds = (name: string, value: string) =>
    until(`${name} holds ${value}`, async () => (await valueIn(name)) === value)
  const edit = (name: string, ...flags: readonly string[]) =>
    alice([
      'patch',
      'configmap',
      name,
      '-n=default',
      '--type=merge',
      '--patch={"data":{"value":"edited"}}',
      ...flags,
    ])
  const untilPasses = (name: string) =>
    until('edits pass', async () => (await edit(name, '--dry-run=server')).stderr === '')
  const complies = (name: string) =>
    metric('reconciler', 'virt_platform_compliance_status', `name="${name}"`)
  const setGate = (state: string) =>
    merge(HYPERCONVERGED, { spec: { featureGates: [{ name: 'downwardMetrics', state }] } })
  const setMasters = (mastersSchedulable: boolean) =>
    merge(['scheduler', 'cluster'], { spec: { mastersSchedulable } })
  const setClass = (vmStateStorageClass: string | null) =>
    merge(HYPERCONVERGED, { spec: { storage: { vmStateStorageClass } } })
  const setImage = (image: string) => restart('reconciler', { env: { RELATED_IMAGE_PROBE: image } })
  /** A device is believed in for a quarter of an hour: as if that had passed. */
  const forgetGpu = async () => {
    await succeeds(['label', 'node', 'worker-0', `${GPU}-`])
    const flag = async () => JSON.parse((await read(STATE)).data['hardware.json'])
    await until('it is gone', async () => (await flag()).gpuPresent.falseSince)
    await restart('reconciler', {
      async meanwhile() {
        const gpuPresent = { value: true, falseSince: LONG_AGO }
        const hardware = JSON.stringify({ ...(await flag()), gpuPresent })
        const patch = { data: { 'hardware.json': hardware } }
        await cluster.admin('PATCH', STATE, patch, 'application/merge-patch+json')
      },
    })
  }
  const metallb = ({ metadata }: Manifest) => metadata.name === METALLB_CRD

  type Turn = () => Promise<void>
  const turns: Readonly<Record<string, { readonly on: Turn; readonly off: Turn }>> = {
    annotation: {
      on: () => annotate('enable-probe=true'),
      off: () => annotate('enable-probe=yes'),
    },
    'not-annotation': {
      on: () => annotate('disable-probe-'),
      off: () => annotate('disable-probe=true'),
    },
    'hardware-detection': {
      on: () => succeeds(['label', 'node', 'worker-0', `${GPU}=true`]),
      off: forgetGpu,
    },
    'feature-gate': { on: () => setGate('Enabled'), off: () => setGate('Disabled') },
    topology: { on: () => setMasters(true), off: () => setMasters(false) },
    image: { on: () => setImage('quay.io/probe:1'), off: () => setImage('') },
    'hco-field-unconfigured': { on: () => setClass(null), off: () => setClass('ceph-rbd') },
    crd: { on: () => install(metallb), off: () => succeeds(['delete', 'crd', METALLB_CRD]) },
  }
  const ON_AT_FIRST = ['not-annotation', 'feature-gate']

  await t.test(
    'before anything is turned, exactly those are active whose conditions hold',
    async (t) => {
      for (const name of ON_AT_FIRST) await untilHolds(name, 'baseline')
      for (const name of Object.keys(turns).filter((name) => !ON_AT_FIRST.includes(name))) {
        await untilCompared(name)
        t.equal(await read(`${CONFIG_MAPS}/${name}`), undefined, name)
      }
    },
  )

  for (const [name, { on, off }] of Object.entries(turns)) {
    await t.test(`${name} turns its asset on, off and on again`, async (t) => {
      await on()
      await untilHolds(name, 'baseline')
      await until('it complies', async () => (await complies(name)) === 1)

      await off()
      await until('it is told to be left over', async () => lines(name, 'left over').length > 0)
      await untilPasses(name)
      t.match(await edit(name), { code: 0, stderr: '' })
      await untilCompared(name)
      t.equal(await valueIn(name), 'edited', 'what is left over is not kept')
      t.equal(await seriesOf(name), undefined)
      t.equal(lines(name, 'left over').length, 1, 'and told once')
      t.match(lines(name, 'left over')[0].because, /^waits until /)

      await on()
      await untilHolds(name, 'baseline')
    })
  }

  await t.test('a condition that cannot be judged is told, and is no skip', async (t) => {
    const { regarding, note } = await untilEvent('RenderFailed', /^unjudged: /)
    t.equal(regarding.kind, 'HyperConverged')
    t.match(note, /"\/constructor" must not have the segment "constructor"/)
    t.match(lines('unjudged', 'asset failed')[0], { level: 50, reason: 'RenderFailed' })
    t.equal(await seriesOf('unjudged'), 'virt_platform_compliance_status 0')
  })

  await t.test(
    'a template that writes what the schema does not know is told, and not tried again',
    async (t) => {
      const { note } = await untilEvent('RenderFailed', /^misspelt: /)
      t.match(note, /dataa/)
      t.equal(await seriesOf('misspelt'), 'virt_platform_compliance_status 0')
      const told = lines('misspelt', 'asset failed').length
      await untilCompared('misspelt')
      t.equal(lines('misspelt', 'asset failed').length, told)
      t.equal((await events('ApplyFailed')).length, 0)
    },
  )

  await t.test('a template that reads what is not set is told, until it is set', async (t) => {
    const { note } = await untilEvent('RenderFailed', /^sized: /)
    t.match(note, /sized\.yaml\.ejs:4: value facts\.hco\.annotations\.size is not set/)
    t.equal(await seriesOf('sized'), 'virt_platform_compliance_status 0')
    await annotate('size=one')
    await untilHolds('sized', 'one')
    await until('it complies', async () => (await complies('sized')) === 1)

    const told = (await events('RenderFailed')).length
    await annotate('size-')
    await until('it is told again', async () => (await events('RenderFailed')).length > told)
    const [event] = (await events('RenderFailed')).filter(
      ({ regarding }) => regarding.name === 'sized',
    )
    t.match(event, { regarding: { kind: 'ConfigMap' } }, 'on the object, now that there is one')
    t.equal(await valueIn('sized'), 'one', 'and the object stays as it is')
    t.equal(await seriesOf('sized'), 'virt_platform_compliance_status 0')
  })

  /** The compliance of an object as it is exposed: its absence and zero are two things. */
  async function seriesOf(name: string): Promise<string | undefined> {
    const { reconciler } = cluster.autopilot.opsPorts
    const reply = await fetch(`http://127.0.0.1:${reconciler}/metrics`)
    const isWanted = (line: string) =>
      line.startsWith('virt_platform_compliance_status{') && line.includes(`name="${name}"`)
    const line = (await reply.text()).split('\n').find(isWanted)
    return line?.replace(/\{.*\}/, '')
  }
})
