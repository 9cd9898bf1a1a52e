import t, { type Test } from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  IGNORE_FIELDS,
  MODE,
  PATCH,
  PREFIX,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import { byteLength } from '../../../../src/shared/engine/json/json.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Snapshot } from '../../../../src/webhook/baseline/snapshot.ts'
import type { AdmissionResponse } from '../../../../src/webhook/server/review.ts'
import { factsWith } from '../../baseline/facts.ts'
import {
  baselineOf,
  type Edit,
  edited,
  facts,
  handlersWith,
  type Json,
  requestFor,
  snapshot,
  snapshotOf,
} from '../known.ts'

const hco = baselineOf('hco-golden-config')
const swap = baselineOf('swap-enable')
const health = baselineOf('node-health-standard')
const metallb = baselineOf('metallb')

const json = (value: unknown) => value as Json
const uninstall = (value: unknown) => (spec: Json) => {
  spec.uninstallStrategy = json(value)
}
const patchOf = (...operations: readonly object[]) => JSON.stringify(operations)

const HCO = 'HyperConverged openshift-cnv/kubevirt-hyperconverged'
const WHY =
  'by virt-platform-autopilot (hco-golden-config: an uninstall or a migration must not cost a VM).'
const ANNOTATE =
  'kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged --overwrite'

/** The same snapshot, with the values that the HyperConverged's schema allows. */
const strict: Snapshot = {
  ...snapshot,
  find: (...names) => {
    const managed = snapshot.find(...names)
    const strategy = { type: 'string', enum: ['RemoveWorkloads', 'BlockUninstallIfWorkloadsExist'] }
    const properties = { uninstallStrategy: strategy }
    return managed && { ...managed, values: { properties: { spec: { properties } } } }
  },
}
const REFUSED =
  'No annotation helps, since the API server does not take this edit: /spec/uninstallStrategy must be one of "RemoveWorkloads", "BlockUninstallIfWorkloadsExist".'

const withPools = (pools: Readonly<Record<string, number>>) =>
  snapshotOf({ facts: factsWith({ ...facts, pools }) })
const NO_UNITS = {
  spec: (spec: Json) => {
    json(spec.config).systemd = json({ units: [] })
  },
}

interface Case {
  readonly says: string
  readonly object?: KubeObject
  readonly before?: Edit
  readonly edit: Edit
  readonly known?: Snapshot
  readonly enforcement?: 'deny'
  readonly told: readonly string[]
}

const update = ({
  object = hco,
  before = {},
  edit,
  known,
  enforcement,
}: Omit<Case, 'told' | 'says'>): AdmissionResponse => {
  const { mutate } = handlersWith(known, enforcement)
  return mutate(
    requestFor('UPDATE', { object: edited(object, edit), oldObject: edited(object, before) }),
  )
}

