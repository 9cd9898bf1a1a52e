import { setTimeout as sleep } from 'node:timers/promises'

import { ApiError, type Client } from '../../src/shared/cluster/client.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import { watch } from '../../src/shared/cluster/watch.ts'
import { type Bench, type Setup, withBench } from './cluster.ts'
import { HEALTH_CHECK_EDIT, writeAs } from './edits.ts'
import { cpuSeconds } from './process-numbers.ts'
import type { Line, Section } from './table.ts'

const PER_SECOND = 5
const INTRUDER = 'mallory'
const CPU_GOAL = 'under 2 % of a core'
// All of them are lower than the baseline's.
const VALUES = 50

/** What an edit war costs both processes: at the door, and where the webhook is away. */
export const measureWar = (setup: Setup): Promise<Section> =>
  // On a cluster of its own: elsewhere in the benchmark nobody may be throttled.
  withBench({ ...setup, reconcilerFlags: [] }, async (bench) => {
    const seconds = bench.effort.warMs / 1000
    await bench.audit.untilQuiet()
    const rest = await shares(bench, () => sleep(bench.effort.warMs))
    const lines = [
      shareLine('before the war: processor time of the webhook, of a core', rest.webhook),
      shareLine('  of the reconciler', rest.reconciler),
      ...(await atTheDoor(bench)),
      ...(await pastTheDoor(bench)),
    ]
    return {
      title: `Edit war: one user changes a managed field ${PER_SECOND} times a second (${seconds} s)`,
      lines,
      notes: [
        'Each attempt has another value. Stored changes are by the object’s generation; requests are the reconciler’s,',
        'by the audit log, without watches and Lease. Throttled by the event that says so.',
      ],
    }
  })

async function atTheDoor(bench: Bench): Promise<readonly Line[]> {
  const before = await generation(bench)
  const mark = bench.audit.mark()
  let codes: readonly number[] = []
  const used = await shares(bench, async () => {
    codes = await attempts(bench.client, bench.effort.warMs)
  })
  const stored = (await generation(bench)) - before
  const firstDenial = codes.indexOf(403)
  const others = bench.audit.since(mark).others.length
  const n = codes.length
  return [
    { what: 'webhook there: stored changes', unit: '', median: stored, n, goal: '0' },
    {
      what: '  corrected before the first denial',
      unit: '',
      median: firstDenial < 0 ? n : firstDenial,
      goal: '5',
    },
    {
      what: '  denied from then on',
      unit: '',
      median: codes.filter((code) => code === 403).length,
      n,
    },
    { what: '  requests', unit: '', median: others, n },
    shareLine('  processor time of the webhook, of a core', used.webhook, CPU_GOAL),
    shareLine('  of the reconciler', used.reconciler, CPU_GOAL),
  ]
}

async function pastTheDoor(bench: Bench): Promise<readonly Line[]> {
  const { autopilot, audit, client, effort } = bench
  await autopilot.webhook.child().kill()
  await audit.untilQuiet()
  const { pid } = autopilot.reconciler.child()
  const ending = new AbortController()
  const read = () => ({ at: performance.now(), cpu: cpuSeconds(pid), mark: audit.mark() })
  let throttled: ReturnType<typeof read> | undefined
  await watchThrottling(client, ending.signal, () => {
    throttled ??= read()
  })
  const start = read()
  const codes = await attempts(client, effort.warMs)
  ending.abort()
  const end = read()
  if (!throttled) throw new Error(`the reconciler was not throttled by ${codes.length} edits`)
  const requests = audit.since(start.mark).others.length
  const requestsAfter = audit.since(throttled.mark).others.length
  return [
    {
      what: 'webhook away: until the reconciler is throttled',
      unit: 's',
      median: (throttled.at - start.at) / 1000,
    },
    { what: '  requests until then', unit: '', median: requests - requestsAfter },
    shareLine('  processor time of the reconciler until then', shareOf(start, throttled)),
    { what: '  requests from then on', unit: '', median: requestsAfter },
    shareLine('  processor time from then on', shareOf(throttled, end), CPU_GOAL),
  ]
}

/** Edits at an even rate; the status of each answer. */
async function attempts(client: Client, forMs: number): Promise<readonly number[]> {
  const codes: number[] = []
  const startedAt = performance.now()
  const count = Math.round((forMs / 1000) * PER_SECOND)
  for (let attempt = 0; attempt < count; attempt++) {
    await sleep(Math.max(0, startedAt + (1000 / PER_SECOND) * attempt - performance.now()))
    codes.push(await edit(client, { spec: { minHealthy: `${(attempt % VALUES) + 1}%` } }))
  }
  await sleep(Math.max(0, startedAt + forMs - performance.now()))
  return codes
}

async function edit(client: Client, patch: object): Promise<number> {
  try {
    await writeAs(client, INTRUDER, HEALTH_CHECK_EDIT, patch)
    return 200
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return error.status
    throw error
  }
}

async function generation({ client }: Bench): Promise<number> {
  const { body } = await client.send(pathOf(HEALTH_CHECK_EDIT.at, HEALTH_CHECK_EDIT.name))
  return (body as { metadata: { generation: number } }).metadata.generation
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

interface Reading {
  readonly at: number
  readonly cpu: number | undefined
}

/** The share of one core that was used from one reading to another, in percent. */
const shareOf = (from: Reading, to: Reading) =>
  from.cpu === undefined || to.cpu === undefined
    ? undefined
    : (100_000 * (to.cpu - from.cpu)) / (to.at - from.at)

interface Shares {
  readonly webhook: number | undefined
  readonly reconciler: number | undefined
}

async function shares({ autopilot }: Bench, work: () => Promise<void>): Promise<Shares> {
  const read = () => {
    const reading = (pid: number) => ({ at: performance.now(), cpu: cpuSeconds(pid) })
    return {
      webhook: reading(autopilot.webhook.child().pid),
      reconciler: reading(autopilot.reconciler.child().pid),
    }
  }
  const before = read()
  await work()
  const after = read()
  return {
    webhook: shareOf(before.webhook, after.webhook),
    reconciler: shareOf(before.reconciler, after.reconciler),
  }
}

const shareLine = (what: string, median: number | undefined, goal = ''): Line => ({
  what,
  unit: '%',
  median,
  goal,
})
