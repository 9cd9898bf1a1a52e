import jsonPatch, { type Operation } from 'fast-json-patch'
import t from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  ENFORCEMENT,
  FIELD_MANAGER,
  IGNORE_FIELDS,
  MANAGED_BY,
  MODE,
  PATCH,
  PREFIX,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import { loadCatalog } from '../../../../src/shared/baseline/catalog/load-catalog.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Snapshot } from '../../../../src/webhook/baseline/snapshot.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../../../src/webhook/server/review.ts'
import { readAsset } from '../../baseline/facts.ts'
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
const kubelet = baselineOf('kubelet-perf-settings')
const fencing = { 'enable-fence-agents': 'bmc-credentials' }
const FENCING = snapshotOf({ facts: { ...facts, hco: { ...facts.hco, annotations: fencing } } })

const OWN: Readonly<Record<string, string>> = {
  'catalog.yaml': `assets:
  - name: refused
    group: verdicts
    description: a test needs it
    template: active/refused.yaml.ejs
    object:
      { group: '', versions: [v1], kind: ConfigMap, resource: configmaps, namespace: default, name: refused }
    install: always
    order: 90
    enforcement: deny
`,
  'active/refused.yaml.ejs': `apiVersion: v1
kind: ConfigMap
metadata: { name: refused, namespace: default }
data: { value: kept }
`,
}
const readOwn = (name: string) => {
  const text = OWN[name]
  if (text === undefined) throw new Error(`there is no ${name}`)
  return text
}
/** The catalog, and beside it a built-in kind whose edits are denied because its asset says so. */
const withRefused = loadCatalog({
  folders: [
    { title: 'catalog.yaml', read: readAsset },
    { title: 'own', read: readOwn },
  ],
  namespace: 'autopilot',
})
const refusing = (settings: Readonly<Record<string, string>> = {}) =>
  snapshotOf(
    { settings, facts: { ...facts, served: { ...facts.served, '/ConfigMap': ['v1'] } } },
    withRefused,
  )
const refused = baselineOf('refused', refusing())
const withData = (data: Readonly<Record<string, string>>): KubeObject => ({ ...refused, data })

const patchOf = (...operations: readonly object[]) => JSON.stringify(operations)
const REMOVE_WORKLOADS = patchOf({
  op: 'add',
  path: '/spec/uninstallStrategy',
  value: 'RemoveWorkloads',
})
const json = (value: unknown) => value as Json

interface Write {
  readonly says: string
  readonly old?: KubeObject
  readonly incoming: KubeObject
  readonly known?: Snapshot
  /** What the flag says. */
  readonly enforcement?: 'correct' | 'deny'
  readonly verdict: string
  /** What is stored; the object as it was sent where nothing is said. */
  readonly stored?: KubeObject
  readonly code?: number
  readonly warnings?: number
}

const strategy = (value: string) => (spec: Json) => {
  spec.uninstallStrategy = json(value)
}

/** An update of an object that is as its baseline says, or as `before` edits it. */
const update = (object: KubeObject, edit: Edit, before: Edit = {}) => ({
  old: edited(object, before),
  incoming: edited(object, edit),
})

const labelsWithout = (label: string, { metadata }: KubeObject) => {
  const { [label]: _, ...labels } = metadata.labels ?? {}
  return labels
}
const noUnits = (spec: Json) => {
  json(spec.config).systemd = json({ units: [] })
}
const owned = {
  ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: '1-2-3' }],
}
const dying = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const held = { finalizers: ['example.com/cleanup'] }

const paused = { [RECONCILE_PAUSED]: 'true' }
const unmanaged = { [MODE]: 'unmanaged' }

