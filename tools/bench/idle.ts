import { setTimeout as sleep } from 'node:timers/promises'

import { type Bench, RESYNC } from './cluster.ts'
import { cpuSeconds } from './process-numbers.ts'
import type { Line, Section } from './table.ts'

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
  const cpuAfter = cpuSeconds(pid)
  const cpuMs =
    cpuBefore === undefined || cpuAfter === undefined ? undefined : 1000 * (cpuAfter - cpuBefore)
  const perMinute = (what: string, count: number): Line => ({
    what,
    unit: '/min',
    median: count / minutes,
    n: count,
  })
  const seconds = Math.round(minutes * 60)
  return {
    title: `Requests of the reconciler while everything is in sync (${seconds} s, --resync=${RESYNC})`,
    lines: [
      { ...perMinute('requests', others.length), goal: '0' },
      perMinute('watches begun (they last four to six minutes)', watches.length),
      perMinute('reads and renewals of the Lease', leases.length),
      {
        what: 'processor time of the reconciler',
        unit: 'ms/min',
        median: cpuMs === undefined ? undefined : cpuMs / minutes,
      },
    ],
    notes: [
      'Counted in the API server’s audit log (policy Metadata, for the reconciler’s account).',
      ...others.slice(0, 5).map(({ verb, requestURI }) => `asked: ${verb} ${requestURI}`),
    ],
  }
}
