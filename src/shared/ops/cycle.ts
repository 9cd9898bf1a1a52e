export interface CycleOptions {
  readonly work: () => Promise<void>
  readonly onTrouble: (error: Error) => void
  readonly retryMs: number
  readonly signal: AbortSignal
}

export interface Cycle {
  /** Has the work done after so many milliseconds at the latest; never twice at once, and once for a burst. */
  readonly soon: (delayMs: number) => void
}

/** Work that is asked for often and done one at a time, again after an error. */
export function createCycle({ work, onTrouble, retryMs, signal }: CycleOptions): Cycle {
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let isWorking = false

  const soon = (delayMs: number) => {
    const at = performance.now() + delayMs
    if (signal.aborted || at >= dueAt) return
    dueAt = at
    clearTimeout(timer)
    timer = setTimeout(run, delayMs)
  }
  const run = async () => {
    if (isWorking || signal.aborted) return
    isWorking = true
    dueAt = Number.POSITIVE_INFINITY
    try {
      await work()
    } catch (error) {
      onTrouble(error as Error)
      soon(retryMs)
    }
    isWorking = false
    // What came due meanwhile found us working.
    if (performance.now() >= dueAt) void run()
  }
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return { soon }
}
