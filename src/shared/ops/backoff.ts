import { setTimeout as sleep } from 'node:timers/promises'

export interface BackoffOptions {
  readonly firstMs?: number
  readonly longestMs?: number
  /** A number in [0, 1), for jitter. */
  readonly random?: () => number
}

/** How long to wait after each failure in a row. */
export interface Backoff {
  /** Milliseconds: half to all of the first wait, and of twice as long each further time. */
  readonly next: () => number
  /** It went well: the next wait is a first one. */
  readonly reset: () => void
}

const FIRST_MS = 200
// What failed while the API server was away must not wait much longer than that.
const LONGEST_MS = 60_000

/** Creates an exponential backoff with jitter, so that many who failed together do not come back together. */
export function createBackoff({
  firstMs = FIRST_MS,
  longestMs = LONGEST_MS,
  random = Math.random,
}: BackoffOptions = {}): Backoff {
  let waitMs = firstMs
  return {
    next() {
      const limitMs = waitMs
      waitMs = Math.min(waitMs * 2, longestMs)
      return limitMs * (0.5 + random() / 2)
    },
    reset() {
      waitMs = firstMs
    },
  }
}

export interface RetryOptions {
  readonly onTrouble: (error: Error) => void
  readonly signal: AbortSignal
}

const RETRY_MS = 1_000

/** Does something until it succeeds, again a second after each failure; rejects only when the signal aborts. */
export async function retry<T>(
  work: () => Promise<T>,
  { onTrouble, signal }: RetryOptions,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      onTrouble(error as Error)
      await sleep(RETRY_MS, undefined, { signal })
    }
  }
}
