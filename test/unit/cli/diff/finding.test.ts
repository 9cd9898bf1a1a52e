import t from 'tap'

import { type Finding, findingOf, isUnapprovedReboot } from '../../../../src/cli/diff/finding.ts'
import { changeLines, FORMATS, remarkOn } from '../../../../src/cli/diff/formats.ts'
import type { Outcome } from '../../../../src/reconciler/baseline/decide/outcome.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { Drift } from '../../../../src/shared/engine/merge/merge.ts'
import { assetNamed } from '../../baseline/facts.ts'

const hco: KubeObject = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt' },
}
const plan = { kind: 'enforce', desired: hco, released: [], isPatched: false, remarks: [] } as const
const drift = (pointer: string, found: unknown, wanted: unknown): Drift => ({
  path: [],
  pointer,
  kind: 'different',
  found,
  wanted,
})
const surroundings = { hcoNamespace: 'kubevirt', facts: { pools: { worker: 3 } } }
const finding = (name: string, outcome: Outcome): Finding =>
  findingOf({ asset: assetNamed(name), outcome }, surroundings)
const pending = (
  name: string,
  more: Partial<Extract<Outcome, { kind: 'pending' }>> = {},
): Finding =>
  finding(name, {
    kind: 'pending',
    reason: 'Observing',
    plan,
    drifts: [],
    isCreation: false,
    ...more,
  })

const HCO = 'HyperConverged kubevirt/kubevirt-hyperconverged (hco-golden-config)'
const SWAP = 'MachineConfig 90-worker-swap-online (swap-enable)'
const reboot = { effect: 'reboot', reasons: ['a', 'b', 'c', 'd'] } as const

const changes: readonly (readonly [what: string, Finding, lines: readonly string[]])[] = [
  [
    'a change, field by field',
    pending('hco-golden-config', {
      drifts: [drift('/spec/a', undefined, 1), drift('/spec/b', { c: 'd' }, undefined)],
    }),
    [`${HCO}: would be changed`, '  /spec/a nothing → 1', '  /spec/b {"c":"d"} → nothing'],
  ],
  [
    'a creation',
    pending('metallb', { isCreation: true }),
    ['MetalLB metallb-system/metallb (metallb): would be created'],
  ],
  [
    'a change that reboots nodes and waits',
    pending('swap-enable', { reason: 'Held', disruption: reboot }),
    [`${SWAP}: would be changed; reboots 3 nodes of pool worker (a, b, c); waits for approval`],
  ],
  [
    'one that waits for its pool',
    pending('swap-enable', {
      reason: 'PoolBusy',
      disruption: reboot,
      isCreation: true,
      busyPools: ['worker'],
    }),
    [
      `${SWAP}: would be created; reboots 3 nodes of pool worker (a, b, c); waits for pool worker, which is busy`,
    ],
  ],
  [
    'one that arrives at several pools, of which some are busy',
    findingOf(
      {
        asset: assetNamed('swap-enable'),
        outcome: {
          kind: 'pendingRemoval',
          why: 'w',
          reason: 'PoolBusy',
          disruption: reboot,
          busyPools: ['gpu', 'infra'],
        },
      },
      {
        ...surroundings,
        facts: {
          pools: { worker: 3, gpu: 1, infra: 2 },
          heirs: { worker: ['gpu', 'infra'] },
        },
      },
    ),
    [
      `${SWAP}: would be deleted: w; reboots 6 nodes of pools worker, gpu and infra (a, b, c); waits for pools gpu and infra, which are busy`,
    ],
  ],
  [
    'one that only reloads services',
    pending('swap-enable', { disruption: { effect: 'reload', reasons: ['a'] } }),
    [`${SWAP}: would be changed; reloads services on 3 nodes of pool worker (a)`],
  ],
  [
    'one of a disruptive asset that does nothing to nodes',
    pending('swap-enable', { disruption: { effect: 'none', reasons: ['a'] } }),
    [`${SWAP}: would be changed`],
  ],
  [
    'a deletion',
    finding('swap-enable', {
      kind: 'pendingRemoval',
      why: 'w',
      reason: 'Held',
      disruption: reboot,
    }),
    [`${SWAP}: would be deleted: w; reboots 3 nodes of pool worker (a, b, c); waits for approval`],
  ],
  [
    'no secret, and nothing that moves a cursor',
    pending('hco-golden-config', {
      drifts: [drift('/spec/token', 'hush', 'quiet'), drift('/spec/\u001b[2J', '\u202e', 'b')],
    }),
    [
      `${HCO}: would be changed`,
      '  /spec/token (hidden) → (hidden)',
      '  /spec/\\u001b[2J "\\u202e" → "b"',
    ],
  ],
]

for (const [what, found, lines] of changes) {
  t.test(`tells ${what}`, async (t) => {
    t.same(changeLines(found), lines)
    t.equal(remarkOn(found), undefined)
    t.notMatch(FORMATS.json({ findings: [found], pending: { hco, digest: undefined } }), 'hush')
  })
}

t.test('a pool that nobody knows has no number of nodes', async (t) => {
  const outcome = {
    kind: 'pendingRemoval',
    why: 'w',
    reason: 'Observing',
    disruption: reboot,
  } as const
  const found = findingOf(
    { asset: assetNamed('swap-enable'), outcome },
    { ...surroundings, facts: { pools: {} } },
  )
  t.match(changeLines(found)[0], /reboots the nodes of pool worker/)
})

