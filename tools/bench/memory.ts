import { authority } from './authority.ts'
import type { Bench } from './cluster.ts'
import { connectTo } from './load.ts'
import { memoryOf } from './process-numbers.ts'
import { reviewsOf } from './reviews.ts'
import type { Line, Section } from './table.ts'

/** With how many nodes the goal is to be met. */
export const GOAL_NODES = 1_000
/** What a process may take, whatever it was asked before. */
export const MEMORY_GOAL = `under 120 MB with ${GOAL_NODES.toLocaleString('en')} nodes`

const HOSTILE_REVIEWS = 10
const HOSTILE_BYTES = 6.5 * 1024 * 1024

/** The memory of both processes, as shipped, after all that was asked of them before, and of the webhook when it was abused. */
export async function measureMemory(bench: Bench): Promise<Section> {
  const { autopilot } = bench
  const lines = [autopilot.webhook, autopilot.reconciler].flatMap((process): readonly Line[] => {
    const { name, pid } = process.child()
    const memory = memoryOf(pid)
    return [
      { what: name, unit: 'MB', median: memory?.now, goal: MEMORY_GOAL },
      { what: '  at its peak', unit: 'MB', median: memory?.peak, goal: MEMORY_GOAL },
    ]
  })
  const longestMs = await abuse(bench)
  const abused = memoryOf(autopilot.webhook.child().pid)
  const what = `${HOSTILE_REVIEWS} reviews of ${HOSTILE_BYTES / 1024 / 1024} MiB of empty maps`
  const hostile: readonly Line[] = [
    { what: `webhook after ${what}`, unit: 'MB', median: abused?.now, goal: MEMORY_GOAL },
    { what: '  at its peak', unit: 'MB', median: abused?.peak },
    { what: '  longest answer to one of them', unit: 'ms', median: longestMs },
  ]
  return {
    title: 'Memory (bundled, as shipped), after the runs above',
    lines: [...lines, ...hostile],
  }
}

/** Sends what takes the most memory for its size, one after the other; gives the longest time that one was waited for. */
async function abuse(bench: Bench): Promise<number> {
  const [review] = await reviewsOf(bench)
  if (!review) throw new Error('there is no review to abuse')
  const junk = `[${'{},'.repeat(HOSTILE_BYTES / 3)}{}]`
  const text = String(review.bodyFor('mallory')).replace(
    '"spec":{',
    () => `"spec":{"junk":${junk},`,
  )
  const connection = connectTo(bench.autopilot.webhookUrl, await authority(bench), 1)
  try {
    let longestMs = 0
    for (let count = 0; count < HOSTILE_REVIEWS; count++) {
      const sentAt = performance.now()
      await connection.post(Buffer.from(text))
      longestMs = Math.max(longestMs, performance.now() - sentAt)
    }
    return longestMs
  } finally {
    await connection.close()
  }
}