const writes: readonly Write[] = [
  {
    says: 'puts back a field that is left out',
    ...update(hco, {
      spec: (spec) => {
        delete spec.liveMigrationConfig
      },
    }),
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 3,
  },
  {
    says: 'puts back a field that is set otherwise, where writes are corrected',
    ...update(hco, { spec: strategy('RemoveWorkloads') }),
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 2,
  },
  {
    says: 'keeps what the write sets beside the managed fields',
    ...update(hco, {
      spec: (spec) => {
        strategy('RemoveWorkloads')(spec)
        spec.evictionStrategy = json('None')
      },
    }),
    verdict: 'corrected Drift',
    stored: edited(hco, {
      spec: (spec) => {
        spec.evictionStrategy = json('None')
      },
    }),
    warnings: 2,
  },
  {
    says: 'denies a field that is set otherwise, where the flag says so',
    ...update(hco, { spec: strategy('RemoveWorkloads') }),
    enforcement: 'deny',
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'denies it where the HyperConverged says so, which overrules the flag',
    ...update(hco, { spec: strategy('RemoveWorkloads') }),
    known: snapshotOf({ settings: { [ENFORCEMENT]: 'deny' } }),
    enforcement: 'correct',
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'lets the HyperConverged overrule the flag',
    ...update(hco, { spec: strategy('RemoveWorkloads') }),
    known: snapshotOf({ settings: { [ENFORCEMENT]: 'correct' } }),
    enforcement: 'deny',
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 2,
  },
  {
    says: 'puts back a field that is left out even where writes are denied',
    ...update(hco, {
      spec: (spec) => {
        delete spec.uninstallStrategy
      },
    }),
    enforcement: 'deny',
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 2,
  },
  {
    says: 'denies it where the asset says so, of a built-in kind too',
    old: refused,
    incoming: withData({ value: 'theirs' }),
    known: refusing(),
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'lets the flag overrule the asset, and keeps what is set beside',
    old: refused,
    incoming: withData({ value: 'theirs', beside: 'theirs' }),
    known: refusing(),
    enforcement: 'correct',
    verdict: 'corrected Drift',
    stored: withData({ value: 'kept', beside: 'theirs' }),
    warnings: 2,
  },
  {
    says: 'lets the HyperConverged overrule the asset',
    old: refused,
    incoming: withData({ value: 'theirs' }),
    known: refusing({ [ENFORCEMENT]: 'correct' }),
    verdict: 'corrected Drift',
    stored: refused,
    warnings: 2,
  },
  {
    says: 'puts back a field that is left out even where the asset denies edits',
    old: refused,
    incoming: withData({}),
    known: refusing(),
    verdict: 'corrected Drift',
    stored: refused,
    warnings: 2,
  },
  {
    says: 'adopts an object that is created even where the asset denies edits',
    incoming: withData({ value: 'theirs', beside: 'theirs' }),
    known: refusing(),
    verdict: 'corrected Drift',
    stored: withData({ value: 'kept', beside: 'theirs' }),
    warnings: 2,
  },
  {
    says: 'puts back an item of a list that is left out',
    ...update(health, {
      spec: (spec) => {
        spec.unhealthyConditions = json([json(spec.unhealthyConditions)[0]])
      },
    }),
    verdict: 'corrected Drift',
    stored: health,
    warnings: 2,
  },
  {
    says: 'denies a change of a disruptive asset, whatever the enforcement',
    ...update(swap, {
      spec: (spec) => {
        json(spec.config).systemd = json({ units: [] })
      },
    }),
    known: snapshotOf({ settings: { [ENFORCEMENT]: 'correct' } }),
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'denies a label of a disruptive asset that is set otherwise',
    ...update(swap, {
      labels: { ...swap.metadata.labels, 'machineconfiguration.openshift.io/role': 'master' },
    }),
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'puts back what a write leaves out of a disruptive asset',
    ...update(swap, {
      spec: (spec) => {
        delete json(spec.config).systemd
      },
    }),
    verdict: 'corrected Drift',
    stored: swap,
    warnings: 2,
  },
  {
    says: 'puts back all of a field that is left out of a disruptive asset',
    ...update(swap, {
      spec: (spec) => {
        delete spec.config
      },
    }),
    verdict: 'corrected Drift',
    stored: swap,
    warnings: 4,
  },
  {
    says: 'puts back what was there before, where a change of a disruptive asset is pending',
    ...update(
      kubelet,
      {
        spec: (spec) => {
          delete json(spec.kubeletConfig).maxPods
        },
      },
      {
        spec: (spec) => {
          json(spec.kubeletConfig).maxPods = json(250)
        },
      },
    ),
    known: snapshotOf({ applied: { 'kubelet-perf-settings': 'of the baseline before' } }),
    verdict: 'corrected Drift',
    stored: edited(kubelet, {
      spec: (spec) => {
        json(spec.kubeletConfig).maxPods = json(250)
      },
    }),
    warnings: 2,
  },
  {
    says: 'denies what it could not put back exactly, where a change of a disruptive asset is pending',
    ...update(
      kubelet,
      {
        spec: (spec) => {
          delete json(spec.kubeletConfig).maxPods
        },
      },
      {
        spec: (spec) => {
          json(spec.kubeletConfig).maxPods = json(2 ** 63)
        },
      },
    ),
    known: snapshotOf({ applied: { 'kubelet-perf-settings': 'of the baseline before' } }),
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'denies a field set otherwise, where a change of a disruptive asset is pending',
    ...update(
      kubelet,
      {
        spec: (spec) => {
          json(spec.kubeletConfig).maxPods = json(300)
        },
      },
      {
        spec: (spec) => {
          json(spec.kubeletConfig).maxPods = json(250)
        },
      },
    ),
    known: snapshotOf({ applied: { 'kubelet-perf-settings': 'of the baseline before' } }),
    verdict: 'denied Drift',
    code: 403,
  },
  {
    says: 'fills nothing in where the creation of a disruptive object is pending',
    incoming: edited(kubelet, { labels: {}, spec: () => ({}) }),
    known: snapshotOf({ applied: { 'kubelet-perf-settings': 'nothing yet' } }),
    verdict: 'allowed Pending',
  },
  {
    says: 'lets a pending change be made by hand',
    ...update(
      kubelet,
      {},
      {
        spec: (spec) => {
          json(spec.kubeletConfig).maxPods = json(250)
        },
      },
    ),
    known: snapshotOf({ applied: { 'kubelet-perf-settings': 'of the baseline before' } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'adopts an unlabelled object that is created',
    incoming: edited(health, { labels: {}, spec: () => ({ minHealthy: '1%' }) }),
    verdict: 'corrected Drift',
    stored: health,
    warnings: 7,
  },
  {
    says: 'adopts an object of a disruptive asset',
    incoming: edited(swap, { labels: {}, spec: () => ({}) }),
    verdict: 'corrected Drift',
    stored: swap,
    warnings: 6,
  },
  {
    says: 'adopts an object of a disruptive asset that is set otherwise',
    incoming: edited(swap, { labels: labelsWithout(MANAGED_BY, swap), spec: noUnits }),
    verdict: 'corrected Drift',
    stored: swap,
    warnings: 3,
  },
  {
    says: 'lets an object be created that nobody wants here',
    incoming: edited(health, { spec: () => ({ minHealthy: '1%' }) }),
    known: snapshotOf({ settings: { [DISABLED_RESOURCES]: '["node-health-standard"]' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'lets an object be created with the patch that makes it legitimate',
    incoming: edited(hco, {
      spec: strategy('RemoveWorkloads'),
      annotations: { [PATCH]: REMOVE_WORKLOADS },
    }),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets an object be created as its baseline says',
    incoming: health,
    verdict: 'allowed InSync',
  },
  {
    says: 'puts the label back that is removed',
    ...update(health, { labels: {} }),
    verdict: 'corrected Drift',
    stored: health,
    warnings: 1,
  },
  {
    says: 'puts the label back that is faked',
    ...update(swap, { labels: { ...swap.metadata.labels, [MANAGED_BY]: 'me' } }),
    verdict: 'corrected Drift',
    stored: swap,
    warnings: 1,
  },
  ...[
    { [PATCH]: 'no JSON' },
    { [PATCH]: patchOf({ op: 'replace', path: '/metadata/name', value: 'other' }) },
    { [PATCH]: patchOf({ op: 'remove', path: '/spec/nothing' }) },
    { [IGNORE_FIELDS]: '/spec/liveMigrationConfig/unknownField' },
    { [IGNORE_FIELDS]: 'spec' },
    { [MODE]: 'unmanage' },
    { [RECONCILE_PAUSED]: 'yes' },
    { [MODE]: 'unmanaged', [PATCH]: 'no JSON' },
  ].map((annotations) => ({
    says: `denies the invalid override ${JSON.stringify(annotations)}`,
    ...update(hco, { annotations }),
    verdict: 'denied InvalidOverride',
    code: 403,
  })),
  {
    says: 'denies an invalid override on an object that is created',
    incoming: edited(health, { annotations: { [MODE]: '' } }),
    verdict: 'denied InvalidOverride',
    code: 403,
  },
  {
    says: 'denies an invalid pointer on an object that is created',
    incoming: edited(health, { annotations: { [IGNORE_FIELDS]: 'spec' } }),
    verdict: 'denied InvalidOverride',
    code: 403,
  },
  {
    says: 'denies an invalid override beside one that was invalid before',
    ...update(
      hco,
      { annotations: { [PATCH]: 'no JSON', [IGNORE_FIELDS]: 'spec' } },
      { annotations: { [PATCH]: 'no JSON' } },
    ),
    verdict: 'denied InvalidOverride',
    code: 403,
  },
  {
    says: 'lets an annotation pass that was invalid before',
    ...update(
      hco,
      { annotations: { [PATCH]: 'no JSON', team: 'virt' } },
      { annotations: { [PATCH]: 'no JSON' } },
    ),
    verdict: 'allowed Held',
  },
  {
    says: 'denies a patch on a sensitive kind',
    ...update(swap, { annotations: { [PATCH]: '[]' } }),
    verdict: 'denied PatchBlocked',
    code: 403,
  },
  {
    says: 'denies a patch on an object of a sensitive kind that is created',
    incoming: edited(swap, { annotations: { [PATCH]: '[]' } }),
    verdict: 'denied PatchBlocked',
    code: 403,
  },
  {
    says: 'lets a patch on a sensitive kind be removed',
    ...update(swap, { annotations: {} }, { annotations: { [PATCH]: '[]' } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'denies a whole field of the spec on a sensitive kind',
    ...update(swap, { annotations: { [IGNORE_FIELDS]: '/spec' } }),
    verdict: 'denied InvalidOverride',
    code: 403,
  },
  ...[
    { [AUTOPILOT]: 'True' },
    { [DISABLED_RESOURCES]: 'swap-enable' },
    { [ENFORCEMENT]: 'hard' },
  ].map((annotations) => ({
    says: `denies the invalid setting ${JSON.stringify(annotations)}`,
    ...update(hco, { annotations }),
    verdict: 'denied InvalidSetting',
    code: 403,
  })),
  {
    says: 'denies an invalid setting on a HyperConverged that is created',
    incoming: edited(hco, { annotations: { [ENFORCEMENT]: 'warn' } }),
    verdict: 'denied InvalidSetting',
    code: 403,
  },
  {
    says: 'lets a setting pass that was invalid before, keeping its last valid meaning',
    ...update(
      hco,
      { annotations: { [AUTOPILOT]: 'True', [`${PREFIX}approve`]: 'c0ffeec0ffee' } },
      { annotations: { [AUTOPILOT]: 'True' } },
    ),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'true' } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'warns of an unknown asset name',
    ...update(hco, { annotations: { [AUTOPILOT]: 'hco,swap-enabel' } }),
    verdict: 'allowed InSync',
    warnings: 2,
  },
  {
    says: 'does not repeat that warning when something else changes',
    ...update(
      hco,
      { annotations: { [AUTOPILOT]: 'hco,swap-enabel', [`${PREFIX}approve`]: 'c0ffeec0ffee' } },
      { annotations: { [AUTOPILOT]: 'hco,swap-enabel' } },
    ),
    verdict: 'allowed InSync',
  },
  {
    says: 'warns of an approval that can be none',
    ...update(hco, { annotations: { [`${PREFIX}approve`]: 'yes' } }),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'takes settings on other objects for unknown keys',
    ...update(health, { annotations: { [AUTOPILOT]: 'True' } }),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'warns of an unknown key under our prefix',
    ...update(health, { annotations: { [`${PREFIX}ignore-field`]: '/spec' } }),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'lets an unknown key be removed without a word',
    ...update(health, {}, { annotations: { [`${PREFIX}ignore-field`]: '/spec' } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'knows the keys that switch assets on',
    ...update(hco, { annotations: { [`${PREFIX}enable-loadaware`]: 'true' } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'tells which pointers of ignore-fields are not managed',
    ...update(hco, { annotations: { [IGNORE_FIELDS]: '/spec/evictionStrategy' } }),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'judges by a patch that comes with the edit',
    ...update(hco, {
      spec: strategy('RemoveWorkloads'),
      annotations: { [PATCH]: REMOVE_WORKLOADS },
    }),
    verdict: 'allowed InSync',
  },
  {
    says: 'judges by ignore-fields that come with the edit, and on sensitive kinds too',
    ...update(swap, {
      spec: (spec) => {
        delete json(spec.config).systemd
      },
      annotations: { [IGNORE_FIELDS]: '/spec/config/systemd' },
    }),
    verdict: 'allowed InSync',
  },
  {
    says: 'judges so where what reboots nodes is set otherwise',
    ...update(swap, {
      spec: noUnits,
      annotations: { [IGNORE_FIELDS]: '/spec/config/systemd' },
    }),
    verdict: 'allowed InSync',
  },
  {
    says: 'puts a patch into force that comes without the edit',
    ...update(hco, { annotations: { [PATCH]: REMOVE_WORKLOADS } }),
    verdict: 'corrected Override',
    stored: edited(hco, {
      spec: strategy('RemoveWorkloads'),
      annotations: { [PATCH]: REMOVE_WORKLOADS },
    }),
    warnings: 1,
  },
  {
    says: 'takes the field back when its override is removed',
    ...update(
      hco,
      { spec: strategy('RemoveWorkloads'), annotations: {} },
      { spec: strategy('RemoveWorkloads'), annotations: { [PATCH]: REMOVE_WORKLOADS } },
    ),
    verdict: 'corrected Override',
    stored: edited(hco, { annotations: {} }),
    warnings: 1,
  },
  {
    says: 'takes an object back that is put under management again',
    ...update(
      hco,
      { spec: strategy('RemoveWorkloads') },
      { spec: strategy('RemoveWorkloads'), annotations: unmanaged },
    ),
    verdict: 'corrected Override',
    stored: hco,
    warnings: 1,
  },
  {
    says: 'takes an object back whose invalid override is mended',
    ...update(
      hco,
      { spec: strategy('RemoveWorkloads'), annotations: { [PATCH]: '[]' } },
      { spec: strategy('RemoveWorkloads'), annotations: { [PATCH]: '[' } },
    ),
    verdict: 'corrected Override',
    stored: edited(hco, { annotations: { [PATCH]: '[]' } }),
    warnings: 1,
  },
  {
    says: 'leaves it to the reconciler where a change must be approved',
    ...update(
      kubelet,
      {
        spec: (spec) => {
          spec.autoSizingReserved = json(false)
        },
        annotations: {},
      },
      {
        spec: (spec) => {
          spec.autoSizingReserved = json(false)
        },
        annotations: { [IGNORE_FIELDS]: '/spec/autoSizingReserved' },
      },
    ),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'lets a write pass that changes nothing',
    ...update(health, {}),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets labels, annotations and owners of others pass, and tells what an owner does',
    ...update(swap, {
      labels: { ...swap.metadata.labels, 'app.kubernetes.io/instance': 'app' },
      annotations: { 'argocd.argoproj.io/tracking-id': 'app' },
      metadata: owned,
    }),
    verdict: 'allowed InSync',
    warnings: 1,
  },
  {
    says: 'lets owners be removed',
    ...update(swap, {}, { metadata: owned }),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets a write of unmanaged fields pass',
    ...update(hco, {
      spec: (spec) => {
        spec.evictionStrategy = json('None')
      },
    }),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets drift pass that was there before',
    ...update(
      hco,
      {
        spec: (spec) => {
          strategy('RemoveWorkloads')(spec)
          spec.evictionStrategy = json('None')
        },
      },
      { spec: strategy('RemoveWorkloads') },
    ),
    verdict: 'allowed InSync',
  },
  {
    says: 'leaves a paused object alone',
    ...update(hco, { spec: strategy('x'), annotations: paused }, { annotations: paused }),
    verdict: 'allowed Paused',
  },
  {
    says: 'leaves a paused object alone that reboots nodes',
    ...update(swap, { spec: noUnits, annotations: paused }, { annotations: paused }),
    verdict: 'allowed Paused',
  },
  {
    says: 'leaves an unmanaged object alone',
    ...update(swap, { spec: () => ({}), annotations: unmanaged }, { annotations: unmanaged }),
    verdict: 'allowed Unmanaged',
  },
  {
    says: 'leaves an object alone with the write that makes it unmanaged',
    ...update(swap, { spec: () => ({}), annotations: unmanaged }),
    verdict: 'allowed Unmanaged',
  },
  {
    says: 'leaves a held object alone',
    ...update(
      hco,
      { spec: strategy('x'), annotations: { [IGNORE_FIELDS]: 'spec' } },
      { annotations: { [IGNORE_FIELDS]: 'spec' } },
    ),
    verdict: 'allowed Held',
  },
  {
    says: 'leaves an object alone whose stored patch is no JSON',
    ...update(
      hco,
      { spec: strategy('x'), annotations: { [PATCH]: 'no JSON' } },
      { annotations: { [PATCH]: 'no JSON' } },
    ),
    verdict: 'allowed Held',
  },
  {
    says: 'leaves an excluded object alone',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({ settings: { [DISABLED_RESOURCES]: '- swap-*' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'leaves an object alone whose asset is not selected',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'hco' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'denies an invalid mode on an object of any asset, active or not',
    ...update(swap, { annotations: { [MODE]: 'x' } }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'hco' } }),
    verdict: 'denied InvalidOverride',
    code: 403,
  },
  {
    says: 'does not read pointers that there is no baseline for',
    ...update(swap, { annotations: { [IGNORE_FIELDS]: 'spec' } }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'hco' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'leaves a HyperConverged alone that deselects itself',
    ...update(hco, { spec: strategy('x'), annotations: { [AUTOPILOT]: 'swap' } }),
    verdict: 'allowed Inactive',
    warnings: 1,
  },
  {
    says: 'leaves a HyperConverged alone that excludes itself',
    ...update(hco, { spec: strategy('x'), annotations: { [DISABLED_RESOURCES]: '- hco/*' } }),
    verdict: 'allowed Inactive',
    warnings: 1,
  },
  {
    says: 'writes and denies nothing while off',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'false' } }),
    verdict: 'allowed Off',
  },
  {
    says: 'writes and denies nothing with the write that switches it off',
    ...update(hco, { spec: strategy('x'), annotations: { [AUTOPILOT]: 'false' } }),
    verdict: 'allowed Off',
  },
  {
    says: 'corrects with the write that switches it on',
    ...update(hco, { spec: strategy('x'), annotations: { [AUTOPILOT]: 'true' } }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'false' } }),
    verdict: 'corrected Drift',
    stored: edited(hco, { annotations: { [AUTOPILOT]: 'true' } }),
    warnings: 2,
  },
  {
    says: 'writes and denies nothing while observing',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'observe' } }),
    verdict: 'allowed Observing',
  },
  {
    says: 'writes and denies nothing while nobody knows what an invalid setting meant',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({
      settings: { [DISABLED_RESOURCES]: '["*"]' },
      neverValid: [DISABLED_RESOURCES],
    }),
    verdict: 'allowed Observing',
  },
  {
    says: 'corrects with the write that mends that setting',
    incoming: edited(hco, {
      spec: strategy('x'),
      annotations: { [DISABLED_RESOURCES]: '[metallb]' },
    }),
    old: edited(hco, { annotations: { [DISABLED_RESOURCES]: '{{{' } }),
    known: snapshotOf({
      settings: { [DISABLED_RESOURCES]: '["*"]' },
      neverValid: [DISABLED_RESOURCES],
    }),
    verdict: 'corrected Drift',
    stored: edited(hco, { annotations: { [DISABLED_RESOURCES]: '[metallb]' } }),
    warnings: 2,
  },
  {
    says: 'writes and denies nothing while another autopilot is active',
    ...update(swap, { spec: () => ({}) }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'true' }, otherAutopilot: 'active' }),
    verdict: 'allowed Observing',
  },
  {
    says: 'corrects while that one is idle',
    ...update(hco, { spec: strategy('x') }),
    known: snapshotOf({ otherAutopilot: 'idle' }),
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 2,
  },
  {
    says: 'lets a write pass that wakes it, and says so',
    ...update(hco, { spec: strategy('x'), annotations: { [AUTOPILOT]: 'true' } }),
    known: snapshotOf({ otherAutopilot: 'idle' }),
    verdict: 'allowed Observing',
    warnings: 2,
  },
  {
    says: 'says so once',
    ...update(
      hco,
      { labels: { team: 'virt' }, annotations: { [AUTOPILOT]: 'true' } },
      { annotations: { [AUTOPILOT]: 'true' } },
    ),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'true' }, otherAutopilot: 'active' }),
    verdict: 'allowed Observing',
  },
  {
    says: 'refuses what wakes it and is no setting of ours',
    ...update(hco, { annotations: { [AUTOPILOT]: 'yes' } }),
    known: snapshotOf({ otherAutopilot: 'idle' }),
    verdict: 'denied InvalidSetting',
    code: 403,
  },
  {
    says: 'corrects with the write that puts it to sleep',
    ...update(hco, { spec: strategy('x') }, { annotations: { [AUTOPILOT]: 'true' } }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'true' }, otherAutopilot: 'active' }),
    verdict: 'corrected Drift',
    stored: hco,
    warnings: 2,
  },
  {
    says: 'tells what is wrong with an override while observing',
    ...update(swap, { annotations: { [MODE]: 'x' } }),
    known: snapshotOf({ settings: { [AUTOPILOT]: 'observe' } }),
    verdict: 'allowed Observing',
    warnings: 1,
  },
  {
    says: 'leaves an object alone while the leader has another opinion of it',
    ...update(hco, { spec: strategy('x') }),
    known: snapshotOf({ baselines: { 'hco-golden-config': 'another' } }),
    verdict: 'allowed Disagreement',
  },
  {
    says: 'leaves an object alone whose schema is not known',
    incoming: edited(baselineOf('descheduler-loadaware'), { spec: () => ({}) }),
    verdict: 'allowed SchemaUnknown',
  },
  {
    says: 'leaves an object alone in another version than the baseline is in',
    ...((object: KubeObject) => ({ old: object, incoming: { ...object, spec: {} } }))({
      ...hco,
      apiVersion: 'hco.kubevirt.io/v1',
    }),
    verdict: 'allowed OtherVersion',
  },
  {
    says: 'denies no change of a terminating object',
    ...update(swap, { spec: () => ({}), metadata: dying }),
    verdict: 'corrected Drift',
    stored: edited(swap, { metadata: dying }),
    warnings: 4,
  },
  {
    says: 'corrects a terminating object that reboots no nodes, too',
    ...update(
      health,
      { spec: (spec) => ({ ...spec, minHealthy: '1%' }), metadata: dying },
      { metadata: dying },
    ),
    verdict: 'corrected Drift',
    stored: edited(health, { metadata: dying }),
    warnings: 2,
  },
  {
    says: 'lets a finalizer be removed from a terminating object',
    ...update(
      swap,
      { metadata: { ...dying, finalizers: [] } },
      { metadata: { ...dying, ...held } },
    ),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets owners be removed from a terminating object',
    ...update(swap, { metadata: dying }, { metadata: { ...dying, ...owned } }),
    verdict: 'allowed InSync',
  },
  {
    says: 'lets a finalizer go from a terminating object, and puts back the edit that comes along',
    ...update(
      swap,
      { spec: noUnits, metadata: { ...dying, finalizers: [] } },
      { metadata: { ...dying, ...held } },
    ),
    verdict: 'corrected Drift',
    stored: edited(swap, { metadata: { ...dying, finalizers: [] } }),
    warnings: 2,
  },
  {
    says: 'denies an edit that takes a finalizer along, of what is not terminating',
    ...update(swap, { spec: noUnits, metadata: { finalizers: [] } }, { metadata: held }),
    verdict: 'denied Drift',
    code: 403,
  },
]

