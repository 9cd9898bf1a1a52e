import t from 'tap'

import { decide } from '../../../../../src/reconciler/baseline/decide/decide.ts'
import type {
  AssetInput,
  Decision,
  Final,
} from '../../../../../src/reconciler/baseline/decide/decision.ts'

import {
  remember,
  spentOn,
  withAnswer,
} from '../../../../../src/reconciler/baseline/decide/memory.ts'
import type { AssetStatus } from '../../../../../src/shared/baseline/asset-status.ts'
import { type KubeObject, titleOf } from '../../../../../src/shared/engine/json/object.ts'
import { assetNamed } from '../../../baseline/facts.ts'
import { deepFreeze, objectWith } from '../../../engine/merge/schemas.ts'
import { approval, asset, baseline, disruptive, inputWith, storedWith } from '../asset-inputs.ts'

interface Case {
  readonly what: string
  readonly input?: Partial<AssetInput>
  /** What the decision must hold at least; it writes what is given here and nothing else. */
  readonly wanted: object
}

const outcomeOf = (outcome: object) => ({ kind: 'final', outcome })
const skipped = (reason: string, message?: string | RegExp) =>
  outcomeOf({ kind: 'skipped', reason, ...(message && { message }) })
const inactive = (more: object = {}): AssetStatus =>
  ({ kind: 'inactive', reason: 'ConditionFalse', message: 'waits', ...more }) as AssetStatus
const tombstone: AssetStatus = { kind: 'tombstone' }
const rival = assetNamed('swap-enable')
const yielding = { ...asset, yieldsTo: rival }
const missed = { group: 'metallb.io', version: 'v1beta1', kind: 'MetalLB' }
const annotated = (annotations: Record<string, string>) => storedWith({ annotations })
const stranger = storedWith({ metadata: { labels: {} } })
const ending = storedWith({
  metadata: { deletionTimestamp: '2026-01-01T00:00:45Z', finalizers: ['f'] },
})
const stuck = storedWith({
  metadata: { deletionTimestamp: '2026-01-01T00:00:30Z', finalizers: ['f'] },
})
const pool = { apiVersion: 'v1', kind: 'MachineConfigPool', metadata: { name: 'worker' } }
const busy: KubeObject = { ...pool, spec: { paused: true } }