const silent: readonly (readonly [Outcome, reason: string])[] = [
  [{ kind: 'unchanged', plan }, 'InSync'],
  [{ kind: 'gone' }, 'Absent'],
  [{ kind: 'leftover', message: 'waits until it is cold' }, 'Leftover'],
  [{ kind: 'skipped', reason: 'Unmanaged' }, 'Unmanaged'],
  [{ kind: 'skipped', reason: 'Inactive', message: 'waits' }, 'Inactive'],
]

for (const [outcome, reason] of silent) {
  t.test(`tells nothing of what is ${reason}`, async (t) => {
    const found = finding('metallb', outcome)
    t.match(found, { action: 'none', reason, isObstacle: false })
    t.same([changeLines(found), remarkOn(found)], [[], undefined])
  })
}

const problem = { reason: 'InvalidPatch', annotation: 'a/patch', message: 'is none' } as const
const remarks: readonly (readonly [Outcome, action: string, remark: RegExp])[] = [
  [
    { kind: 'held', problems: [problem] },
    'none',
    /: held, nothing is written .* a\/patch is none$/,
  ],
  [
    { kind: 'skipped', reason: 'NamespaceMissing', message: 'namespace x does not exist' },
    'none',
    /: namespace x does not exist$/,
  ],
  [
    { kind: 'stuck', since: '2026-11-01T00:00:00Z', finalizers: ['a/b'] },
    'none',
    /: being deleted since 2026.*a\/b$/,
  ],
  [
    { kind: 'failed', reason: 'RenderFailed', message: 'x.ejs: line 1' },
    'unknown',
    /: cannot be compared: x.ejs: line 1$/,
  ],
  [
    { kind: 'skipped', reason: 'SchemaMissing', message: 'its schema is not published yet' },
    'unknown',
    /: cannot be compared: its schema is not published yet$/,
  ],
]

for (const [outcome, action, remark] of remarks) {
  t.test(`remarks on ${'reason' in outcome ? outcome.reason : outcome.kind}`, async (t) => {
    const found = finding('metallb', outcome)
    t.equal(found.action, action)
    t.match(remarkOn(found), remark)
    t.match(remarkOn(found), /^MetalLB metallb-system\/metallb \(metallb\): /)
    t.same(changeLines(found), [])
  })
}

t.test('an asset that could not be looked at is told with the reason', async (t) => {
  const asset = assetNamed('metallb')
  const found = findingOf({ asset, error: new Error('403 forbidden') }, surroundings)
  t.match(found, { action: 'unknown', message: '403 forbidden' })
})

t.test('what the API server was not asked about is told beside the change', async (t) => {
  const found = pending('metallb', { unconfirmed: '403 no' })
  t.same(changeLines(found).length, 1)
  t.match(remarkOn(found), /the API server was not asked whether it agrees: 403 no$/)
})

t.test('text: the changes, and how to approve what waits', async (t) => {
  const findings = [finding('metallb', { kind: 'unchanged', plan }), pending('hco-golden-config')]
  t.equal(
    FORMATS.text({ findings, pending: { hco, digest: undefined } }),
    `${HCO}: would be changed\n`,
  )
  t.equal(FORMATS.text({ findings: [], pending: { hco, digest: undefined } }), '')
  t.equal(
    FORMATS.text({ findings: [], pending: { hco, digest: 'abc' } }),
    'To approve what waits for it: kubectl annotate hyperconverged -n kubevirt kubevirt-hyperconverged --overwrite platform.kubevirt.io/approve=abc\n',
  )
})

t.test('json: every asset, with what would change of it', async (t) => {
  const findings = [
    finding('metallb', { kind: 'unchanged', plan }),
    pending('hco-golden-config', { drifts: [drift('/spec/a', 'x', { token: 'hush' })] }),
    pending('swap-enable', { reason: 'Held', disruption: reboot }),
  ]
  t.same(JSON.parse(FORMATS.json({ findings, pending: { hco, digest: 'abc' } })), {
    assets: [
      {
        asset: 'metallb',
        kind: 'MetalLB',
        namespace: 'metallb-system',
        name: 'metallb',
        action: 'none',
        reason: 'InSync',
        message: 'in sync',
        isObstacle: false,
      },
      {
        asset: 'hco-golden-config',
        kind: 'HyperConverged',
        namespace: 'kubevirt',
        name: 'kubevirt-hyperconverged',
        action: 'change',
        changes: [{ pointer: '/spec/a', from: '"x"', to: '{"token":"(hidden)"}' }],
      },
      {
        asset: 'swap-enable',
        kind: 'MachineConfig',
        name: '90-worker-swap-online',
        action: 'change',
        changes: [],
        disruption: { ...reboot, pool: 'worker', pools: ['worker'], nodes: 3 },
        waitsFor: 'approval',
      },
    ],
    approval: {
      digest: 'abc',
      command:
        'kubectl annotate hyperconverged -n kubevirt kubevirt-hyperconverged --overwrite platform.kubevirt.io/approve=abc',
    },
  })
})

t.test('a reboot that nobody approved is one that waits for approval', async (t) => {
  const is = (reason: 'Held' | 'PoolBusy' | 'Observing') =>
    isUnapprovedReboot(pending('swap-enable', { reason, disruption: reboot }))
  t.same(
    ['Held', 'PoolBusy', 'Observing'].map((reason) => is(reason as 'Held')),
    [true, false, false],
  )
  t.notOk(isUnapprovedReboot(pending('metallb')))
  t.notOk(
    isUnapprovedReboot(
      finding('metallb', { kind: 'failed', reason: 'RenderFailed', message: 'a' }),
    ),
  )
})
