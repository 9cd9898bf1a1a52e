import { setTimeout as sleep } from 'node:timers/promises'

import { type Bench, RESYNC } from '../bench.ts'
import { cpuSeconds } from '../processes.ts'
import { line, type Section } from '../table.ts'

/** What the reconciler asks of the API server when there is nothing to do. */
export async function measureIdle({ audit, autopilot, effort }: Bench): Promise<Section> {
  const { pid } = autopilot.reconciler.child()
  await audit.untilQuiet()
  const mark = audit.mark()
  const cpuBefore = cpuSeconds(pid)
  const startedAt = performance.now()
  await sleep(effort.idleMs)
  const { watches, leases, others } = audit.since(mark)
  const minutes = (performance.now() - startedAt) / 60_000
  const perMinute = (what: string, { length: n }: readonly unknown[], goal?: string) =>
    line(what, '/min', { median: n / minutes, n }, goal)
  return {
    title: `Requests of the reconciler while everything is in sync (${Math.round(minutes * 60)} s, --resync=${RESYNC})`,
    lines: [
      perMinute('requests', others, '0'),
      perMinute('watches begun (they last four to six minutes)', watches),
      perMinute('reads and renewals of the Lease', leases),
      line(
        'processor time of the reconciler',
        'ms/min',
        (1000 * (cpuSeconds(pid) - cpuBefore)) / minutes,
      ),
    ],
    notes: [
      'Counted in the API server’s audit log (policy Metadata, for the reconciler’s account).',
      ...others.slice(0, 5).map(({ verb, requestURI }) => `asked: ${verb} ${requestURI}`),
    ],
  }
}