/** What the API server would store after this answer. */
const storedAfter = ({ patch }: AdmissionResponse, incoming: KubeObject) => {
  if (patch === undefined) return incoming
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Operation[]
  return jsonPatch.applyPatch(incoming, operations, true, false).newDocument
}

for (const { says, old, incoming, known, enforcement, ...expected } of writes) {
  t.test(says, async (t) => {
    const { mutate, validate, counted, events } = handlersWith(known, enforcement)
    const request: AdmissionRequest = old
      ? requestFor('UPDATE', { object: incoming, oldObject: old })
      : requestFor('CREATE', { object: incoming })
    const response = mutate(request)
    const [verdict, reason] = expected.verdict.split(' ')
    t.match(counted, [{ kind: incoming.kind, operation: request.operation, verdict, reason }])
    t.equal(response.allowed, verdict !== 'denied')
    t.equal(response.status?.code, expected.code)
    t.equal(response.warnings?.length, expected.warnings)
    t.equal(response.patchType, verdict === 'corrected' ? 'JSONPatch' : undefined)
    const stored = storedAfter(response, incoming)
    t.strictSame(stored, expected.stored ?? incoming)
    t.equal(events.length, reason === 'Drift' ? 1 : 0)

    const last = validate({ ...request, object: stored })
    t.equal(last.allowed, response.allowed, 'the last look agrees')
    t.equal(counted.length, verdict === 'denied' ? 2 : 1, 'and counts only what it denies')

    const again = handlersWith(known, enforcement)
    t.strictSame(again.mutate({ ...request, dryRun: true }), response, 'a dry run gets the answer')
    again.validate({ ...request, object: stored, dryRun: true })
    t.strictSame([again.counted, again.timed, again.logged, again.events], [[], [], [], []])
  })
}

