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
