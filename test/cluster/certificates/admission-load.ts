import { setTimeout as sleep } from 'node:timers/promises'
import type { AutopilotCluster } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { HCO, HEALTH_CHECK, KUBELET, METALLB } from '../harness/objects.ts'
import { STALL_MS, watchStalls } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'

/** What a test asserts with: tap's `t`. */
interface Asserts {
  same(found: unknown, wanted: unknown): boolean
  ok(found: unknown, ...message: [string]): boolean
}

/** What came of the calls to the webhook while something was done. */
export interface Judged {
  /** Each answer that a write got, other than 200. */
  readonly failed: readonly string[]
  /** How many edits of a managed field were put back, and how many passed. */
  readonly corrected: number
  readonly passed: number
  /** How many calls failed and let the write pass, as the API server counts. */
  readonly failedOpen: number
  /** How many of them no webhook could have kept: the machine stood still, and the API server gave up those in hand. */
  readonly excused: number
}

const MERGE = 'application/merge-patch+json'
// Of each of four writers: 20 writes a second together; this pace is the load itself.
const EVERY_MS = 200
const ENOUGH = 20

/** What nobody is spared who loads a cluster on purpose. */
export const LOAD_FLAGS = ['--contest-limit=1000000']

/**
 * Writes to four managed objects all the while, one of them an edit that is to be put back, and tells what came of it.
 * There are at least twenty writes before the work, and twenty after it.
 */
export async function underLoad(
  cluster: AutopilotCluster,
  work: () => Promise<unknown>,
): Promise<Judged> {
  const failed: string[] = []
  const counts = { corrected: 0, passed: 0, writes: 0 }
  const write = async (path: string, body: object) => {
    const answer = await cluster.admin('PATCH', path, body, MERGE)
    counts.writes++
    if (answer.status !== 200) failed.push(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }
  const label = (path: string) => (n: number | null) =>
    write(path, { metadata: { labels: { 'example.com/load': n === null ? null : `${n}` } } })
  const edit = async (n: number | null) => {
    if (n === null) return
    const { body } = await write(HEALTH_CHECK, { spec: { minHealthy: `${n % 50}%` } })
    const isCorrected = (body as { spec?: { minHealthy: string } }).spec?.minHealthy === '51%'
    counts[isCorrected ? 'corrected' : 'passed']++
  }
  const before = (await callsOf(cluster)).failedOpen
  const stalledMs = watchStalls()
  let isEnding = false
  const writers = [...[HCO, METALLB, KUBELET].map(label), edit].map(async (writeNext) => {
    for (let n = 0; !isEnding; n++) await Promise.all([writeNext(n), sleep(EVERY_MS)])
    await writeNext(null)
  })
  const more = async () => {
    const start = counts.writes
    await until('enough is written', async () => counts.writes >= start + ENOUGH, 90_000)
  }
  try {
    await more()
    await work()
    await more()
  } finally {
    isEnding = true
    await Promise.all(writers)
  }
  const { corrected, passed } = counts
  const failedOpen = (await callsOf(cluster)).failedOpen - before
  // One write of each writer is in hand at a time, and has two calls.
  const excused = stalledMs() < STALL_MS ? 0 : 2 * writers.length
  return { failed, corrected, passed, failedOpen, excused }
}

/** No write and no call failed, every edit was put back, and there were some. */
export function losesNone(
  t: Asserts,
  { failed, corrected, passed, failedOpen, excused }: Judged,
): void {
  t.same(failed, [])
  t.ok(failedOpen <= excused, `${failedOpen} calls lost, ${excused} of them excused`)
  t.ok(passed <= excused, `${passed} edits passed`)
  t.ok(corrected > 0, 'some edits were put back')
}
