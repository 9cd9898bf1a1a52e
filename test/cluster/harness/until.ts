import { setTimeout as sleep } from 'node:timers/promises'

const SHORTEST_MS = 20
const LONGEST_MS = 250

/**
 * Asks until the answer is something, and gives it back; a test that waits in vain says for what. The longer it waits the less often
 * it asks, and learns of the answer at most a twentieth later: asking is what test files need most of the processors for.
 */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
  withinMs = 60_000,
): Promise<Found> {
  const start = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    const elapsed = performance.now() - start
    if (elapsed > withinMs) throw new Error(`not so within ${withinMs} ms: ${what}`)
    await sleep(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, elapsed / 20)))
  }
}
