import { setTimeout as sleep } from 'node:timers/promises'

import { type Bench, RESYNC } from '../bench.ts'
import { meterOf } from '../processes.ts'
import { line, type Section } from '../table.ts'

/** What both processes do when there is nothing to do. */
export async function measureIdle({ audit, autopilot, effort }: Bench): Promise<Section> {
  await audit.untilQuiet()
  const mark = audit.mark()
  const used = meterOf(autopilot)
  await sleep(effort.idleMs)
  const { watches, leases, others } = audit.since(mark)
  const { seconds, webhook, reconciler } = used()
  const perMinute = (what: string, { length: n }: readonly unknown[], goal?: string) =>
    line(what, '/min', { median: (60 * n) / seconds, n }, goal)
  return {
    title: `Requests of the reconciler while everything is in sync (${Math.round(seconds)} s, --resync=${RESYNC})`,
    lines: [
      perMinute('requests', others, '0'),
      perMinute('watches begun (they last four to six minutes)', watches),
      perMinute('reads and renewals of the Lease', leases),
      line('processor time of the reconciler, of a core', '%', reconciler),
      line('  of the webhook', '%', webhook),
    ],
    notes: [
      'Counted in the API server’s audit log (policy Metadata, for the reconciler’s account).',
      ...others.slice(0, 5).map(({ verb, requestURI }) => `asked: ${verb} ${requestURI}`),
    ],
  }
}