const corrections: readonly Case[] = [
  {
    says: 'a field that is set otherwise',
    edit: { spec: uninstall('RemoveWorkloads') },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/uninstallStrategy","value":"RemoveWorkloads"}]'`,
    ],
  },
  {
    says: 'a value that the API server would refuse, with no way to have it',
    known: strict,
    edit: { spec: uninstall('RemoveWorkload') },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      REFUSED,
    ],
  },
  {
    says: 'a value that the schema allows, with the command',
    known: strict,
    edit: { spec: uninstall('RemoveWorkloads') },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/uninstallStrategy","value":"RemoveWorkloads"}]'`,
    ],
  },
  {
    says: 'a field that is left out',
    edit: {
      spec: (spec) => {
        delete spec.uninstallStrategy
      },
    },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it, then repeat the edit: ${ANNOTATE} ${PATCH}='[{"op":"remove","path":"/spec/uninstallStrategy"}]'`,
    ],
  },
  {
    says: 'a field that is set otherwise in a manifest that leaves others out',
    edit: {
      labels: {},
      spec: () => ({ liveMigrationConfig: { allowPostCopy: true, progressTimeout: 150 } }),
    },
    told: [
      `${HCO}: /metadata/labels/platform.kubevirt.io~1managed-by kept at "virt-platform-autopilot" ${WHY}`,
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `${HCO}: /spec/liveMigrationConfig/allowAutoConverge kept at false ${WHY}`,
      `${HCO}: /spec/liveMigrationConfig/allowPostCopy kept at false ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/liveMigrationConfig/allowPostCopy","value":true}]'`,
      `${HCO}: Fields that you left out stay as they are. To leave them alone, use kubectl apply --server-side, or write the full manifest.`,
    ],
  },
  {
    says: 'all fields of a map, which goes with them',
    edit: {
      spec: (spec) => {
        delete spec.liveMigrationConfig
      },
    },
    told: [
      `${HCO}: /spec/liveMigrationConfig/allowAutoConverge kept at false ${WHY}`,
      `${HCO}: /spec/liveMigrationConfig/allowPostCopy kept at false ${WHY}`,
      `To change it, then repeat the edit: ${ANNOTATE} ${PATCH}='[{"op":"remove","path":"/spec/liveMigrationConfig"}]'`,
    ],
  },
  {
    says: 'a value with quotes, which a shell must leave alone',
    edit: { spec: uninstall(`it's "so"; $(reboot) \\`) },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/uninstallStrategy","value":"it'\\''s \\"so\\"; $(reboot) \\\\"}]'`,
    ],
  },
  {
    says: 'a value that would reorder or break the line',
    edit: { spec: uninstall('a\u202eb\nc\u0007\u{e0001}') },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/uninstallStrategy","value":"a\\u202eb\\nc\\u0007\\udb40\\udc01"}]'`,
    ],
  },
  {
    says: 'another field than a patch in force is about',
    before: {
      annotations: { [PATCH]: patchOf({ op: 'add', path: '/spec/x', value: 1 }) },
      spec: (spec) => {
        spec.x = json(1)
      },
    },
    edit: {
      annotations: { [PATCH]: patchOf({ op: 'add', path: '/spec/x', value: 1 }) },
      spec: (spec) => {
        spec.x = json(1)
        uninstall('y')(spec)
      },
    },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To add it to the patch in force: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/x","value":1},{"op":"add","path":"/spec/uninstallStrategy","value":"y"}]'`,
    ],
  },
  {
    says: 'a command that is too long',
    edit: { spec: uninstall('y'.repeat(700)) },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      'To change it: the command is too long to be shown here: `virt-platform-autopilot override FILE` prints it for your manifest.',
    ],
  },
  {
    says: 'a secret, in a field that a patch has put under management',
    before: {
      annotations: { [PATCH]: patchOf({ op: 'add', path: '/spec/tokens', value: { a: 'x' } }) },
      spec: (spec) => {
        spec.tokens = json({ a: 'x' })
      },
    },
    edit: {
      annotations: { [PATCH]: patchOf({ op: 'add', path: '/spec/tokens', value: { a: 'x' } }) },
      spec: (spec) => {
        spec.tokens = json({ a: 'hunter2' })
      },
    },
    told: [
      `${HCO}: /spec/tokens kept at (hidden) ${WHY}`,
      'To add it to the patch in force: the command would show a secret or a payload: `virt-platform-autopilot override FILE` prints it for your manifest.',
    ],
  },
  {
    says: 'an edit that no patch can make legitimate',
    object: metallb,
    edit: { metadata: {}, spec: () => null },
    told: [
      'MetalLB metallb-system/metallb: /spec kept at {} by virt-platform-autopilot (metallb: services of VMs need addresses outside a cloud too).',
      `To own it yourself: kubectl annotate metallb -n metallb-system metallb --overwrite ${IGNORE_FIELDS}=/spec`,
    ],
  },
  {
    says: 'a kind that takes no patch',
    object: swap,
    edit: {
      spec: (spec) => {
        delete json(spec.config).ignition
      },
    },
    told: [
      'MachineConfig 90-worker-swap-online: /spec/config/ignition/version kept at "3.4.0" by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services).',
      `To own it yourself: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${IGNORE_FIELDS}=/spec/config/ignition/version`,
    ],
  },
  {
    says: 'everything of a kind that takes no patch, where only the object can be owned',
    object: swap,
    edit: { spec: () => 'x' },
    told: [
      'MachineConfig 90-worker-swap-online: /spec/config/ignition/version kept at "3.4.0" by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services).',
      'MachineConfig 90-worker-swap-online: /spec/config/storage/files kept at [{"path":"/etc/openshift/kubelet.conf.d/90-swap.conf","mode… by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services).',
      'MachineConfig 90-worker-swap-online: /spec/config/systemd/units kept at [{"name":"swap-disk-enable.service","enabled":true,"content… by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services).',
      `To own it yourself: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${IGNORE_FIELDS}=/spec/config/ignition/version,/spec/config/storage/files,/spec/config/systemd/units`,
    ],
  },
  {
    says: 'our label, for which there is no way out',
    edit: { labels: { team: 'virt' } },
    told: [
      `${HCO}: /metadata/labels/platform.kubevirt.io~1managed-by kept at "virt-platform-autopilot" ${WHY}`,
    ],
  },
  {
    says: 'a patch that comes without the edit',
    edit: {
      annotations: {
        [PATCH]: patchOf({ op: 'replace', path: '/spec/uninstallStrategy', value: 'x' }),
      },
    },
    told: [
      `${HCO}: /spec/uninstallStrategy set to "x" by virt-platform-autopilot, as the patch now says (hco-golden-config); if the API server refuses that, mend the patch.`,
    ],
  },
  {
    says: 'a patch that is taken away',
    before: {
      annotations: {
        [PATCH]: patchOf({ op: 'replace', path: '/spec/uninstallStrategy', value: 'x' }),
      },
      spec: uninstall('x'),
    },
    edit: { spec: uninstall('x') },
    told: [
      `${HCO}: /spec/uninstallStrategy set to "BlockUninstallIfWorkloadsExist" by virt-platform-autopilot, as the annotations now say (hco-golden-config: an uninstall or a migration must not cost a VM).`,
    ],
  },
  {
    says: 'a patch of what is ignored',
    object: health,
    edit: {
      annotations: {
        [PATCH]: patchOf({ op: 'replace', path: '/spec/minHealthy', value: '1%' }),
        [IGNORE_FIELDS]: '/spec/minHealthy',
      },
    },
    told: [
      `NodeHealthCheck virt-node-health-check: ${PATCH}: what the patch does at /spec/minHealthy has no effect, since ${IGNORE_FIELDS} releases it: take it out of one of the two`,
    ],
  },
  {
    says: 'names that nobody knows',
    edit: { annotations: { [AUTOPILOT]: 'hco,swap-enabel', [`${PREFIX}ignore-field`]: '/x' } },
    told: [
      `${HCO}: annotation ${PREFIX}ignore-field means nothing here: did you mean ${IGNORE_FIELDS}?`,
      `${HCO}: no asset or group is named "swap-enabel": did you mean "swap-enable"?`,
      `${HCO}: swap-enable, kubelet-perf-settings, node-health-standard, metallb, mtv and 5 more are not kept any more from now on`,
    ],
  },
  {
    says: 'a pointer that is not managed, beside a correction',
    edit: {
      annotations: { [IGNORE_FIELDS]: '/spec/evictionStrategy' },
      spec: uninstall('x'),
    },
    told: [
      `${HCO}: /spec/uninstallStrategy kept at "BlockUninstallIfWorkloadsExist" ${WHY}`,
      `To change it: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/uninstallStrategy","value":"x"}]'`,
      `${HCO}: ${IGNORE_FIELDS}: /spec/evictionStrategy is not managed: ignoring it only leaves there what was managed before`,
    ],
  },
]

