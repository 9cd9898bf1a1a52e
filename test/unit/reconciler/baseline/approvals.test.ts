import t from 'tap'

import { Approvals } from '../../../../src/reconciler/baseline/approvals.ts'
import type { Outcome } from '../../../../src/reconciler/baseline/decide/outcome.ts'
import { Ledger } from '../../../../src/reconciler/baseline/ledger.ts'
import type { PendingSet } from '../../../../src/reconciler/baseline/report/report.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import { assetNamed, factsWith } from '../../baseline/facts.ts'
import { plan } from './asset-inputs.ts'

const swap = assetNamed('swap-enable')
const pci = assetNamed('pci-passthrough')
const metallb = assetNamed('metallb')
const disruption = { effect: 'reboot', reasons: ['file a added'] } as const
const held: Outcome = {
  kind: 'pending',
  reason: 'Held',
  plan,
  isCreation: true,
  drifts: [],
  disruption,
}
const pool = { apiVersion: 'v1', kind: 'MachineConfigPool', metadata: { name: 'worker' } }
const machineConfigSelector = {
  matchLabels: { 'machineconfiguration.openshift.io/role': 'worker' },
}
const pools = [
  { ...pool, metadata: { name: 'infra' }, spec: { machineConfigSelector } },
  pool,
  { ...pool, metadata: { name: 'master' } },
]

const evaluationWith = (annotations: Record<string, string> = {}) => ({
  facts: factsWith(),
  hco: {
    apiVersion: 'hco.kubevirt.io/v1',
    kind: 'HyperConverged',
    metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt', annotations },
  },
  stated: readSettings(annotations, undefined, 'absent'),
})
const approving = (digest: string | undefined) =>
  evaluationWith({ 'platform.kubevirt.io/approve': `${digest}` })
const observing = evaluationWith({ 'platform.kubevirt.io/autopilot': 'observe' })
const applying = evaluationWith({ 'platform.kubevirt.io/disruptive-changes': 'apply' })

/** One leader's approvals, and what it reported. */
const leader = (isObserver = false) => {
  const reports: PendingSet[] = []
  const ledger = new Ledger(() => undefined)
  const approvals = new Approvals({
    catalog: [swap, metallb, pci],
    ledger,
    reporter: {
      pending: (set) => reports.push(set),
      report: () => undefined,
      failed: () => undefined,
      reset: () => undefined,
      unavailable: () => undefined,
      settings: () => undefined,
    },
    disruptiveChanges: 'hold',
    isObserver,
    pools: () => pools,
  })
  const report = (evaluation = evaluationWith()) => {
    approvals.report(evaluation)
    return reports.at(-1)
  }
  return { approvals, ledger, report }
}

t.test('what waits is reported as one set, in the order of names', async (t) => {
  const { approvals, report } = leader()
  approvals.note(swap, held)
  approvals.note(pci, held)
  approvals.note(metallb, { kind: 'unchanged', plan })
  const set = report()
  t.same(
    set?.changes.map(({ asset: { name }, reasons }) => [name, reasons]),
    [
      ['pci-passthrough', ['file a added']],
      ['swap-enable', ['file a added']],
    ],
  )
  t.match(set?.digest, /^[0-9a-f]{12}$/)
  t.notOk('unknownApproval' in (set ?? {}))
  t.same([...approvals.waiting].sort(), ['pci-passthrough', 'swap-enable'])
})

t.test('a removal that waits is reported with its reason', async (t) => {
  const { approvals, report } = leader()
  approvals.note(swap, { kind: 'pendingRemoval', reason: 'Held', why: 'obsolete', disruption })
  t.match(report()?.changes, [{ asset: { name: 'swap-enable' }, why: 'obsolete' }])
})

t.test('nothing is approved before everything disruptive was looked at', async (t) => {
  const { approvals, ledger, report } = leader()
  approvals.note(swap, held)
  const part = report()
  t.equal(part?.isComplete, false)
  const digest = part?.digest
  t.equal(approvals.approve(approving(digest).hco), false)
  t.notOk('unknownApproval' in (report(approving('other')) ?? {}), 'nor is any called unknown')
  approvals.noteSeen(pci)
  t.match(report(approving('other')), { unknownApproval: 'other', isComplete: true })
  t.equal(approvals.approve(approving(digest).hco), true)
  t.equal(ledger.memory.approval.digest, digest, 'the next leader knows')
  t.ok(approvals.policyFor(swap, evaluationWith()).approved)
  t.notOk('unknownApproval' in (report(approving(digest)) ?? {}), 'it is the last one')
})

t.test('what is permitted waits no more; what is revoked is approved no more', async (t) => {
  const { approvals, report } = leader()
  approvals.note(swap, held)
  approvals.note(pci, held)
  approvals.approve(approving(report()?.digest).hco)
  approvals.permit(swap)
  t.same(approvals.waiting, ['pci-passthrough'])
  approvals.revoke(evaluationWith().hco)
  t.equal(approvals.policyFor(pci, evaluationWith()).approved, undefined)
})

t.test('what is in force is known to the next leader, sorted', async (t) => {
  const { approvals, ledger } = leader()
  approvals.note(swap, { kind: 'created', plan })
  approvals.note(pci, { kind: 'unchanged', plan })
  approvals.note(metallb, { kind: 'unchanged', plan })
  t.same(Object.keys(ledger.memory.applied), ['pci-passthrough', 'swap-enable'])
  const { inForce } = approvals.policyFor(swap, evaluationWith())
  approvals.resume()
  t.equal(approvals.policyFor(swap, evaluationWith()).inForce, inForce)
  t.ok(inForce)
})

t.test('the HyperConverged goes before the flag, and observing waives approval', async (t) => {
  const { approvals } = leader()
  t.match(approvals.policyFor(swap, evaluationWith()), {
    mode: 'hold',
    isWaived: false,
    pools: [{ metadata: { name: 'worker' } }, { metadata: { name: 'infra' } }],
  })
  t.match(approvals.policyFor(swap, applying), { mode: 'apply' })
  t.match(approvals.policyFor(swap, observing), { isWaived: true })
  t.match(leader(true).approvals.policyFor(swap, observing), { isWaived: false })
  t.same(approvals.policyFor(metallb, applying).pools, [])
})
