import t from 'tap'

import type { Outcome } from '../../../../../src/reconciler/baseline/decide/outcome.ts'
import { describeOutcome } from '../../../../../src/reconciler/baseline/report/outcome-text.ts'
import type { Drift } from '../../../../../src/shared/engine/merge/merge.ts'
import { assetNamed } from '../../../baseline/facts.ts'
import { baseline, plan } from '../asset-inputs.ts'

const drift = (pointer: string, found: unknown, wanted: unknown): Drift => ({
  path: [],
  pointer,
  kind: 'different',
  found,
  wanted,
})
const drifts = [drift('/spec/a', 1, 2)]
const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => drift(`/spec/${name}`, 1, 2))
const metallb = assetNamed('metallb')
const swap = assetNamed('swap-enable')
const tombstone = { ...metallb, isTombstone: true, description: 'it is obsolete' }
const throttled = { kind: 'throttled', plan, drifts, rivals: ['a', 'b'], isPaused: false } as const
const disruption = { effect: 'reboot', reasons: ['file /a added'] } as const
const remark = { reason: 'PatchBlocked', annotation: 'x', message: 'no patch here' } as const

/** An outcome of an asset, its log line, and its event, if it has one. */
type Case = readonly [asset: typeof metallb, Outcome, line: string, event?: string | RegExp]