const inTheWay: readonly Case[] = [
  { what: 'off', input: { isOff: true }, wanted: skipped('Off') },
  {
    what: 'off goes before a tombstone',
    input: { isOff: true, status: tombstone },
    wanted: skipped('Off'),
  },
  {
    what: 'a template that fails',
    input: { status: { kind: 'failed', reason: 'RenderFailed', message: 'no' } },
    wanted: outcomeOf({ kind: 'failed', reason: 'RenderFailed', message: 'no' }),
  },
  {
    what: 'a condition that cannot be judged yet, even of an object that is there',
    input: { status: inactive({ reason: 'SchemaMissing', message: 'not yet' }) },
    wanted: skipped('SchemaMissing', 'not yet'),
  },
  {
    what: 'an object that its asset left over',
    input: { status: inactive() },
    wanted: outcomeOf({ kind: 'leftover', message: 'waits' }),
  },
  {
    what: 'an inactive asset’s object that is somebody else’s',
    input: { status: inactive(), live: stranger },
    wanted: skipped('Inactive', 'waits'),
  },
  {
    what: 'an API that somebody misses',
    input: { status: inactive({ missed }), live: undefined },
    wanted: outcomeOf({ kind: 'skipped', reason: 'DependencyMissing', message: 'waits', missed }),
  },
  {
    what: 'an asset that somebody asked for',
    input: { status: inactive({ isAwaited: true }), live: undefined },
    wanted: skipped('Waiting', 'waits'),
  },
  {
    what: 'an asset that nobody asked for',
    input: { status: inactive(), live: undefined },
    wanted: skipped('Inactive', 'waits'),
  },
  {
    what: 'a namespace that is not there',
    input: {
      status: {
        kind: 'active',
        baseline: objectWith({}, { namespace: 'n' }),
        digest: 'd',
      },
      isNamespaceMissing: true,
    },
    wanted: skipped('NamespaceMissing', 'namespace n does not exist'),
  },
  {
    what: 'a schema that is not published',
    input: { tree: undefined },
    wanted: skipped('SchemaMissing', 'its schema is not published yet'),
  },
  {
    what: 'a rival that is still there, before the object is created',
    input: { asset: yielding, live: undefined, isRivalThere: true },
    wanted: skipped('Waiting', `waits until ${rival.name}, which does the same work, is gone`),
  },
  {
    what: 'a rival that is there beside the object, which is no obstacle',
    input: { asset: yielding, isRivalThere: true },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  {
    what: 'something that it needs and that is not there',
    input: { live: undefined, missingNeed: rival },
    wanted: skipped('Waiting', `waits for ${rival.name}`),
  },
  { what: 'an object that the watch lacks', input: { live: undefined }, wanted: { kind: 'read' } },
  {
    what: 'a HyperConverged that is not there',
    input: { asset: assetNamed('hco-golden-config'), live: undefined, isRead: true },
    wanted: skipped('Absent'),
  },
  {
    what: 'an object that somebody else creates',
    input: { asset: { ...asset, create: false }, live: undefined, isRead: true },
    wanted: skipped('Waiting', `waits until somebody creates ${titleOf(baseline)}`),
  },
  {
    what: 'such an object that is there',
    input: { asset: { ...asset, create: false } },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  { what: 'an object that is being deleted', input: { live: ending }, wanted: skipped('Deleting') },
  {
    what: 'an object that is its admin’s',
    input: { live: annotated({ mode: 'unmanaged' }) },
    wanted: skipped('Unmanaged'),
  },
  {
    what: 'an object that is paused',
    input: { live: annotated({ 'reconcile-paused': 'true' }) },
    wanted: skipped('Paused'),
  },
  {
    what: 'an override that is invalid',
    input: { live: annotated({ patch: 'nonsense' }) },
    wanted: outcomeOf({ kind: 'held', problems: [{ reason: 'InvalidPatch' }] }),
  },
]

const superseded = inactive({ reason: 'Superseded', message: 'gives way to b' })
const prunable = { ...asset, prune: true }
const removalOf = (live: KubeObject) => ({
  ...outcomeOf({ kind: 'removed', was: live }),
  write: { kind: 'delete', live },
})
const unwanted = (changes: Partial<AssetInput> = {}) => ({ status: tombstone, ...changes })
const held = { asset: disruptive, status: tombstone }

const removals: readonly Case[] = [
  {
    what: 'what is gone',
    input: unwanted({ live: undefined }),
    wanted: { kind: 'final', outcome: { kind: 'gone' }, write: undefined },
  },
  {
    what: 'what is somebody else’s',
    input: unwanted({ live: stranger }),
    wanted: skipped('NotOurs', /does not bear the label/),
  },
  {
    what: 'what is unmanaged',
    input: unwanted({ live: annotated({ mode: 'unmanaged' }) }),
    wanted: skipped('Unmanaged'),
  },
  {
    what: 'what is paused',
    input: unwanted({ live: annotated({ 'reconcile-paused': 'true' }) }),
    wanted: skipped('Paused'),
  },
  {
    what: 'what somebody meant to keep',
    input: unwanted({ live: annotated({ mode: 'unmanagd' }) }),
    wanted: outcomeOf({ kind: 'held', problems: [{ reason: 'InvalidMode' }] }),
  },
  { what: 'what is going', input: unwanted({ live: ending }), wanted: skipped('Deleting') },
  {
    what: 'what finalizers hold up',
    input: unwanted({ live: stuck }),
    wanted: outcomeOf({ kind: 'stuck', since: '2026-01-01T00:00:30Z', finalizers: ['f'] }),
  },
  {
    what: 'what reboots nodes and is not approved',
    input: held,
    wanted: outcomeOf({
      kind: 'pendingRemoval',
      reason: 'Held',
      why: disruptive.description,
      disruption: { effect: 'reboot', reasons: ['Sort removed'] },
    }),
  },
  {
    what: 'what rolls a busy pool',
    input: { ...held, approval: { ...approval, mode: 'apply', pools: [busy] } },
    wanted: outcomeOf({ kind: 'pendingRemoval', reason: 'PoolBusy', busyPools: ['worker'] }),
  },
  {
    what: 'what would be deleted',
    input: unwanted({ isObserving: true }),
    wanted: outcomeOf({
      kind: 'pendingRemoval',
      reason: 'Observing',
      why: asset.description,
    }),
  },
  {
    what: 'what would be pruned',
    input: { asset: prunable, status: inactive(), isObserving: true },
    wanted: outcomeOf({ kind: 'pendingRemoval', reason: 'Observing', why: 'waits' }),
  },
  { what: 'a tombstone’s object', input: unwanted(), wanted: removalOf(storedWith()) },
  {
    what: 'what is pruned',
    input: { asset: prunable, status: inactive() },
    wanted: removalOf(storedWith()),
  },
  {
    what: 'what would be pruned and is somebody else’s',
    input: { asset: prunable, status: inactive(), live: stranger },
    wanted: skipped('Inactive'),
  },
  {
    what: 'what another does the work of, and is there',
    input: { asset: yielding, status: superseded, isRivalThere: true },
    wanted: {
      outcome: { kind: 'removed', why: 'gives way to b' },
      write: { kind: 'delete' },
    },
  },
  {
    what: 'what another is to do the work of, and is not there yet',
    input: { asset: yielding, status: superseded },
    wanted: outcomeOf({ kind: 'leftover', message: 'gives way to b' }),
  },
]

const absent = { live: undefined, isRead: true }
const creating = { kind: 'pending', isCreation: true, drifts: [] }
const time = { healLimits: { capacity: 1, windowMs: 10_000 }, uptime: 0 }
/** A budget that is used up. */
const spent = spentOn(baseline, spentOn(baseline, undefined, time), time)
const war = { ...spent, memory: { bucket: undefined, throttles: 3, until: 0 } }
const reboots = { effect: 'reboot', reasons: ['Sort added'] }

const creations: readonly Case[] = [
  {
    what: 'what reboots nodes and is not approved',
    input: { ...absent, asset: disruptive },
    wanted: outcomeOf({ ...creating, reason: 'Held', disruption: reboots }),
  },
  {
    what: 'what would be created, before the server is asked',
    input: { ...absent, isObserving: true },
    wanted: { kind: 'dryRun', object: baseline },
  },
  {
    what: 'what would be created and the server let it',
    input: { ...absent, isObserving: true, dryRun: { answer: storedWith() } },
    wanted: {
      ...outcomeOf({ ...creating, reason: 'Observing' }),
      memory: withAnswer({}, baseline, undefined, { drifts: [] }),
    },
  },
  {
    what: 'what would be created, of which nobody may ask the server',
    input: { ...absent, isObserving: true, dryRun: { forbidden: 'no' } },
    wanted: outcomeOf({ ...creating, reason: 'Observing', unconfirmed: 'no' }),
  },
  {
    what: 'what the server was asked about before',
    input: {
      ...absent,
      isObserving: true,
      memory: withAnswer({}, baseline, undefined, { drifts: [] }),
    },
    wanted: outcomeOf({ ...creating, reason: 'Observing' }),
  },
  {
    what: 'what is deleted again and again',
    input: { ...absent, memory: { heals: spent } },
    wanted: {
      ...outcomeOf({ kind: 'throttled', drifts: [], rivals: [], isPaused: false }),
      memory: { heals: { memory: { throttles: 1, until: 10_000 } } },
    },
  },
  {
    what: 'what is deleted so often that it would be paused, were it there',
    input: { ...absent, memory: { heals: war } },
    wanted: outcomeOf({ kind: 'throttled', isPaused: false }),
  },
  {
    what: 'what is to be created',
    input: absent,
    wanted: {
      ...outcomeOf({ kind: 'created', plan: { desired: baseline } }),
      write: { kind: 'apply', desired: baseline, live: undefined },
    },
  },
]

const drifted = storedWith({ spec: { text: 'b' } })
/** What we own and no longer want is a field besides. */
const withExtra = storedWith({
  spec: { text: 'a', list: ['x'] },
  owned: { text: 'a', list: ['x'] },
})
const drifts = [{ pointer: '/spec/text', found: 'b', wanted: 'a' }]
const disowned = storedWith({ owned: null })
const bound = { ...baseline, metadata: { ...baseline.metadata, uid: 'u', resourceVersion: '7' } }
const ignoring = annotated({ 'ignore-fields': '/spec/text' })
const labelled = objectWith({}, { labels: baseline.metadata.labels ?? {} })
const claim = (live: KubeObject) => ({ kind: 'apply', desired: baseline, live })
/** What is remembered of the asset once this object's fields were taken back. */
const claimed = (live: KubeObject) => {
  const { outcome } = decide(inputWith()) as Final
  const write = { kind: 'apply', desired: baseline, live } as const
  return remember({}, { outcome, write }, live, { ...time, resyncs: 0 })
}

const owner = {
  manager: 'somebody',
  operation: 'Update',
  fieldsV1: { 'f:spec': { 'f:text': {} } },
} as const
const [ours] = storedWith({ owned: null }).metadata.managedFields ?? []
const theirs = storedWith({
  spec: { text: 'b' },
  metadata: { managedFields: [...(ours ? [ours] : []), owner] },
})
const disownedBy = storedWith({
  metadata: { managedFields: [...(ours ? [ours] : []), owner] },
})

const stored: readonly Case[] = [
  { what: 'what is in sync', wanted: outcomeOf({ kind: 'unchanged', hasReleased: false }) },
  {
    what: 'what is in sync while we observe',
    input: { isObserving: true },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  {
    what: 'fields to be released',
    input: { live: ignoring },
    wanted: { kind: 'release', operations: [{ op: 'test' }, { op: 'replace' }] },
  },
  {
    what: 'fields that were released',
    input: {
      live: storedWith({ owned: null, annotations: { 'ignore-fields': '/spec/text' } }),
      hasReleased: true,
    },
    wanted: outcomeOf({ kind: 'unchanged', hasReleased: true }),
  },
  {
    what: 'fields that the server did not release, which is not tried twice',
    input: { live: ignoring, hasReleased: true },
    wanted: { kind: 'dryRun' },
  },
  {
    what: 'fields to be released while we observe',
    input: { live: ignoring, isObserving: true },
    wanted: outcomeOf({ kind: 'unchanged', hasReleased: false }),
  },
  {
    what: 'drift beside fields to be released while we observe, of which the server is not asked',
    input: {
      live: storedWith({
        spec: { text: 'a', map: { a: 'x' } },
        owned: { text: 'a', map: { a: 'x' } },
        annotations: { 'ignore-fields': '/spec/text' },
      }),
      status: {
        kind: 'active',
        baseline: objectWith(
          { text: 'a', map: { a: 'y' } },
          { labels: labelled.metadata.labels ?? {} },
        ),
        digest: 'd',
      },
      isObserving: true,
    },
    wanted: outcomeOf({
      kind: 'pending',
      reason: 'Observing',
      drifts: [{ pointer: '/spec/map/a', found: 'x', wanted: 'y' }],
    }),
  },
  {
    what: 'values as desired that somebody else owns now',
    input: { live: disownedBy },
    wanted: { ...outcomeOf({ kind: 'unchanged' }), write: claim(disownedBy) },
  },
  {
    what: 'the same while we observe',
    input: { live: disownedBy, isObserving: true },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  {
    what: 'the same, taken back since the last resync',
    input: { live: disownedBy, memory: claimed(disownedBy) },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  {
    what: 'the same after a resync',
    input: { live: disownedBy, memory: claimed(disownedBy), resyncs: 1 },
    wanted: { ...outcomeOf({ kind: 'unchanged' }), write: claim(disownedBy) },
  },
  {
    what: 'values that nobody owns, after another write',
    input: {
      live: disowned,
      memory: claimed({ ...disowned, metadata: { ...disowned.metadata, resourceVersion: '6' } }),
    },
    wanted: { ...outcomeOf({ kind: 'unchanged' }), write: claim(disowned) },
  },
  {
    what: 'what the server sees no difference in',
    input: { live: drifted, memory: withAnswer({}, baseline, drifted, 'nothing') },
    wanted: outcomeOf({ kind: 'unchanged' }),
  },
  {
    what: 'drift that reboots nodes and is not approved',
    input: { live: drifted, asset: disruptive },
    wanted: outcomeOf({ kind: 'pending', reason: 'Held', isCreation: false, drifts }),
  },
  {
    what: 'drift that rolls a busy pool',
    input: {
      live: drifted,
      asset: disruptive,
      approval: { ...approval, mode: 'apply', pools: [busy] },
    },
    wanted: outcomeOf({ kind: 'pending', reason: 'PoolBusy', drifts }),
  },
  {
    what: 'fields that an apply removes from what reboots nodes: that counts as the worst',
    input: { live: withExtra, asset: disruptive },
    wanted: outcomeOf({
      kind: 'pending',
      reason: 'Held',
      disruption: { effect: 'reboot', reasons: ['fields removed'] },
    }),
  },
  {
    what: 'drift while we observe, before the server is asked',
    input: { live: drifted, isObserving: true },
    wanted: { kind: 'dryRun', object: bound },
  },
  {
    what: 'drift while we observe that the server confirms',
    input: { live: drifted, isObserving: true, dryRun: { answer: storedWith() } },
    wanted: {
      ...outcomeOf({ kind: 'pending', reason: 'Observing', drifts }),
      memory: { answer: { change: { drifts } } },
    },
  },
  {
    what: 'what would be removed while we observe',
    input: { live: withExtra, isObserving: true, dryRun: { answer: storedWith() } },
    wanted: outcomeOf({
      kind: 'pending',
      reason: 'Observing',
      drifts: [{ pointer: '/spec/list', wanted: undefined }],
    }),
  },
  {
    what: 'drift that is known already',
    input: {
      live: drifted,
      isObserving: true,
      memory: withAnswer({}, baseline, drifted, { drifts: [] }),
    },
    wanted: outcomeOf({ kind: 'pending', reason: 'Observing', drifts: [] }),
  },
  {
    what: 'drift of which nobody may ask the server',
    input: { live: drifted, isObserving: true, dryRun: { forbidden: 'no' } },
    wanted: outcomeOf({ kind: 'pending', reason: 'Observing', drifts, unconfirmed: 'no' }),
  },
  {
    what: 'drift while we observe that is none to the server',
    input: { live: drifted, isObserving: true, dryRun: { answer: drifted } },
    wanted: {
      ...outcomeOf({ kind: 'unchanged' }),
      memory: withAnswer({}, baseline, drifted, 'nothing'),
    },
  },
  {
    what: 'drift that is put back too often',
    input: { live: theirs, memory: { heals: spent } },
    wanted: {
      ...outcomeOf({ kind: 'throttled', drifts, rivals: ['somebody'], isPaused: false }),
      memory: { heals: { memory: { throttles: 1 } } },
    },
  },
  {
    what: 'drift that is put back too often, again and again',
    input: { live: theirs, memory: { heals: war } },
    wanted: {
      ...outcomeOf({ kind: 'throttled', rivals: ['somebody'], isPaused: true }),
      write: { kind: 'pause' },
    },
  },
  {
    what: 'drift, before the server is asked',
    input: { live: drifted },
    wanted: { kind: 'dryRun', object: bound },
  },
  {
    what: 'drift that is none to the server',
    input: {
      live: drifted,
      dryRun: { answer: { ...drifted, metadata: { ...drifted.metadata, resourceVersion: '8' } } },
    },
    wanted: {
      ...outcomeOf({ kind: 'unchanged' }),
      memory: withAnswer({}, baseline, drifted, 'nothing'),
    },
  },
  {
    what: 'fields that we own no longer want, and that the server keeps: they are given up',
    input: { live: withExtra, dryRun: { answer: withExtra } },
    wanted: { ...outcomeOf({ kind: 'unchanged' }), write: claim(withExtra) },
  },
  {
    what: 'the same while we observe: they are not',
    input: { live: withExtra, isObserving: true, dryRun: { answer: withExtra } },
    wanted: {
      ...outcomeOf({ kind: 'unchanged' }),
      memory: withAnswer({}, baseline, withExtra, 'nothing'),
    },
  },
  {
    what: 'drift',
    input: { live: theirs, dryRun: { answer: storedWith() } },
    wanted: {
      ...outcomeOf({ kind: 'configured', drifts, cause: 'drift' }),
      write: claim(theirs),
    },
  },
  {
    what: 'an object that is taken over',
    input: { live: stranger, dryRun: { answer: storedWith() } },
    wanted: {
      ...outcomeOf({ kind: 'configured', cause: 'adoption' }),
      write: claim(stranger),
    },
  },
  {
    what: 'what is approved',
    input: {
      live: drifted,
      asset: disruptive,
      approval: { ...approval, isWaived: true },
      dryRun: { answer: storedWith() },
    },
    wanted: { ...outcomeOf({ kind: 'configured' }), write: claim(drifted) },
  },
]

const tables = { 'in the way': inTheWay, removals, creations, 'stored objects': stored }

for (const [table, cases] of Object.entries(tables)) {
  t.test(table, async (t) => {
    for (const { what, input, wanted } of cases) {
      const decision: Decision = decide(deepFreeze(inputWith(input)))
      t.match(decision, wanted, what)
      const write = 'write' in decision ? decision.write : undefined
      t.equal(write?.kind, (wanted as { write?: { kind: string } }).write?.kind, `${what}: writes`)
    }
  })
}

t.test('a heal that is let through keeps what its budget became', async (t) => {
  const memory = {
    heals: { ...spent, memory: { bucket: undefined, throttles: 2, until: -20_000 } },
  }
  const decision = decide(inputWith({ live: drifted, dryRun: { answer: storedWith() }, memory }))
  t.match(decision, { memory: { heals: { memory: { throttles: 0 } } }, write: { kind: 'apply' } })
})
