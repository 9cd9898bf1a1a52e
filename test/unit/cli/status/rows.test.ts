import t from 'tap'

import { type Product, productRows } from '../../../../src/cli/status/product.ts'
import { assetRow, type Row } from '../../../../src/cli/status/rows.ts'
import { exitCodeOf } from '../../../../src/cli/status/status.ts'
import type { AssetDiff } from '../../../../src/reconciler/baseline/cluster-diff.ts'
import type { Outcome } from '../../../../src/reconciler/baseline/decide/outcome.ts'
import type { AssetStatus } from '../../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { assetNamed, factsWith } from '../../baseline/facts.ts'

const hco: KubeObject = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt' },
}
const plan = { kind: 'enforce', desired: hco, released: [], isPatched: false, remarks: [] } as const
const drift = (pointer: string) =>
  ({ path: [], pointer, kind: 'different', found: 1, wanted: 2 }) as const
const metallb = (manager?: string): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'MetalLB',
  metadata: {
    name: 'metallb',
    namespace: 'metallb-system',
    ...(manager !== undefined && { managedFields: [{ manager }] }),
  },
})
const ANNOTATE = 'kubectl annotate metallb -n metallb-system metallb platform.kubevirt.io'
const pending = (more: Partial<Extract<Outcome, { kind: 'pending' }>> = {}): Outcome => ({
  kind: 'pending',
  reason: 'Observing',
  plan,
  drifts: ['/a', '/b', '/c', '/d'].map(drift),
  isCreation: false,
  ...more,
})
const skipped = (reason: Extract<Outcome, { kind: 'skipped' }>['reason'], message?: string) =>
  ({ kind: 'skipped', reason, ...(message !== undefined && { message }) }) as const

interface Around {
  readonly object?: KubeObject
  readonly status?: AssetStatus
  readonly activation?: 'all' | 'off' | 'observe' | 'only'
  readonly event?: string
}

const rowOf = (
  found: Outcome | Error,
  { object, status, activation = 'all', event }: Around = {},
): Row => {
  const asset = assetNamed('metallb')
  const diff: AssetDiff =
    found instanceof Error ? { asset, error: found } : { asset, outcome: found, object }
  return assetRow(diff, {
    facts: factsWith({}),
    statuses: new Map(status ? [['metallb', status]] : []),
    activation,
    pending: { hco, digest: 'abc' },
    events: new Map(event === undefined ? [] : [['metallb', event]]),
  })
}

const outcomes: readonly (readonly [
  what: string,
  row: Row,
  health: Row['health'],
  state: string,
  why: RegExp | string,
  todo?: RegExp | string,
])[] = [
  ['in sync', rowOf({ kind: 'unchanged', plan }), 'ok', 'InSync', 'in sync', ''],
  ['drift', rowOf(pending()), 'wrong', 'Drifted', 'differs at /a, /b, /c and 1 more', /log of the/],
  ['not there', rowOf(pending({ isCreation: true })), 'wrong', 'Missing', 'it is to be created'],
  ['drift, observed', rowOf(pending(), { activation: 'observe' }), 'ok', 'Drifted', /differs/, ''],
  ['drift, off', rowOf(pending(), { activation: 'off' }), 'ok', 'Drifted', /differs/, ''],
  [
    'what waits for approval',
    rowOf(pending({ reason: 'Held' })),
    'ok',
    'PendingApproval',
    /it would reboot nodes/,
    /to approve: kubectl annotate hyperconverged .*approve=abc/,
  ],
  [
    'what waits for its pool',
    rowOf(pending({ reason: 'PoolBusy', busyPools: ['worker'] })),
    'ok',
    'PoolBusy',
    /it waits for worker/,
  ],
  [
    'what is to be deleted',
    rowOf({ kind: 'pendingRemoval', reason: 'Observing', why: 'w' }),
    'wrong',
    'Obsolete',
    'it is to be deleted: w',
  ],
  [
    'an invalid override',
    rowOf({
      kind: 'held',
      problems: [{ reason: 'InvalidPatch', annotation: 'a/patch', message: 'no JSON' }],
    }),
    'wrong',
    'Held',
    /no JSON/,
    /mend or remove/,
  ],
  [
    'a template that fails',
    rowOf({ kind: 'failed', reason: 'RenderFailed', message: 'broken' }),
    'wrong',
    'RenderFailed',
    'broken',
  ],
  [
    'a deletion that hangs',
    rowOf({ kind: 'stuck', since: 'noon', finalizers: ['a/b'] }),
    'wrong',
    'Stuck',
    /since noon, and still there/,
  ],
  [
    'what is left over',
    rowOf({ kind: 'leftover', message: 'm' }),
    'ok',
    'Leftover',
    'm',
    /delete it/,
  ],
  ['what is gone', rowOf({ kind: 'gone' }), 'ok', 'Absent', /gone/],
  [
    'paused by an edit war',
    rowOf(skipped('Paused'), { object: metallb('virt-platform-autopilot-pause'), event: 'by bob' }),
    'wrong',
    'Paused',
    'by bob',
    `end the quarrel, then: ${ANNOTATE}/reconcile-paused-`,
  ],
  [
    'paused by an edit war that no event tells of any more',
    rowOf(skipped('Paused'), { object: metallb('virt-platform-autopilot-pause') }),
    'wrong',
    'Paused',
    /kept changing it/,
  ],
  [
    'paused by hand',
    rowOf(skipped('Paused'), { object: metallb('kubectl') }),
    'ok',
    'Paused',
    'somebody paused it',
    `to have it kept: ${ANNOTATE}/reconcile-paused-`,
  ],
  [
    'owned by somebody',
    rowOf(skipped('Unmanaged'), { object: metallb() }),
    'ok',
    'Unmanaged',
    'somebody owns it',
    `to have it kept: ${ANNOTATE}/mode-`,
  ],
  [
    'not active',
    rowOf(skipped('Inactive'), {
      status: { kind: 'inactive', reason: 'Excluded', message: 'switched off' },
    }),
    'ok',
    'Excluded',
    'switched off',
  ],
  [
    'asked for without its API',
    rowOf(skipped('DependencyMissing', 'no API'), {
      status: { kind: 'inactive', reason: 'NotServed', message: 'not served' },
    }),
    'wrong',
    'DependencyMissing',
    'no API',
    /install what serves/,
  ],
  ['off', rowOf(skipped('Off')), 'ok', 'Off', /switched off/],
  ['being deleted', rowOf(skipped('Deleting')), 'ok', 'Deleting', /being deleted/],
  ['for others to create', rowOf(skipped('Absent')), 'ok', 'Absent', /nobody has created/],
  [
    'without namespace',
    rowOf(skipped('NamespaceMissing', 'none')),
    'wrong',
    'NamespaceMissing',
    'none',
  ],
  ['not ours to delete', rowOf(skipped('NotOurs', 'theirs')), 'wrong', 'NotOurs', 'theirs'],
  ['waiting', rowOf(skipped('Waiting', 'for a node')), 'ok', 'Waiting', 'for a node'],
  [
    'without schema',
    rowOf(skipped('SchemaMissing'), {
      status: { kind: 'inactive', reason: 'SchemaMissing', message: 'not published yet' },
    }),
    'unknown',
    'Unknown',
    'not published yet',
  ],
  ['unread', rowOf(new Error('403 no')), 'unknown', 'Unknown', '403 no', /you may read/],
]

