import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Watches whether this machine stands still, and gives for how many milliseconds at most so far. What takes time that
 * nobody got is no fault of who had to be in time: the API server waits three seconds for a webhook.
 */
export function watchStalls(): () => number {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  return () => delays.max / 1e6
}

/** For how long a machine may stand still before a call may be lost by that. */
export const STALL_MS = 2_000