for (const { says, told, ...situation } of corrections) {
  t.test(`warns of ${says}`, async (t) => {
    t.strictSame(update(situation).warnings, told)
  })
}

t.test('tells what another list of exclusions puts back', async (t) => {
  const before = { annotations: { [DISABLED_RESOURCES]: '[metallb, mtv]' } }
  const known = snapshotOf({ settings: before.annotations })
  const edit = { annotations: { [DISABLED_RESOURCES]: '[swap-enable]' } }
  t.strictSame(update({ before, edit, known }).warnings, [
    `${HCO}: swap-enable is not kept any more from now on`,
    `${HCO}: metallb, mtv are kept again from now on`,
  ])
})

t.test('tells of nothing that is put back and does not apply here', async (t) => {
  const before = { annotations: { [DISABLED_RESOURCES]: '["swap-*"]' } }
  const known = snapshotOf({ settings: before.annotations })
  const edit = { annotations: { [DISABLED_RESOURCES]: '[metallb]' } }
  const { warnings = [] } = update({ before, edit, known })
  t.ok(warnings.includes(`${HCO}: swap-enable is kept again from now on`))
})

t.test('warns whoever wakes another autopilot', async (t) => {
  const known = snapshotOf({ otherAutopilot: 'idle' })
  const edit = { annotations: { [AUTOPILOT]: 'true' } }
  t.strictSame(update({ edit, known }).warnings, [
    `${HCO}: the Deployment openshift-cnv/virt-platform-autopilot is another autopilot, which platform.kubevirt.io/autopilot wakes: while it is active, this one writes and corrects nothing`,
    `${HCO}: to have this one keep everything, and that one be idle: kubectl annotate hyperconverged -n openshift-cnv kubevirt-hyperconverged platform.kubevirt.io/autopilot-`,
  ])
  t.equal(update({ edit }).warnings, undefined, 'none is there')
  const off = { annotations: { [AUTOPILOT]: 'false' } }
  t.equal(update({ edit: off, known }).warnings, undefined, 'it stays idle')
})

t.test('tells what an owner does to what nobody may delete', async (t) => {
  const owned = (object: KubeObject): KubeObject => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Namespace', name: 'zz', uid: '1-2-3' }]
    return { ...object, metadata: { ...object.metadata, ownerReferences } }
  }
  const told = (object: KubeObject, oldObject: KubeObject) =>
    handlersWith(withPools({ worker: 3 })).mutate(requestFor('UPDATE', { object, oldObject }))
      .warnings
  t.strictSame(told(owned(swap), swap), [
    'MachineConfig 90-worker-swap-online: it is deleted with its owner, at once if there is no such owner; a change would reboot 3 nodes of pool worker',
  ])
  t.equal(told(owned(swap), owned(swap)), undefined, 'once')
  t.equal(told(owned(metallb), metallb), undefined, 'what people may delete anyway')
})

const noContent = (spec: Json) => {
  NO_UNITS.spec(spec)
  json(spec.config).storage = json({})
}
// Nobody asked for the descheduler, which is of an age to look at pressure.
const unasked = factsWith({
  ...facts,
  hco: { ...facts.hco, annotations: {} },
  enums: { 'operator.openshift.io/KubeDescheduler/spec/profiles': ['KubeVirtRelieveAndMigrate'] },
  pools: { worker: 3 },
})

