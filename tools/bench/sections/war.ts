import { setTimeout as sleep } from 'node:timers/promises'

import { type Client, isForbidden } from '../../../src/shared/cluster/client.ts'
import { watch } from '../../../src/shared/cluster/watch.ts'
import { HEALTH_CHECK } from '../../../test/cluster/harness/autopilot-fixture.ts'
import type { Bench } from '../bench.ts'
import { HEALTH_CHECK_EDIT, writeAs } from '../edits.ts'
import { cpuSeconds } from '../processes.ts'
import { type Line, line, type Section } from '../table.ts'

const PER_SECOND = 5
const CPU_GOAL = 'under 2 % of a core'
// All of them are lower than the baseline's.
const VALUES = 50

/** What an edit war costs both processes: with the webhook, and where it is away. */
export async function measureWar(bench: Bench): Promise<Section> {
  const { audit, effort } = bench
  await audit.untilQuiet()
  const before = read(bench)
  await sleep(effort.warMs)
  const rest = usage(before, read(bench))
  return {
    title: `Edit war: one user changes a managed field ${PER_SECOND} times a second (${effort.warMs / 1000} s)`,
    lines: [
      line('before the war: processor time of the webhook, of a core', '%', rest.webhook),
      line('  of the reconciler', '%', rest.reconciler),
      ...(await withWebhook(bench)),
      ...(await bench.withoutWebhook(() => withoutWebhook(bench))),
    ],
    notes: [
      'Each attempt has another value. Stored changes are by the object’s generation; requests are the reconciler’s,',
      'by the audit log, without watches and Lease. Throttled by the event that says so.',
    ],
  }
}

async function withWebhook(bench: Bench): Promise<readonly Line[]> {
  const generation = async () => (await bench.read(HEALTH_CHECK)).metadata.generation
  const generationBefore = await generation()
  const before = read(bench)
  const denied = await attempts(bench)
  const { requests, webhook, reconciler } = usage(before, read(bench))
  const stored = (await generation()) - generationBefore
  const n = denied.length
  return [
    line('webhook there: stored changes', '', { median: stored, n }, '0'),
    line('  corrected before the first denial', '', [...denied, true].indexOf(true), '5'),
    line('  denied from then on', '', { median: denied.filter(Boolean).length, n }),
    line('  requests', '', { median: requests, n }),
    line('  processor time of the webhook, of a core', '%', webhook, CPU_GOAL),
    line('  of the reconciler', '%', reconciler, CPU_GOAL),
  ]
}

async function withoutWebhook(bench: Bench): Promise<readonly Line[]> {
  await bench.audit.untilQuiet()
  const ending = new AbortController()
  let throttled: Reading | undefined
  await watchThrottling(bench.client, ending.signal, () => {
    throttled ??= read(bench)
  })
  const start = read(bench)
  await attempts(bench)
  ending.abort()
  if (!throttled) throw new Error('the reconciler was not throttled')
  const until = usage(start, throttled)
  const after = usage(throttled, read(bench))
  return [
    line('webhook away: until the reconciler is throttled', 's', until.seconds),
    line('  requests until then', '', until.requests),
    line('  processor time of the reconciler until then', '%', until.reconciler),
    line('  requests from then on', '', after.requests),
    line('  processor time from then on', '%', after.reconciler, CPU_GOAL),
  ]
}

/** Edits at an even rate; whether each was denied. */
async function attempts({ client, effort: { warMs } }: Bench): Promise<readonly boolean[]> {
  const denied: boolean[] = []
  const startedAt = performance.now()
  const untilMs = (ms: number) => sleep(Math.max(0, startedAt + ms - performance.now()))
  for (let attempt = 0; attempt < (warMs / 1000) * PER_SECOND; attempt++) {
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
  await untilMs(warMs)
  return denied
}

async function watchThrottling(client: Client, signal: AbortSignal, onThrottled: () => void) {
  const synced = Promise.withResolvers<void>()
  void watch({
    client,
    at: { apiVersion: 'events.k8s.io/v1', resource: 'events' },
    signal,
    onSync: synced.resolve,
    onTrouble: synced.reject,
    onChange(_key, object) {
      if ((object as { reason?: string } | undefined)?.reason === 'Throttled') onThrottled()
    },
  })
  await synced.promise
}

type Reading = ReturnType<typeof read>

const read = ({ autopilot, audit }: Bench) => ({
  at: performance.now(),
  webhook: cpuSeconds(autopilot.webhook.child().pid),
  reconciler: cpuSeconds(autopilot.reconciler.child().pid),
  /** How many requests the reconciler has made so far. */
  requests: audit.since(0).others.length,
})

/** What was used from one reading to another: of a core in percent. */
function usage(from: Reading, to: Reading) {
  const seconds = (to.at - from.at) / 1000
  const share = (of: 'webhook' | 'reconciler') => (100 * (to[of] - from[of])) / seconds
  const requests = to.requests - from.requests
  return { seconds, webhook: share('webhook'), reconciler: share('reconciler'), requests }
}