const cases: readonly Case[] = [
  [metallb, { kind: 'unchanged', plan }, 'debug in sync {}'],
  [
    metallb,
    { kind: 'unchanged', plan, hasReleased: true },
    'info ownership released {}',
    'Normal OwnershipReleased the ignored fields are no longer ours',
  ],
  [
    metallb,
    { kind: 'unchanged', plan: { ...plan, remarks: [remark] } },
    'debug in sync {}',
    'Warning PatchBlocked no patch here',
  ],
  [
    metallb,
    { kind: 'created', plan },
    'info created {"object":"Sort one"}',
    `Normal AssetApplied created, because ${metallb.description}`,
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts, cause: 'drift' },
    'info drift corrected {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal DriftCorrected put back: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts, cause: 'adoption' },
    'info adopted {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal AssetAdopted taken over: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts, cause: 'baseline' },
    'info baseline changed {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal AssetApplied its baseline changed: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts: [], cause: 'baseline' },
    'info baseline changed {"object":"Sort one","pointers":[]}',
    'Normal AssetApplied its baseline changed: what is no longer wanted is removed',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts, cause: 'patch' },
    'info patch applied {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal PatchApplied the patch is in force: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts, cause: 'annotations' },
    'info annotations followed {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal AssetApplied as its annotations now say: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'unchanged', plan, patched: drifts },
    'debug in sync {}',
    'Normal PatchApplied the patch is in force: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'unchanged', plan, patched: [] },
    'debug in sync {}',
    'Normal PatchApplied the patch is in force',
  ],
  [
    swap,
    { kind: 'created', plan, disruption },
    'info created {"object":"Sort one"}',
    `Normal AssetApplied created, because ${swap.description}; reboots 3 nodes of pool worker (file /a added)`,
  ],
  [
    swap,
    { kind: 'configured', plan, drifts, cause: 'baseline', disruption },
    'info baseline changed {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal AssetApplied its baseline changed: /spec/a 1 → 2; reboots 3 nodes of pool worker (file /a added)',
  ],
  [
    swap,
    {
      kind: 'configured',
      plan,
      drifts,
      cause: 'drift',
      disruption: { effect: 'none', reasons: [] },
    },
    'info drift corrected {"object":"Sort one","pointers":["/spec/a"]}',
    'Normal DriftCorrected put back: /spec/a 1 → 2',
  ],
  [
    { ...tombstone, pool: 'worker' },
    { kind: 'removed', was: baseline, why: 'it is obsolete', disruption },
    'info deleted {"object":"Sort one"}',
    'Normal TombstoneDeleted deleted: it is obsolete; reboots 3 nodes of pool worker (file /a added)',
  ],
  [
    metallb,
    { kind: 'configured', plan, drifts: many, cause: 'drift' },
    'info drift corrected {"object":"Sort one","pointers":["/spec/a","/spec/b","/spec/c","/spec/d","/spec/e","/spec/f","/spec/g"]}',
    'Normal DriftCorrected put back: /spec/a 1 → 2, /spec/b 1 → 2, /spec/c 1 → 2, /spec/d 1 → 2, /spec/e 1 → 2, and 2 more',
  ],
  [
    metallb,
    { kind: 'pending', reason: 'Observing', plan, drifts, isCreation: false },
    'info change not made {"reason":"Observing","pointers":["/spec/a"],"isCreation":false}',
    'Normal DriftDetected differs: /spec/a 1 → 2',
  ],
  [
    metallb,
    { kind: 'pending', reason: 'Observing', plan, drifts: [], isCreation: true },
    'info change not made {"reason":"Observing","pointers":[],"isCreation":true}',
    'Normal DriftDetected would be created',
  ],
  [
    swap,
    {
      kind: 'pending',
      reason: 'PoolBusy',
      plan,
      drifts: [],
      isCreation: true,
      busyPools: ['worker'],
    },
    'info change not made {"reason":"PoolBusy","pointers":[],"isCreation":true}',
    'Normal DisruptionPending would be created; waits until pool worker is neither paused nor updating',
  ],
  [
    swap,
    { kind: 'pending', reason: 'PoolBusy', plan, drifts, isCreation: false, busyPools: ['a', 'b'] },
    'info change not made {"reason":"PoolBusy","pointers":["/spec/a"],"isCreation":false}',
    'Normal DisruptionPending differs: /spec/a 1 → 2; waits until pools a and b are neither paused nor updating',
  ],
  [
    swap,
    { kind: 'pendingRemoval', why: 'w', reason: 'PoolBusy', busyPools: ['infra'] },
    'info removal not made {"reason":"PoolBusy","because":"w"}',
    'Normal DisruptionPending would be deleted: w; waits until pool infra is neither paused nor updating',
  ],
  [
    swap,
    { kind: 'pending', reason: 'Held', plan, drifts, isCreation: false },
    'info change not made {"reason":"Held","pointers":["/spec/a"],"isCreation":false}',
  ],
  [
    metallb,
    { kind: 'held', problems: [remark] },
    'warn held by an invalid override {"problems":["x: no patch here"]}',
    'Warning PatchBlocked held, nothing is written until it is mended: x: no patch here',
  ],
  [
    metallb,
    throttled,
    'warn throttled {"pointers":["/spec/a"],"rivals":["a","b"]}',
    'Warning Throttled /spec/a is changed by a, b as often as it is put back: it is left alone for a while',
  ],
  [
    metallb,
    { ...throttled, drifts: [], rivals: [] },
    'warn throttled {"pointers":[],"rivals":[]}',
    'Warning Throttled the object, which is deleted is changed as often as it is put back: it is left alone for a while',
  ],
  [
    metallb,
    { ...throttled, isPaused: true },
    'warn paused, since somebody else keeps changing the object {"pointers":["/spec/a"],"rivals":["a","b"]}',
    'Warning ThrashingDetected /spec/a is changed by a, b as often as it is put back: management is paused; end the quarrel, then resume with: kubectl annotate sort one platform.kubevirt.io/reconcile-paused-',
  ],
  [metallb, { kind: 'skipped', reason: 'Off' }, 'debug skipped {"reason":"Off"}'],
  [
    metallb,
    { kind: 'skipped', reason: 'Inactive', message: 'm' },
    'debug skipped {"reason":"Inactive","because":"m"}',
  ],
  [metallb, { kind: 'skipped', reason: 'Paused' }, 'info skipped {"reason":"Paused"}'],
  [
    metallb,
    { kind: 'skipped', reason: 'Unmanaged' },
    'info skipped {"reason":"Unmanaged"}',
    'Normal UnmanagedMode Unmanaged: not managed until that changes',
  ],
  [
    metallb,
    { kind: 'skipped', reason: 'DependencyMissing', message: 'm' },
    'info skipped {"reason":"DependencyMissing","because":"m"}',
    'Normal CRDMissing m',
  ],
  [
    metallb,
    { kind: 'skipped', reason: 'NamespaceMissing', message: 'm' },
    'info skipped {"reason":"NamespaceMissing","because":"m"}',
    'Normal AssetSkipped m',
  ],
  [
    metallb,
    { kind: 'skipped', reason: 'Waiting', message: 'm' },
    'info skipped {"reason":"Waiting","because":"m"}',
    'Normal AssetSkipped m',
  ],
  [
    tombstone,
    { kind: 'skipped', reason: 'Paused' },
    'warn not deleted {"reason":"Paused"}',
    'Warning TombstoneSkipped not deleted: the object is annotated as paused',
  ],
  [
    tombstone,
    { kind: 'skipped', reason: 'NotOurs', message: 'm' },
    'warn not deleted {"reason":"NotOurs","because":"m"}',
    'Warning TombstoneSkipped not deleted: m',
  ],
  [tombstone, { kind: 'skipped', reason: 'Deleting' }, 'debug not deleted {"reason":"Deleting"}'],
  [metallb, { kind: 'leftover', message: 'm' }, 'info left over {"because":"m"}'],
  [
    metallb,
    { kind: 'failed', reason: 'RenderFailed', message: 'm' },
    'error asset failed {"reason":"RenderFailed","error":"m"}',
    'Warning RenderFailed m',
  ],
  [tombstone, { kind: 'gone' }, 'debug gone {}'],
  [
    tombstone,
    { kind: 'removed', was: baseline, why: 'it is obsolete' },
    'info deleted {"object":"Sort one"}',
    'Normal TombstoneDeleted deleted: it is obsolete',
  ],
  [
    metallb,
    { kind: 'removed', was: baseline, why: 'gives way to b' },
    'info deleted {"object":"Sort one"}',
    'Normal AssetPruned deleted: gives way to b',
  ],
  [
    tombstone,
    { kind: 'pendingRemoval', why: 'w', reason: 'Observing' },
    'info removal not made {"reason":"Observing","because":"w"}',
    'Normal DriftDetected would be deleted: w',
  ],
  [
    tombstone,
    { kind: 'pendingRemoval', why: 'w', reason: 'Held' },
    'info removal not made {"reason":"Held","because":"w"}',
  ],
  [
    tombstone,
    { kind: 'stuck', since: '2026', finalizers: ['f', 'g'] },
    'warn removal is stuck {"since":"2026","finalizers":["f","g"]}',
    'Warning TombstoneFailed being deleted since 2026, and still there: see why whoever set these finalizers does not remove them: f, g',
  ],
]

for (const [asset, outcome, line, event] of cases) {
  const reach = { pool: 'worker', pools: ['worker'], nodes: 3 }
  const { level, message, fields, events } = describeOutcome({ asset, outcome, reach })
  t.test(`${asset.name}: ${line}`, async (t) => {
    t.equal(`${level} ${message} ${JSON.stringify(fields)}`, line)
    t.same(
      events.map(({ type, reason, note }) => `${type} ${reason} ${note}`),
      event === undefined ? [] : [event],
    )
  })
}