const effects: readonly (Case & { readonly object: KubeObject })[] = [
  {
    says: 'an opt-in on the HyperConverged',
    object: hco,
    before: { annotations: {} },
    edit: { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } },
    known: snapshotOf({ facts: unasked }),
    told: [
      `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: psi-enable`,
    ],
  },
  {
    says: 'the same on a HyperConverged that is somebody’s own',
    object: hco,
    before: { annotations: { [MODE]: 'unmanaged' } },
    edit: { annotations: { [MODE]: 'unmanaged', [`${PREFIX}enable-loadaware`]: 'true' } },
    known: snapshotOf({ facts: unasked }),
    told: [
      `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: psi-enable`,
    ],
  },
  {
    says: 'the same, where changes are on hold',
    object: hco,
    before: { annotations: { [DISRUPTIVE_CHANGES]: 'hold' } },
    edit: { annotations: { [DISRUPTIVE_CHANGES]: 'hold', [`${PREFIX}enable-loadaware`]: 'true' } },
    known: snapshotOf({
      facts: unasked,
      settings: { [DISRUPTIVE_CHANGES]: 'hold' },
    }),
    told: [`${HCO}: what reboots 3 nodes of pool worker for this waits for approval: psi-enable`],
  },
  {
    says: 'an opt-in, where the leader holds changes',
    object: hco,
    before: { annotations: {} },
    edit: { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } },
    known: snapshotOf({ facts: unasked, disruptiveChanges: 'hold' }),
    told: [`${HCO}: what reboots 3 nodes of pool worker for this waits for approval: psi-enable`],
  },
  {
    says: 'an opt-in, where the leader makes changes at once',
    object: hco,
    before: { annotations: {} },
    edit: { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } },
    known: snapshotOf({ facts: unasked, disruptiveChanges: 'apply' }),
    told: [`${HCO}: this reboots 3 nodes of pool worker now: psi-enable`],
  },
  {
    says: 'what a feature gate could ask for as well',
    object: hco,
    edit: { annotations: { [`${PREFIX}enable-cpu-manager`]: 'true' } },
    known: withPools({ worker: 3 }),
    told: [
      `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: kubelet-perf-settings`,
    ],
  },
  {
    says: 'a feature gate on the HyperConverged',
    object: hco,
    edit: {
      spec: (spec) => {
        spec.featureGates = json([{ name: 'CPUManager' }])
      },
    },
    known: withPools({ worker: 3 }),
    told: [
      `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: kubelet-perf-settings`,
    ],
  },
  {
    says: 'an asset that is excluded no more, where changes are made at once',
    object: hco,
    before: {
      annotations: { [DISRUPTIVE_CHANGES]: 'apply', [DISABLED_RESOURCES]: '[swap-enable]' },
    },
    edit: { annotations: { [DISRUPTIVE_CHANGES]: 'apply' } },
    known: snapshotOf({
      facts: factsWith({ ...facts, pools: { worker: 3 } }),
      settings: { [DISRUPTIVE_CHANGES]: 'apply', [DISABLED_RESOURCES]: '[swap-enable]' },
    }),
    told: [
      `${HCO}: this reboots 3 nodes of pool worker now: swap-enable`,
      `${HCO}: swap-enable is kept again from now on`,
    ],
  },
  {
    says: 'the end of observing',
    object: hco,
    before: { annotations: { [AUTOPILOT]: 'observe' } },
    edit: { annotations: {} },
    known: snapshotOf({
      facts: factsWith({
        ...facts,
        topology: { ...facts.topology, schedulableMasters: true },
        pools: { worker: 3, master: 1 },
      }),
      settings: { [AUTOPILOT]: 'observe' },
      applied: {
        'swap-enable': 'older',
        'kubelet-perf-settings': 'older',
        'kubelet-perf-settings-master': 'older',
      },
    }),
    told: [
      `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: swap-enable, kubelet-perf-settings`,
      `${HCO}: 1 node of pool master may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: kubelet-perf-settings-master`,
    ],
  },
  {
    says: 'the switch, where the leader only observes without it',
    object: hco,
    before: { annotations: {} },
    edit: { annotations: { [AUTOPILOT]: 'true' } },
    known: snapshotOf({
      facts: factsWith({ ...facts, pools: { worker: 3 } }),
      settings: { [AUTOPILOT]: 'observe' },
      activation: 'observe',
      disruptiveChanges: 'apply',
      applied: { 'swap-enable': 'older' },
    }),
    told: [`${HCO}: this reboots 3 nodes of pool worker now: swap-enable`],
  },
  {
    says: 'changes that are on hold no more',
    object: hco,
    before: { annotations: { [DISRUPTIVE_CHANGES]: 'hold' } },
    edit: { annotations: { [DISRUPTIVE_CHANGES]: 'apply' } },
    known: snapshotOf({
      facts: factsWith({ ...facts, pools: { worker: 3 } }),
      settings: { [DISRUPTIVE_CHANGES]: 'hold' },
      applied: { 'swap-enable': 'older' },
    }),
    told: [`${HCO}: this reboots 3 nodes of pool worker now: swap-enable`],
  },
  {
    says: 'a field that is ignored no more',
    object: swap,
    before: { ...NO_UNITS, annotations: { [IGNORE_FIELDS]: '/spec/config/systemd/units' } },
    edit: NO_UNITS,
    told: [
      'MachineConfig 90-worker-swap-online: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: swap-enable puts /spec/config/systemd/units back',
    ],
  },
  {
    says: 'an object that is managed again',
    object: swap,
    before: { spec: noContent, annotations: { [MODE]: 'unmanaged' } },
    edit: { spec: noContent, annotations: { [MODE]: 'managed' } },
    told: [
      'MachineConfig 90-worker-swap-online: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: swap-enable puts /spec/config/storage/files, /spec/config/systemd/units back',
    ],
  },
]

for (const { says, told, ...situation } of effects) {
  t.test(`tells what will be done to nodes because of ${says}`, async (t) => {
    t.strictSame(update(situation).warnings, told)
  })
}

