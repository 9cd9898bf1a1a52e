import t, { type Test } from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, KUBELET, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const PREFIX = 'platform.kubevirt.io'
const OURS = 'virt-platform-autopilot'

interface Subject {
  readonly what: string
  readonly path: string
  readonly target: readonly string[]
  readonly pointer: string
  /** The field in `managedFields`. */
  readonly elements: readonly string[]
  readonly baseline: unknown
  /** What a server-side apply, a client-side apply and an update set, in this order. */
  readonly values: readonly [applied: unknown, applied: unknown, updated: unknown]
  readonly valueIn: (object: Loose) => unknown
  /** What somebody has in a file who sets only this field. */
  readonly manifest: (value: unknown) => object
  /** Sets the field in a whole object. */
  readonly edit: (object: Loose, value: unknown) => void
}

const ROLE = 'machineconfiguration.openshift.io/role'

const condition = (status: string, duration: unknown) => ({ type: 'Ready', status, duration })

const subjects: readonly Subject[] = [
  {
    what: 'a number',
    path: KUBELET,
    target: ['kubeletconfig', 'virt-perf-settings'],
    pointer: '/spec/kubeletConfig/maxPods',
    elements: ['f:spec', 'f:kubeletConfig', 'f:maxPods'],
    baseline: 500,
    values: [301, 302, 303],
    valueIn: ({ spec }) => spec.kubeletConfig.maxPods,
    manifest: (value) => ({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'KubeletConfig',
      metadata: { name: 'virt-perf-settings' },
      spec: { kubeletConfig: { maxPods: value } },
    }),
    edit: ({ spec }, value) => {
      spec.kubeletConfig.maxPods = value
    },
  },
  {
    what: 'a field of a list item',
    path: HEALTH_CHECK,
    target: ['nodehealthcheck', 'virt-node-health-check'],
    pointer: '/spec/unhealthyConditions/1/duration',
    elements: [
      'f:spec',
      'f:unhealthyConditions',
      'k:{"status":"Unknown","type":"Ready"}',
      'f:duration',
    ],
    baseline: '300s',
    values: ['301s', '302s', '303s'],
    valueIn: ({ spec }) =>
      spec.unhealthyConditions.find(({ status }: Loose) => status === 'Unknown').duration,
    // Not in the baseline's order: the item is known by its keys. A client-side apply replaces the list.
    manifest: (value) => ({
      apiVersion: 'remediation.medik8s.io/v1alpha1',
      kind: 'NodeHealthCheck',
      metadata: { name: 'virt-node-health-check' },
      spec: { unhealthyConditions: [condition('Unknown', value), condition('False', '300s')] },
    }),
    edit: ({ spec }, value) => {
      spec.unhealthyConditions = [condition('Unknown', value), condition('False', '300s')]
    },
  },
  {
    what: 'a label of a sensitive kind',
    path: SWAP,
    target: ['machineconfig', '90-worker-swap-online'],
    pointer: `/metadata/labels/${ROLE.replace('/', '~1')}`,
    elements: ['f:metadata', 'f:labels', `f:${ROLE}`],
    baseline: 'worker',
    values: ['gold', 'silver', 'bronze'],
    valueIn: ({ metadata }) => metadata.labels[ROLE],
    manifest: (value) => ({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { name: '90-worker-swap-online', labels: { [ROLE]: value } },
    }),
    edit: ({ metadata }, value) => {
      metadata.labels[ROLE] = value
    },
  },
]

const annotate = (target: readonly string[], ...annotations: readonly string[]) => [
  'annotate',
  ...target,
  '--overwrite',
  ...annotations.map((annotation) => `${PREFIX}/${annotation}`),
]

/** Whether the last apply of our manager owns a field. */
const isOurs = ({ metadata }: Loose, elements: readonly string[]) => {
  const entry = metadata.managedFields.find(
    ({ manager, operation }: Loose) => manager === OURS && operation === 'Apply',
  )
  return elements.reduce((fields, element) => fields?.[element], entry?.fieldsV1) !== undefined
}