for (const [what, row, health, state, why, todo] of outcomes)
  t.test(`${what}: ${state}, ${health}`, async (t) => {
    t.match(row, { name: 'metallb', health, state, why, object: 'MetalLB metallb-system/metallb' })
    t.match(row.todo, todo ?? /^/)
  })

t.test('the last warning comes along', async (t) => {
  t.equal(rowOf(pending(), { event: 'ApplyFailed: no' }).lastEvent, 'ApplyFailed: no')
  t.notOk('lastEvent' in rowOf(pending()))
})

const NOW = Date.parse('2026-01-01T12:00:00Z')
const leaseOf = (spec: object): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l' },
  spec,
})
const held = { holderIdentity: 'pod-1', leaseDurationSeconds: 15 }
const lease = leaseOf({ ...held, renewTime: '2026-01-01T11:59:50.000000Z' })
const well: Product = { namespace: 'ns', hasState: true, lease, unregistered: [] }
const productOf = (
  product: Partial<Product> = {},
  annotations: Record<string, string> = {},
  other: 'absent' | 'active' = 'absent',
) => {
  const keys = Object.entries(annotations).map(([key, text]) => [
    `platform.kubevirt.io/${key}`,
    text,
  ])
  const stated = readSettings(Object.fromEntries(keys), undefined, other)
  const rows = productRows({ ...well, ...product }, { hco, stated }, NOW)
  return rows.map(({ name, health, state }) => `${name} ${health} ${state}`)
}
const WELL = ['settings ok On', 'reconciler ok Leading', 'webhook ok Registered']
const withRow = (index: number, row: string) => WELL.with(index, row)

const products: readonly (readonly [what: string, rows: readonly string[], readonly string[]])[] = [
  ['all is well', productOf(), WELL],
  ['some assets only', productOf({}, { autopilot: 'metallb' }), WELL],
  ['without election', productOf({ lease: undefined }), withRow(1, 'reconciler ok Running')],
  [
    'an invalid setting',
    productOf({}, { 'disruptive-changes': 'maybe' }),
    withRow(0, 'settings wrong Invalid'),
  ],
  ['another autopilot', productOf({}, {}, 'active'), withRow(0, 'settings wrong OtherAutopilot')],
  ['observing', productOf({}, { autopilot: 'observe' }), withRow(0, 'settings ok Observing')],
  [
    'off, and so not registered',
    productOf({ unregistered: ['A', 'B'] }, { autopilot: 'false' }),
    ['settings ok Off', 'reconciler ok Leading', 'webhook ok Off'],
  ],
  ['not installed', productOf({ hasState: false }), withRow(1, 'reconciler wrong NotRunning')],
  [
    'a leader that is gone',
    productOf({ lease: leaseOf({ ...held, renewTime: '2026-01-01T11:58:00.000000Z' }) }),
    withRow(1, 'reconciler wrong NoLeader'),
  ],
  [
    'a Lease that was released',
    productOf({
      lease: leaseOf({ ...held, holderIdentity: '', renewTime: '2026-01-01T11:59:50Z' }),
    }),
    withRow(1, 'reconciler wrong NoLeader'),
  ],
  [
    'a Lease of nothing',
    productOf({ lease: leaseOf({}) }),
    withRow(1, 'reconciler wrong NoLeader'),
  ],
  [
    'a configuration that is away',
    productOf({ unregistered: ['MutatingWebhookConfiguration'] }),
    withRow(2, 'webhook wrong NotRegistered'),
  ],
]

for (const [what, rows, wanted] of products)
  t.test(`the product: ${what}`, async (t) => t.same(rows, wanted))

t.test('the exit code: doubt goes before a fault, and that before none', async (t) => {
  const healths = ['ok', 'wrong', 'unknown'] as const
  t.same(
    healths.map((health) => exitCodeOf([{ health: 'ok' }, { health }])),
    [0, 1, 2],
  )
  t.equal(exitCodeOf([{ health: 'unknown' }, { health: 'wrong' }]), 2)
})
