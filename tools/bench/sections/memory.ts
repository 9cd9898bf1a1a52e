import type { Bench } from '../bench.ts'
import { connectTo } from '../load.ts'
import { memoryOf } from '../processes.ts'
import { reviewsOf } from '../reviews.ts'
import { type Line, line, type Section } from '../table.ts'

/** With how many nodes the goal is to be met. */
export const GOAL_NODES = 1_000
const GOAL = `under 120 MB with ${GOAL_NODES.toLocaleString('en')} nodes`
const HOSTILE_REVIEWS = 10
const HOSTILE_BYTES = 6.5 * 1024 * 1024

/** The memory of both processes, as shipped, after all that was asked of them before, and of the webhook when it was abused. */
export async function measureMemory(bench: Bench): Promise<Section> {
  const before = [memoryLines(bench, 'webhook', ''), memoryLines(bench, 'reconciler', '')]
  const longestMs = await abuse(bench)
  const what = ` after ${HOSTILE_REVIEWS} reviews of ${HOSTILE_BYTES / 1024 / 1024} MiB of empty maps`
  return {
    title: 'Memory (bundled, as shipped), after the runs above',
    lines: [
      ...before.flat(),
      ...memoryLines(bench, 'webhook', what),
      line('  longest answer to one of them', 'ms', longestMs),
    ],
  }
}

/** What a process takes now, and what it took at its peak. */
export function memoryLines(
  { autopilot }: Bench,
  of: 'webhook' | 'reconciler',
  when: string,
  goal = GOAL,
): readonly Line[] {
  const { now, peak } = memoryOf(autopilot[of].child().pid)
  return [line(`${of}${when}`, 'MB', now, goal), line('  at its peak', 'MB', peak, goal)]
}

/** Sends what takes the most memory for its size, one after the other; gives the longest time that one was waited for. */
async function abuse(bench: Bench): Promise<number> {
  const [review] = await reviewsOf(bench)
  if (!review) throw new Error('there is no review to abuse')
  const junk = `[${'{},'.repeat(HOSTILE_BYTES / 3)}{}]`
  const clean = String(review.bodyFor('mallory'))
  const body = Buffer.from(clean.replace('"spec":{', () => `"spec":{"junk":${junk},`))
  const connection = connectTo(bench.autopilot.webhookUrl, await bench.authority(), 1)
  try {
    let longestMs = 0
    for (let count = 0; count < HOSTILE_REVIEWS; count++) {
      const sentAt = performance.now()
      await connection.post(body)
      longestMs = Math.max(longestMs, performance.now() - sentAt)
    }
    return longestMs
  } finally {
    await connection.close()
  }
}