t.test('ignored fields', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, untilCompared } = cluster
  const alice = cluster.person('alice')

  for (const { what, path, target, pointer, elements, baseline, values, ...subject } of subjects) {
    const name = target.at(-1) ?? ''
    const { valueIn, manifest, edit } = subject
    const [serverSide, clientSide, updated] = values

    /** The value is there to stay, and not ours. */
    const stays = async (t: Test, value: unknown) => {
      t.equal(valueIn(await read(path)), value)
      await untilCompared(name)
      const object = await read(path)
      t.equal(valueIn(object), value, 'and is not undone')
      t.notOk(isOurs(object, elements), 'nor owned by us')
    }

    await t.test(`${what} is released when it is ignored, and keeps its value`, async (t) => {
      t.ok(isOurs(await read(path), elements))
      t.match(await alice(annotate(target, `ignore-fields=${pointer}`)), { code: 0, stderr: '' })
      await until('the field is released', async () => !isOurs(await read(path), elements))
      await stays(t, baseline)
      t.ok(isOurs(await read(path), ['f:metadata', 'f:labels', `f:${PREFIX}/managed-by`]))
    })

    await t.test(`${what}, ignored, is set by a server-side apply without force`, async (t) => {
      const args = ['apply', '--server-side', '--field-manager=gitops', '-f-']
      const said = await alice(args, { input: JSON.stringify(manifest(serverSide)) })
      t.match(said, { code: 0, stderr: '' })
      await stays(t, serverSide)
    })

    await t.test(`${what}, ignored, is set by a client-side apply`, async (t) => {
      const said = await alice(['apply', '-f-'], { input: JSON.stringify(manifest(clientSide)) })
      t.equal(said.code, 0, said.stderr)
      t.notMatch(said.stderr, /kept at|conflict/i)
      await stays(t, clientSide)
    })

    await t.test(`${what}, ignored, is set by an update`, async (t) => {
      const object = await read(path)
      edit(object, updated)
      const said = await alice(['replace', '-f-'], { input: JSON.stringify(object) })
      t.match(said, { code: 0, stderr: '' })
      await stays(t, updated)
    })

    await t.test(`${what} is taken back when it is ignored no more`, async (t) => {
      t.match(await alice(annotate(target, 'ignore-fields-')), { code: 0 })
      await until('the field is ours again', async () => isOurs(await read(path), elements))
      t.equal(valueIn(await read(path)), baseline)
      const conflict = await alice(['apply', '--server-side', '--field-manager=late', '-f-'], {
        input: JSON.stringify(manifest(serverSide)),
      })
      t.match(conflict, { code: 1, stderr: /conflict.*"virt-platform-autopilot"/s })
    })
  }

  await t.test('what only a patch had added stays when it is ignored instead', async (t) => {
    const field = 'bandwidthPerMigration'
    const pointer = `/spec/virtualization/liveMigrationConfig/${field}`
    const elements = ['f:spec', 'f:virtualization', 'f:liveMigrationConfig', `f:${field}`]
    const valueIn = ({ spec }: Loose) => spec.virtualization.liveMigrationConfig[field]
    const patch = JSON.stringify([{ op: 'add', path: pointer, value: '64Mi' }])
    await alice(annotate(HYPERCONVERGED, `patch=${patch}`))
    await until('the field is ours', async () => isOurs(await read(HCO), elements))
    t.match(await alice(annotate(HYPERCONVERGED, 'patch-', `ignore-fields=${pointer}`)), {
      code: 0,
      stderr: /bandwidthPerMigration is not managed/,
    })
    await until('the field is released', async () => !isOurs(await read(HCO), elements))
    await untilCompared('kubevirt-hyperconverged')
    t.equal(valueIn(await read(HCO)), '64Mi')
  })
})