t.test('answers an invalid override with a cause for each fault and no reason', async (t) => {
  const { mutate } = handlersWith()
  const annotations = {
    [MODE]: 'off',
    [PATCH]: patchOf({ op: 'set' }, { op: 'add', path: 'x', value: 1 }, { op: 'test' }),
  }
  const object = edited(hco, { annotations })
  const { status } = mutate(requestFor('UPDATE', { object, oldObject: hco }))
  t.strictSame(status?.details?.causes, [
    {
      reason: 'FieldValueInvalid',
      message: `${MODE} must be "unmanaged" or "managed", or absent, not "off"`,
      field: `metadata.annotations[${MODE}]`,
    },
    {
      reason: 'FieldValueInvalid',
      message: `${PATCH}: operation 0: "op" must be add, copy, move, remove, replace or test`,
      field: `metadata.annotations[${PATCH}] operation 0`,
    },
    {
      reason: 'FieldValueInvalid',
      message: `${PATCH}: operation 1 at x: "path" must start with "/" or be empty`,
      field: `metadata.annotations[${PATCH}] operation 1 x`,
    },
    {
      reason: 'FieldValueInvalid',
      message: `${PATCH}: operation 2: test must have "op", "path", "value" and nothing else`,
      field: `metadata.annotations[${PATCH}] operation 2`,
    },
  ])
  t.notOk(Object.hasOwn(status ?? {}, 'reason'))
})

