export interface CycleOptions {
  readonly work: () => Promise<void>
  readonly onTrouble: (error: Error) => void
  /** How long to wait after the first error; each further one doubles it, up to a minute. */
  readonly retryMs: number
  readonly signal: AbortSignal
}

export interface Cycle {
  /** Has the work done after so many milliseconds at the latest; never twice at once, and once for a burst. */
  readonly soon: (delayMs: number) => void
  /** Resolves when no work is in hand. */
  readonly settled: () => Promise<void>
}

const LONGEST_RETRY_MS = 60_000

/** Work that is asked for often and done one at a time, again after an error. */
export function createCycle({ work, onTrouble, retryMs, signal }: CycleOptions): Cycle {
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let inHand: Promise<void> | undefined
  let isDueAgain = false
  let retryInMs = retryMs

  const soon = (delayMs: number) => {
    const at = performance.now() + delayMs
    if (signal.aborted || at >= dueAt) return
    dueAt = at
    clearTimeout(timer)
    timer = setTimeout(start, delayMs)
  }
  const start = () => {
    dueAt = Number.POSITIVE_INFINITY
    if (signal.aborted) return
    // What comes due meanwhile finds us working. No clock decides that: a timer may fire before its time.
    isDueAgain = inHand !== undefined
    inHand ??= run().finally(() => {
      inHand = undefined
      if (isDueAgain) start()
    })
  }
  const run = async () => {
    try {
      await work()
      retryInMs = retryMs
    } catch (error) {
      onTrouble(error as Error)
      soon(retryInMs)
      retryInMs = Math.min(retryInMs * 2, LONGEST_RETRY_MS)
    }
  }
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  return { soon, settled: async () => inHand }
}
