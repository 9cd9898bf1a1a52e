import t from 'tap'

import {
  createReporter,
  type PendingSet,
} from '../../../../../src/reconciler/baseline/report/report.ts'
import type { EventInput } from '../../../../../src/shared/cluster/events.ts'
import { createLog } from '../../../../../src/shared/ops/log.ts'
import { createReconcilerMetrics, createRegistry } from '../../../../../src/shared/ops/metrics.ts'
import { assetNamed, factsWith } from '../../../baseline/facts.ts'

const hco = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'kubevirt' },
}
const set = (digest: string | undefined, isComplete = true): PendingSet => ({
  hco,
  facts: factsWith({ pools: { worker: 3 } }),
  changes:
    digest === undefined ? [] : [{ asset: assetNamed('swap-enable'), reasons: ['file /a added'] }],
  digest,
  isComplete,
})

t.test(
  'what waits is told with its digest, once all of it is known, and when it is over',
  async (t) => {
    const events: EventInput[] = []
    const reporter = createReporter({
      log: createLog('reconciler', 'error'),
      metrics: createReconcilerMetrics(createRegistry()),
      record: (event) => events.push(event),
      isObserver: false,
    })
    const told = (digest: string | undefined, isComplete?: boolean) => {
      events.length = 0
      reporter.pending(set(digest, isComplete))
      return events.map(({ type, reason, note }) => `${type} ${reason} ${note}`)
    }
    const pending = (digest: string) =>
      `Warning DisruptionPending MachineConfig 90-worker-swap-online reboots 3 nodes of pool worker (file /a added). To go ahead: kubectl annotate hyperconverged -n kubevirt kubevirt-hyperconverged --overwrite platform.kubevirt.io/approve=${digest}`
    t.same(told(undefined), [], 'nothing ever waited')
    t.same(told('a', false), [], 'the digest of a part is nobody’s to approve')
    t.same(told('b'), [pending('b')])
    t.same(told('b'), [])
    t.same(told('c'), [pending('c')])
    t.same(told(undefined, false), [])
    t.same(told(undefined), ['Normal DisruptionResolved nothing waits for approval any more'])
    t.same(told(undefined), [])
  },
)

t.test('what is to be deleted says why, and the command is whole whatever waits', async (t) => {
  const notes: string[] = []
  const reporter = createReporter({
    log: createLog('reconciler', 'error'),
    metrics: createReconcilerMetrics(createRegistry()),
    record: ({ note }) => notes.push(note),
    isObserver: false,
  })
  const [change] = set('a').changes
  const removal = { ...change, asset: assetNamed('swap-enable'), reasons: ['file /a removed'] }
  reporter.pending({ ...set('a'), changes: [{ ...removal, why: 'it is obsolete' }] })
  t.match(
    notes[0],
    'MachineConfig 90-worker-swap-online would be deleted (it is obsolete), which reboots 3 nodes of pool worker (file /a removed). To go ahead: kubectl annotate ',
  )
  const many = Array.from({ length: 5 }, () => ({ ...removal, why: 'é'.repeat(200) }))
  reporter.pending({ ...set('b'), changes: many })
  t.match(notes[1], /approve=b$/)
  t.ok(Buffer.byteLength(notes[1] ?? '') < 1024)
})
