import { cut } from '../engine/format-value.ts'

/** What went wrong the last times that something was tried, and when it is tried again. */
export interface Failure {
  readonly message: string
  /** How often in a row. */
  readonly attempts: number
  /** Of the first of them, and from when on it is tried again: milliseconds, as all times of the graph engine. */
  readonly since: number
  readonly retryAt: number
  /** The hash of what was applied in vain, since something else is tried at once; absent where it was a delete. */
  readonly hash?: string
}

export const FIRST_RETRY_MS = 1_000
export const LONGEST_RETRY_MS = 300_000

/** How long the messages of nodes may be, in bytes: all of them lie in one status. */
export const MAX_MESSAGE_BYTES = 512

/** A message as status may hold it: one line, printable, bounded. */
export const bounded = (message: string) => cut(message.trim(), MAX_MESSAGE_BYTES)

export interface FailureInput {
  readonly message: string
  readonly hash?: string | undefined
  readonly now: number
  /** A number in [0, 1), so that many who failed together do not come back together. */
  readonly jitter: number
}

/** The failure after one more: half to all of 1 s, and of twice as long each further time, up to 5 min, for ever. */
export function failedAgain(
  previous: Failure | undefined,
  { message, hash, now, jitter }: FailureInput,
): Failure {
  const again = previous?.hash === hash ? previous : undefined
  const attempts = (again?.attempts ?? 0) + 1
  const limitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 30), LONGEST_RETRY_MS)
  return {
    message: bounded(message),
    attempts,
    since: again?.since ?? now,
    retryAt: now + limitMs * (0.5 + jitter / 2),
    ...(hash !== undefined && { hash }),
  }
}