t.test('tells of reboots, however much else there is to tell', async (t) => {
  const edit = {
    spec: (spec: Json) => {
      delete spec.liveMigrationConfig
      uninstall('x'.repeat(600))(spec)
    },
    annotations: {
      [`${PREFIX}enable-loadaware`]: 'true',
      [`${PREFIX}enable-load`]: 'x'.repeat(99),
    },
  }
  const { warnings = [] } = update({ object: hco, edit, known: snapshotOf({ facts: unasked }) })
  t.ok(warnings.length > 5)
  t.ok(warnings.some((text) => text.endsWith('--disruptive-changes=apply: psi-enable')))
})

t.test('tells of reboots to whoever creates the HyperConverged', async (t) => {
  const known = snapshotOf({ facts: unasked, applied: { 'swap-enable': 'older' } })
  const object = edited(hco, { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } })
  const { warnings } = handlersWith(known).mutate(requestFor('CREATE', { object }))
  t.strictSame(warnings, [
    `${HCO}: 3 nodes of pool worker may reboot for this, once approved, or at once where the reconciler runs with --disruptive-changes=apply: swap-enable, psi-enable`,
  ])
})

t.test('says nothing of nodes for what says what it said, or is in force', async (t) => {
  const annotations = { [`${PREFIX}enable-loadaware`]: 'true' }
  t.equal(
    update({ object: hco, before: { annotations }, edit: { annotations } }).warnings,
    undefined,
  )
  t.equal(update({ object: hco, edit: { annotations } }).warnings, undefined, 'in force already')
  const observing = { annotations: { [AUTOPILOT]: 'observe' } }
  const asked = { annotations: { ...observing.annotations, ...annotations } }
  const known = snapshotOf({ facts: unasked, settings: observing.annotations })
  t.equal(update({ object: hco, before: observing, edit: asked, known }).warnings, undefined)
  const later = { annotations: { ...annotations, [`${PREFIX}enable-node-maintenance`]: 'true' } }
  const opted = { object: hco, before: { annotations }, edit: later }
  t.equal(update({ ...opted, known: snapshotOf({ facts: unasked }) }).warnings, undefined, 'once')
  const held = { annotations: { [DISRUPTIVE_CHANGES]: 'hold' } }
  const pending = snapshotOf({ facts, applied: { 'swap-enable': 'older' } })
  t.equal(update({ object: hco, edit: held, known: pending }).warnings, undefined, 'it waits now')
  const ignored = { annotations: { [IGNORE_FIELDS]: '/spec/config/systemd/units' } }
  t.equal(update({ object: swap, before: ignored, edit: {} }).warnings, undefined, 'as desired')
})

const SWAP =
  'MachineConfig 90-worker-swap-online: /spec/config/systemd/units is kept by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services)'
const OWN_SWAP = [
  `To own the field yourself: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${IGNORE_FIELDS}=/spec/config/systemd/units`,
  `To own the object: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${MODE}=unmanaged`,
  'Where GitOps owns the object, put the annotation into its manifest.',
]

