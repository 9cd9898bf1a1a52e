import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Watches whether this machine stands still, and gives for how many milliseconds at most so far. What takes time that
 * nobody got is no fault of who had to be in time.
 */
export function watchStalls(): () => number {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  return () => delays.max / 1e6
}

/**
 * For how many seconds the API server waits for each of the webhook's entries where a test is not about that: longer than by default,
 * since a machine that tests share stands still for a second now and then, and a call that is lost by it says nothing of ours.
 */
export const PATIENCE_S = 3

/** For how long a machine may stand still before a call may be lost by that. */
export const STALL_MS = (PATIENCE_S - 1) * 1_000
