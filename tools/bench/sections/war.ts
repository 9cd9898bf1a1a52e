import { setTimeout as sleep } from 'node:timers/promises'

import { isForbidden } from '../../../src/shared/cluster/client.ts'
import { HEALTH_CHECK } from '../../../test/cluster/harness/objects.ts'
import type { Bench } from '../bench.ts'
import { HEALTH_CHECK_EDIT, writeAs } from '../edits.ts'
import { meterOf } from '../processes.ts'
import { line, type Section } from '../table.ts'

const PER_SECOND = 5
const CPU_GOAL = 'under 2 % of a core'
// All of them are lower than the baseline's.
const VALUES = 50

/** What an edit war costs both processes: with the webhook, and where it is away. */
export async function measureWar(bench: Bench): Promise<Section> {
  const there = await fight(bench)
  const away = await bench.withoutWebhook(() => fight(bench))
  const n = there.denied.length
  return {
    title: `Edit war: one user changes a managed field ${PER_SECOND} times a second (${bench.effort.warMs / 1000} s)`,
    lines: [
      line('webhook there: stored changes', '', { median: there.stored, n }, '0'),
      line('  corrected before the first denial', '', [...there.denied, true].indexOf(true), '5'),
      line('  denied from then on', '', { median: there.denied.filter(Boolean).length, n }),
      line('  requests', '', { median: there.requests, n }),
      line('  processor time of the webhook, of a core', '%', there.webhook, CPU_GOAL),
      line('  of the reconciler', '%', there.reconciler, CPU_GOAL),
      line('webhook away: requests until the reconciler is throttled', '', away.requests),
      line('  until the last of them', 's', away.lastRequest),
      line('  processor time of the reconciler, of a core', '%', away.reconciler, CPU_GOAL),
    ],
    notes: [
      'Each attempt has another value. Stored changes are by the object’s generation; requests are the reconciler’s, by the audit log, without watches and Lease.',
    ],
  }
}

/** Edits at an even rate; which were denied, what came of it, and what it cost. */
async function fight({ audit, autopilot, client, effort, read }: Bench) {
  await audit.untilQuiet()
  const generation = async () => (await read(HEALTH_CHECK)).metadata.generation
  const before = await generation()
  const mark = audit.mark()
  const used = meterOf(autopilot)
  const startedAt = Date.now()
  const untilMs = (ms: number) => sleep(Math.max(0, startedAt + ms - Date.now()))
  const denied: boolean[] = []
  for (let attempt = 0; attempt < (effort.warMs / 1000) * PER_SECOND; attempt++) {
    await untilMs((1000 / PER_SECOND) * attempt)
    const patch = { spec: { minHealthy: `${(attempt % VALUES) + 1}%` } }
    const isDenied = await writeAs(client, 'mallory', HEALTH_CHECK_EDIT, patch).then(
      () => false,
      (error) => {
        if (!isForbidden(error)) throw error
        return true
      },
    )
    denied.push(isDenied)
  }
  await untilMs(effort.warMs)
  const { others } = audit.since(mark)
  const answered = others.map(({ stageTimestamp }) => Date.parse(stageTimestamp) - startedAt)
  return {
    ...used(),
    denied,
    stored: (await generation()) - before,
    requests: others.length,
    lastRequest: Math.max(...answered) / 1000,
  }
}