const denials: readonly Case[] = [
  {
    says: 'a value that the API server would refuse, too',
    known: strict,
    enforcement: 'deny',
    edit: { spec: uninstall('RemoveWorkload') },
    told: [
      `${HCO}: /spec/uninstallStrategy is kept by virt-platform-autopilot (hco-golden-config: an uninstall or a migration must not cost a VM).`,
      REFUSED,
    ],
  },
  {
    says: 'a change that would reboot nodes',
    object: swap,
    edit: NO_UNITS,
    told: [
      `${SWAP}; a change would reboot 3 nodes of pool worker. This kind takes no patch.`,
      ...OWN_SWAP,
    ],
  },
  {
    says: 'a change that would reboot one node',
    object: swap,
    edit: NO_UNITS,
    known: withPools({ worker: 1 }),
    told: [
      `${SWAP}; a change would reboot 1 node of pool worker. This kind takes no patch.`,
      ...OWN_SWAP,
    ],
  },
  {
    says: 'a change that custom pools take too',
    object: swap,
    edit: NO_UNITS,
    known: snapshotOf({
      facts: factsWith({
        ...facts,
        pools: { worker: 3, infra: 2 },
        heirs: { worker: ['infra'] },
      }),
    }),
    told: [
      `${SWAP}; a change would reboot 5 nodes of pools worker and infra. This kind takes no patch.`,
      ...OWN_SWAP,
    ],
  },
  {
    says: 'a change that would reboot nobody knows how many nodes',
    object: swap,
    edit: NO_UNITS,
    known: withPools({}),
    told: [
      `${SWAP}; a change would reboot the nodes of pool worker. This kind takes no patch.`,
      ...OWN_SWAP,
    ],
  },
  {
    says: 'a change beside fields that are ignored already',
    object: swap,
    before: {
      annotations: { [IGNORE_FIELDS]: ' /spec/config/ignition ,' + '/spec/config/storage' },
    },
    edit: {
      ...NO_UNITS,
      annotations: { [IGNORE_FIELDS]: ' /spec/config/ignition ,' + '/spec/config/storage' },
    },
    told: [
      `${SWAP}; a change would reboot 3 nodes of pool worker. This kind takes no patch.`,
      `To own the field yourself: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${IGNORE_FIELDS}=/spec/config/ignition,/spec/config/storage,/spec/config/systemd/units`,
      ...OWN_SWAP.slice(1),
    ],
  },
  {
    says: 'changes of several fields, where the HyperConverged wants denials',
    edit: {
      spec: (spec) => {
        uninstall('x')(spec)
        json(spec.liveMigrationConfig).allowPostCopy = json(true)
      },
    },
    enforcement: 'deny',
    told: [
      `${HCO}: /spec/uninstallStrategy, /spec/liveMigrationConfig/allowPostCopy are kept by virt-platform-autopilot (hco-golden-config: an uninstall or a migration must not cost a VM).`,
      `To make this edit stick: ${ANNOTATE} ${PATCH}='[{"op":"add","path":"/spec/liveMigrationConfig/allowPostCopy","value":true},{"op":"add","path":"/spec/uninstallStrategy","value":"x"}]'`,
      `To own the fields yourself: ${ANNOTATE} ${IGNORE_FIELDS}=/spec/uninstallStrategy,/spec/liveMigrationConfig/allowPostCopy`,
      `To own the object: ${ANNOTATE} ${MODE}=unmanaged`,
      'Where GitOps owns the object, put the annotation into its manifest.',
    ],
  },
  {
    says: 'a change whose command is too long for a denial',
    edit: { spec: uninstall('y'.repeat(2_000)) },
    enforcement: 'deny',
    told: [
      `${HCO}: /spec/uninstallStrategy is kept by virt-platform-autopilot (hco-golden-config: an uninstall or a migration must not cost a VM).`,
      'To make this edit stick: the command is too long to be shown here: `virt-platform-autopilot override FILE` prints it for your manifest.',
      `To own the field yourself: ${ANNOTATE} ${IGNORE_FIELDS}=/spec/uninstallStrategy`,
      `To own the object: ${ANNOTATE} ${MODE}=unmanaged`,
      'Where GitOps owns the object, put the annotation into its manifest.',
    ],
  },
  {
    says: 'a patch on a kind that takes none',
    object: swap,
    edit: { annotations: { [PATCH]: '[]' } },
    told: [
      `MachineConfig 90-worker-swap-online: ${PATCH} is refused, since what this kind holds grants power over nodes or access: use ${IGNORE_FIELDS} or ${MODE}.`,
      `To own the object: kubectl annotate machineconfig 90-worker-swap-online --overwrite ${MODE}=unmanaged`,
    ],
  },
  {
    says: 'an invalid setting',
    edit: { annotations: { [AUTOPILOT]: 'True' } },
    told: [
      `${HCO}: ${AUTOPILOT} must be "true", "false", "observe" or a comma separated list of asset and group names, not "True".`,
      'Nothing was stored: mend the annotation and write again.',
    ],
  },
  {
    says: 'invalid overrides',
    edit: { annotations: { [PATCH]: patchOf({ op: 'set' }), [MODE]: 'off\u202e' } },
    told: [
      `${HCO}: ${MODE} must be "unmanaged" or "managed", or absent, not "off\\u202e"; ${PATCH}: operation 0: "op" must be add, copy, move, remove, replace or test.`,
      'Nothing was stored: mend the annotation and write again.',
    ],
  },
]

for (const { says, told, ...situation } of denials) {
  t.test(`explains why it denies ${says}`, async (t) => {
    t.strictSame(update(situation).status?.message.split('\n'), told)
  })
}

t.test('says that a correction did not last', async (t) => {
  const object = edited(health, {
    spec: (spec) => {
      spec.minHealthy = json('1%')
    },
  })
  const { status } = handlersWith().validate(requestFor('UPDATE', { object, oldObject: health }))
  t.strictSame(
    status?.message.split('\n')[0],
    'NodeHealthCheck virt-node-health-check: /spec/minHealthy is kept by virt-platform-autopilot (node-health-standard: the VMs of a dead node must start elsewhere). The correction did not last: another admission webhook changed the object after ours, or ours was not reached. Write again.',
  )
})

t.test('tells what a deletion comes to', async (t) => {
  const excluding = (value: string) => snapshotOf({ settings: { [DISABLED_RESOURCES]: value } })
  const told = (old: KubeObject, known: Snapshot = snapshot) => {
    const { warnings, status } = handlersWith(known).validate(
      requestFor('DELETE', { oldObject: old }),
    )
    return warnings ?? status?.message.split('\n')
  }
  t.strictSame(told(health), [
    'NodeHealthCheck virt-node-health-check comes back within seconds, without its overrides (node-health-standard: the VMs of a dead node must start elsewhere).',
    `To keep it away: ${ANNOTATE} ${DISABLED_RESOURCES}='["node-health-standard"]'`,
  ])
  t.strictSame(told(health, excluding('- metallb\n- kind: "KubeletConf*"\n  name: "it\'s"')), [
    'NodeHealthCheck virt-node-health-check comes back within seconds, without its overrides (node-health-standard: the VMs of a dead node must start elsewhere).',
    `To keep it away: ${ANNOTATE} ${DISABLED_RESOURCES}='["metallb",{"kind":"KubeletConf*","name":"it'\\''s"},"node-health-standard"]'`,
  ])
  t.strictSame(told(edited(health, { annotations: { [MODE]: 'unmanaged' } })), [
    'NodeHealthCheck virt-node-health-check comes back within seconds, and managed (node-health-standard: the VMs of a dead node must start elsewhere).',
    `To keep it away: ${ANNOTATE} ${DISABLED_RESOURCES}='["node-health-standard"]'`,
  ])
  t.strictSame(told(edited(swap, { annotations: { [RECONCILE_PAUSED]: 'true' } })), [
    'MachineConfig 90-worker-swap-online comes back as soon as its change may be made, and no longer paused (swap-enable: memory overcommit needs swap, kept away from system services).',
    `To keep it away: ${ANNOTATE} ${DISABLED_RESOURCES}='["swap-enable"]'`,
  ])
  t.strictSame(
    told(health, excluding(`- ${'x'.repeat(700)}`))?.at(1),
    `To keep it away: add node-health-standard to the annotation ${DISABLED_RESOURCES} of ${HCO}.`,
  )
  t.strictSame(told(swap), [
    'MachineConfig 90-worker-swap-online is kept by virt-platform-autopilot (swap-enable: memory overcommit needs swap, kept away from system services); a change would reboot 3 nodes of pool worker.',
    `To delete it for good, switch the asset off first: ${ANNOTATE} ${DISABLED_RESOURCES}='["swap-enable"]'`,
  ])
})