t.test('tells the faults of overrides and settings together', async (t) => {
  const { mutate, counted } = handlersWith()
  const object = edited(hco, { annotations: { [IGNORE_FIELDS]: 'spec', [ENFORCEMENT]: 'x' } })
  const { status } = mutate(requestFor('UPDATE', { object, oldObject: hco }))
  t.equal(status?.details?.causes.length, 2)
  t.match(counted, [{ reason: 'InvalidOverride' }])
})

interface Deletion {
  readonly says: string
  readonly old: KubeObject
  readonly known?: Snapshot
  readonly username?: string
  readonly verdict: string
  readonly warnings?: number
}

const deletions: readonly Deletion[] = [
  {
    says: 'warns that an active object comes back',
    old: health,
    verdict: 'allowed Recreated',
    warnings: 2,
  },
  {
    says: 'warns that an unmanaged object comes back, and managed',
    old: edited(swap, { annotations: unmanaged }),
    verdict: 'allowed Unmanaged',
    warnings: 2,
  },
  {
    says: 'warns so of an unmanaged object that reboots no nodes',
    old: edited(health, { annotations: unmanaged }),
    verdict: 'allowed Unmanaged',
    warnings: 2,
  },
  {
    says: 'warns of nothing where the object does not come back, since we do not create it',
    old: baselineOf('fence-agents-template', FENCING),
    known: FENCING,
    verdict: 'allowed NotCreated',
  },
  {
    says: 'denies the deletion of a disruptive or sensitive object',
    old: swap,
    verdict: 'denied Protected',
  },
  {
    says: 'denies it for a held one too',
    old: edited(swap, { annotations: { [IGNORE_FIELDS]: 'spec' } }),
    verdict: 'denied Protected',
  },
  {
    says: 'lets a paused object be deleted, and warns that it comes back',
    old: edited(swap, { annotations: paused }),
    verdict: 'allowed Paused',
    warnings: 2,
  },
  { says: 'lets the HyperConverged be deleted', old: hco, verdict: 'allowed HyperConverged' },
  {
    says: 'lets an object be deleted whose asset is not active',
    old: edited(swap, { metadata: { name: '50-virt-pci-passthrough' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'lets an excluded object be deleted',
    old: swap,
    known: snapshotOf({ settings: { [DISABLED_RESOURCES]: '["swap-enable"]' } }),
    verdict: 'allowed Inactive',
  },
  {
    says: 'lets anything be deleted while off',
    old: swap,
    known: snapshotOf({ settings: { [AUTOPILOT]: 'false' } }),
    verdict: 'allowed Off',
  },
  {
    says: 'lets anything be deleted while observing',
    old: swap,
    known: snapshotOf({ settings: { [AUTOPILOT]: 'observe' } }),
    verdict: 'allowed Observing',
  },
  {
    says: 'lets an object be deleted that the leader may not want',
    old: swap,
    known: snapshotOf({ baselines: { 'swap-enable': 'another' } }),
    verdict: 'allowed Disagreement',
  },
  {
    says: 'lets an object be deleted once more',
    old: edited(swap, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    verdict: 'allowed Garbage',
  },
  ...['namespace-controller', 'generic-garbage-collector'].map((account) => ({
    says: `never stands in the way of the ${account}`,
    old: swap,
    username: `system:serviceaccount:kube-system:${account}`,
    verdict: 'allowed Garbage',
  })),
  {
    says: 'never stands in the way of a controller manager whose controllers have one account',
    old: swap,
    username: 'system:kube-controller-manager',
    verdict: 'allowed Garbage',
  },
  {
    says: 'stands in the way of its namesake in another namespace',
    old: swap,
    username: 'system:serviceaccount:default:namespace-controller',
    verdict: 'denied Protected',
  },
]

for (const { says, old, known, username = 'admin', ...expected } of deletions) {
  t.test(says, async (t) => {
    const { validate, counted, events } = handlersWith(known)
    const request = requestFor('DELETE', { oldObject: old, userInfo: { username } })
    const response = validate(request)
    const [verdict, reason] = expected.verdict.split(' ')
    t.strictSame(counted, [{ kind: old.kind, operation: 'DELETE', verdict, reason }])
    t.equal(response.allowed, verdict === 'allowed')
    t.equal(response.status?.code, verdict === 'denied' ? 403 : undefined)
    t.equal(response.warnings?.length, expected.warnings)
    t.equal(events.length, 0)

    const dry = handlersWith(known)
    t.strictSame(dry.validate({ ...request, dryRun: true }), response)
    t.strictSame([dry.counted, dry.logged], [[], []])
  })
}

t.test('judges each object of a collection that is deleted by its own name', async (t) => {
  const { name: _, ...request } = requestFor('DELETE', { oldObject: swap })
  t.notOk(handlersWith().validate(request).allowed)
})

t.test('judges nothing but the objects of the catalog, by kind, namespace and name', async (t) => {
  const object = edited(hco, { spec: strategy('x'), annotations: { [MODE]: 'x' } })
  const renamed = edited(object, { metadata: { name: 'other' } })
  const elsewhere = edited(object, { metadata: { namespace: 'other' } })
  const requests: [says: string, request: AdmissionRequest][] = [
    ['another name', requestFor('UPDATE', { object: renamed, oldObject: renamed })],
    ['another namespace', requestFor('UPDATE', { object: elsewhere, oldObject: elsewhere })],
    [
      'another kind',
      {
        ...requestFor('UPDATE', { object, oldObject: hco }),
        kind: { group: '', version: 'v1', kind: 'Pod' },
      },
    ],
    ['a subresource', requestFor('UPDATE', { object, oldObject: hco, subResource: 'status' })],
    ['a connection', requestFor('CONNECT', { object })],
    [
      'a deletion of a subresource',
      requestFor('DELETE', { oldObject: swap, subResource: 'scale' }),
    ],
  ]
  for (const [says, request] of requests) {
    const { mutate, validate, counted } = handlersWith()
    t.strictSame([mutate(request), validate(request)], [{ allowed: true }, { allowed: true }], says)
    t.strictSame(counted, [], says)
  }
})

t.test('finds the object by name when the label is stripped', async (t) => {
  const object = edited(health, { labels: { [MANAGED_BY]: 'somebody' } })
  const { patch } = handlersWith().mutate(requestFor('UPDATE', { object, oldObject: health }))
  t.equal(
    storedAfter({ allowed: true, ...(patch && { patch }) }, object).metadata.labels?.[MANAGED_BY],
    FIELD_MANAGER,
  )
})

t.test('denies what was changed after the correction, or never got it', async (t) => {
  const { validate, counted } = handlersWith()
  const object = edited(hco, { spec: strategy('x') })
  const response = validate(requestFor('UPDATE', { object, oldObject: hco }))
  t.equal(response.status?.code, 403)
  t.match(counted, [{ verdict: 'denied', reason: 'NotCorrected' }])
  const unlabelled = edited(hco, { labels: {} })
  const label = validate(requestFor('UPDATE', { object: unlabelled, oldObject: hco }))
  t.match(label.status?.message, /managed-by is kept by/)
  const dying = edited(object, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
  t.ok(validate(requestFor('UPDATE', { object: dying, oldObject: hco })).allowed)
})

/** Rewrites how the first file's content is encoded, as another tool would. */
const encoded = (spec: Json) => {
  const { contents } = (spec as unknown as MachineConfigSpec).config.storage.files[0] ?? {}
  if (!contents) throw new Error('the asset has files')
  const [, base64 = ''] = contents.source.split(',')
  contents.source = `data:,${encodeURIComponent(Buffer.from(base64, 'base64').toString())}`
}
interface MachineConfigSpec {
  readonly config: {
    readonly storage: { readonly files: readonly { contents: { source: string } }[] }
  }
}

t.test('a payload that is stored in other bytes stays, and only as it is stored', async (t) => {
  const other = edited(swap, { spec: encoded })
  const { mutate } = handlersWith()
  const touched = edited(other, { annotations: { team: 'a' } })
  t.same(mutate(requestFor('UPDATE', { object: touched, oldObject: other })), { allowed: true })
  const reEncoded = mutate(requestFor('UPDATE', { object: other, oldObject: swap }))
  t.match(reEncoded, { allowed: false, status: { code: 403 } }, 'it would reboot the pool')
  const back = mutate(requestFor('UPDATE', { object: swap, oldObject: other }))
  t.match(back, { allowed: false, status: { code: 403 } }, 'and so would ours')
  t.same(mutate(requestFor('CREATE', { object: other })), { allowed: true }, 'one that comes so')
})

t.test('names the fields in the audit log', async (t) => {
  const { mutate } = handlersWith()
  const object = edited(hco, { spec: strategy('x') })
  const { auditAnnotations } = mutate(requestFor('UPDATE', { object, oldObject: hco }))
  t.strictSame(auditAnnotations, {
    verdict: 'corrected',
    reason: 'Drift',
    asset: 'hco-golden-config',
    pointers: '/spec/uninstallStrategy',
  })
})

t.test('agrees with the leader on every asset of the test catalog', async (t) => {
  const active = snapshot.all.filter(({ status }) => status.kind === 'active')
  t.equal(active.length, 11)
  t.ok(active.every(({ isAgreed }) => isAgreed))
})

t.test('without a HyperConverged nothing else is judged, and the next one is', async (t) => {
  const known = snapshotOf({ hasHyperConverged: false })
  const { mutate, validate, counted } = handlersWith(known)
  const swap = baselineOf('swap-enable')
  const object = edited(swap, { spec: () => 'x', annotations: { [MODE]: 'x' } })
  const { allowed, warnings } = mutate(requestFor('UPDATE', { object, oldObject: swap }))
  t.match([allowed, warnings], [true, [/mode must be/]])
  t.strictSame(validate(requestFor('DELETE', { oldObject: swap })), { allowed: true })
  const hco = baselineOf('hco-golden-config')
  const next = edited(hco, { spec: (spec) => delete spec.uninstallStrategy && undefined })
  t.match(mutate(requestFor('CREATE', { object: next })), { allowed: true, patch: String })
  t.same(
    counted.map(({ reason }) => reason),
    ['NoHyperConverged', 'NoHyperConverged', 'Drift'],
  )
})
