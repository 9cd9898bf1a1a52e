export interface QueueOptions {
  /** Works on one key; a rejection is retried with backoff. */
  readonly work: (key: string) => Promise<void>
  readonly onError: (key: string, error: Error, retryInMs: number) => void
  /** Keys with a lower number start first. */
  readonly orderOf: (key: string) => number
  readonly concurrency: number
  /** Called when nothing is left to start and nothing is being worked on. */
  readonly onIdle?: () => void
  /** A number in [0, 1), for jitter. */
  readonly random?: () => number
}

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 5 * 60_000

/**
 * A queue of keys: a key that is added while it waits is worked on once, one that is added while it
 * is worked on is worked on again, and one that fails is retried by itself, never holding up another.
 */
export class Queue {
  readonly #options: QueueOptions
  readonly #waiting = new Set<string>()
  readonly #active = new Set<string>()
  readonly #retries = new Map<string, { failures: number; timer: NodeJS.Timeout | undefined }>()
  #idle: (() => void)[] = []
  #isStopped = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  add(key: string): void {
    if (this.#isStopped) return
    clearTimeout(this.#retries.get(key)?.timer)
    this.#waiting.add(key)
    queueMicrotask(() => this.#start())
  }

  /** Takes nothing new and resolves when the work in hand is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    for (const { timer } of this.#retries.values()) clearTimeout(timer)
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #start(): void {
    while (!this.#isStopped && this.#active.size < this.#options.concurrency) {
      const key = this.#next()
      if (key === undefined) return
      this.#waiting.delete(key)
      this.#active.add(key)
      void this.#run(key)
    }
  }

  #next(): string | undefined {
    const { orderOf } = this.#options
    let best: string | undefined
    for (const key of this.#waiting) {
      if (this.#active.has(key)) continue
      if (best === undefined || orderOf(key) < orderOf(best)) best = key
    }
    return best
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#options.work(key)
      this.#retries.delete(key)
    } catch (error) {
      this.#retryLater(key, error as Error)
    }
    this.#active.delete(key)
    this.#start()
    if (this.#active.size > 0) return
    if (!this.#isStopped) this.#options.onIdle?.()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #retryLater(key: string, error: Error): void {
    const failures = (this.#retries.get(key)?.failures ?? 0) + 1
    const longest = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS)
    const delay = longest * (0.5 + (this.#options.random ?? Math.random)() / 2)
    this.#options.onError(key, error, delay)
    const timer = this.#isStopped ? undefined : setTimeout(() => this.add(key), delay)
    this.#retries.set(key, { failures, timer })
  }
}