t.test('tells of what is too much to be judged, and lets whoever has it go on', async (t) => {
  const incoming = edited(health, { spec: uninstall('x') })
  const tell = (...oversized: readonly ('object' | 'oldObject')[]) =>
    handlersWith().mutate(requestFor('UPDATE', { object: incoming, oldObject: health, oversized }))
  t.match(tell('object'), {
    allowed: false,
    status: {
      code: 403,
      message: `NodeHealthCheck virt-node-health-check: it has more than 20000 values, too many for virt-platform-autopilot to judge (node-health-standard: the VMs of a dead node must start elsewhere). Nothing was stored: write fewer.
To own the object: kubectl annotate nodehealthcheck virt-node-health-check --overwrite platform.kubevirt.io/mode=unmanaged`,
    },
  })
  t.strictSame(tell('object', 'oldObject'), {
    allowed: true,
    warnings: [
      'NodeHealthCheck virt-node-health-check: it has more than 20000 values, too many to be judged: what is managed is put back afterwards',
    ],
  })
})

t.test('lets nobody near what reboots nodes by way of an object that is too much', async (t) => {
  const oversized = ['object', 'oldObject'] as const
  const skeleton = ({ apiVersion, kind, metadata }: KubeObject, mode?: string): KubeObject => {
    const annotations = mode === undefined ? {} : { [MODE]: mode }
    return { apiVersion, kind, metadata: { ...metadata, annotations } }
  }
  const write = (object: KubeObject, oldObject: KubeObject) =>
    handlersWith().mutate(requestFor('UPDATE', { object, oldObject, oversized }))
  const unmanaged = skeleton(swap, 'unmanaged')
  t.equal(write(unmanaged, skeleton(swap)).allowed, true, 'whoever owns it may')
  t.match(write(skeleton(swap), unmanaged), { allowed: false, status: { code: 403 } })
  t.match(write(skeleton(swap), skeleton(swap)), { allowed: false, status: { code: 403 } })
  t.equal(write(skeleton(health, 'unmanaged'), skeleton(health)).allowed, true)
  t.equal(write(skeleton(health), skeleton(health, 'unmanaged')).allowed, false)
  t.equal(write(skeleton(health), skeleton(health)).allowed, true, 'no worse than before')
  const ending = { ...skeleton(swap), metadata: { ...swap.metadata, deletionTimestamp: '2026' } }
  t.equal(write(ending, skeleton(swap)).allowed, true, 'nor is an end held up')
})

t.test(
  'judges a write by itself where what was there is too much to be compared with',
  async (t) => {
    const own = { team: 'virt' }
    const oversized = ['oldObject'] as const
    const skeletonOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({
      apiVersion,
      kind,
      metadata,
    })
    const asked = (object: KubeObject, known = snapshot) => {
      const handlers = handlersWith(known)
      const request = requestFor('UPDATE', { object, oldObject: skeletonOf(object), oversized })
      return { ...handlers.mutate(request), wars: handlers.wars }
    }
    t.strictSame(asked(edited(health, { annotations: own })), { allowed: true, wars: [] })
    const drifted = asked(edited(health, { spec: (spec) => ({ ...spec, minHealthy: json('1%') }) }))
    t.match(drifted, { allowed: true, patchType: 'JSONPatch', wars: { length: 0 } })
    const units = edited(swap, { spec: (spec) => ({ ...spec, config: json({}) }) })
    t.match(
      asked(units),
      { allowed: true, patchType: 'JSONPatch' },
      'what is only denied is put back',
    )
  },
)

t.test('an annotation is too long only for whoever reads it', async (t) => {
  const long = 'x'.repeat(70_000)
  const annotate = (object: KubeObject, key: string, known = snapshot) => {
    const annotated = edited(object, { annotations: { [`platform.kubevirt.io/${key}`]: long } })
    const { mutate, counted } = handlersWith(known)
    const { allowed } = mutate(requestFor('UPDATE', { object: annotated, oldObject: object }))
    return [allowed, counted[0]?.reason]
  }
  t.strictSame(annotate(health, 'patch'), [false, 'InvalidOverride'])
  t.strictSame(annotate(swap, 'patch'), [false, 'PatchBlocked'])
  t.strictSame(annotate(hco, 'autopilot'), [false, 'InvalidSetting'])
  t.strictSame(annotate(hco, 'usb-devices'), [false, 'InvalidSetting'])
  for (const object of [health, hco]) t.strictSame(annotate(object, 'notes'), [true, 'InSync'])
  const off = snapshotOf({ settings: { [AUTOPILOT]: 'false' } })
  t.strictSame(annotate(hco, 'patch', off), [false, 'InvalidOverride'], 'with this write it is on')
  t.strictSame(annotate(health, 'patch', off), [true, 'Off'])
})

