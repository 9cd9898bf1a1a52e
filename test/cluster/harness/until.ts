import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 20

/** Asks until the answer is something, and gives it back; a test that waits in vain says for what. */
export async function until<Found>(
  what: string,
  look: () => Promise<Found | undefined | false>,
  withinMs = 60_000,
): Promise<Found> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${what}`)
    await sleep(POLL_MS)
  }
}