t.test('tells of more annotations than anybody needs', async (t) => {
  const annotations = Object.fromEntries(
    Array.from({ length: 101 }, (_, index) => [`platform.kubevirt.io/k${index}`, '']),
  )
  const object = edited(health, { annotations })
  const { status } = handlersWith().mutate(requestFor('UPDATE', { object, oldObject: health }))
  t.equal(
    status?.message,
    `NodeHealthCheck virt-node-health-check: platform.kubevirt.io/ must not start more than 100 annotations of one object.
Nothing was stored: mend the annotation and write again.`,
  )
})

t.test('names five fields and counts the rest', async (t) => {
  const names = Array.from({ length: 9 }, (_, index) => `field${index}`)
  const patch = patchOf(
    { op: 'add', path: '/spec/more', value: {} },
    ...names.map((name) => ({ op: 'add', path: `/spec/${name}`, value: 1 })),
  )
  const before = {
    annotations: { [PATCH]: patch },
    spec: (spec: Json) => {
      for (const name of names) spec[name] = json(1)
    },
  }
  const edit = {
    annotations: { [PATCH]: patch },
    spec: (spec: Json) => {
      for (const name of names) spec[name] = json(2)
    },
  }
  const { warnings = [] } = update({ before, edit })
  t.equal(warnings.length, 7)
  t.equal(warnings[5], `${HCO}: 9 fields kept in all.`)
  const { status } = update({ before, edit, enforcement: 'deny' })
  t.match(status?.message, '/spec/field4 and 4 more are kept by')
})

t.test('names five faults and counts the rest, with a cause for each of twenty', async (t) => {
  const pointers = Array.from({ length: 30 }, (_, index) => `/status/${index}`)
  const { status } = update({ edit: { annotations: { [IGNORE_FIELDS]: pointers.join(',') } } })
  t.match(
    status?.message,
    /\/status\/4 is never managed: remove the pointer; and 25 more\.\nNothing/,
  )
  t.equal(status?.details?.causes.length, 20)
})

t.test('keeps every message short, and every command whole', async (t) => {
  const many = Array.from({ length: 300 }, (_, index) => [`f${index}`, index] as const)
  const patch = patchOf(
    ...many.map(([name, value]) => ({ op: 'add', path: `/spec/${name}`, value })),
  )
  const spec = (change: number) => (spec: Json) => {
    for (const [name, value] of many) spec[name] = json(value + change)
  }
  const hostile = 'é\u202e'.repeat(2_000)
  const cases: Omit<Case, 'told' | 'says'>[] = [
    {
      edit: { annotations: { [PATCH]: patch }, spec: spec(1) },
      before: { annotations: { [PATCH]: patch }, spec: spec(0) },
    },
    {
      edit: {
        annotations: {
          [MODE]: hostile,
          [PATCH]: `[{"op":"add","path":"/spec/${hostile}/x","value":1}]`,
        },
      },
    },
    {
      edit: {
        annotations: {
          [IGNORE_FIELDS]: Array.from(
            { length: 250 },
            (_, index) => `/${hostile.slice(0, 500)}${index}`,
          ).join(','),
        },
      },
    },
    {
      edit: {
        annotations: Object.fromEntries(
          Array.from({ length: 300 }, (_, index) => [`${PREFIX}${hostile}${index}`, 'x']),
        ),
      },
    },
    {
      edit: {
        annotations: {
          [AUTOPILOT]: Array.from({ length: 500 }, (_, index) => `a-${index}`).join(','),
        },
      },
    },
    { edit: { spec: uninstall(hostile) } },
    { edit: { spec: uninstall({ toString: hostile, ['__proto__']: 1 }) } },
    { edit: { spec: uninstall('y'.repeat(400)) } },
  ]
  for (const situation of cases.flatMap((one) => [one, { ...one, enforcement: 'deny' as const }])) {
    checkBounds(t, update(situation))
  }
})

const checkBounds = (t: Test, { warnings = [], status }: AdmissionResponse) => {
  const said = [...warnings, ...(status ? [status.message] : [])]
  t.ok(said.length > 0)
  t.ok(said.reduce((sum, text) => sum + byteLength(text), 0) <= 2_048)
  const tooLong = warnings.filter(
    (text) => byteLength(text) > (text.startsWith('To ') ? 700 : 256) || text.includes('\n'),
  )
  t.strictSame(tooLong, [])
  const lines = said.flatMap((text) => text.split('\n'))
  t.strictSame(
    lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line)),
    [],
  )
  t.strictSame(
    lines.filter((line) => line.includes('kubectl') && line.includes('…')),
    [],
  )
  const causes = status?.details?.causes ?? []
  t.ok(causes.every(({ message, field }) => byteLength(message) <= 512 && byteLength(field) <= 512))
}
