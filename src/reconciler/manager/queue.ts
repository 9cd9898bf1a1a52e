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
// What failed while the API server was away must not wait much longer than that.
const LONGEST_RETRY_MS = 60_000
// Beyond this, setTimeout fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface Timed {
  readonly timer: NodeJS.Timeout
  readonly dueAt: number
}

/**
 * A queue of keys: a key that is added while it waits is worked on once, one that is added while it
 * is worked on is worked on again, and one that fails is retried by itself, never holding up another.
 * Whatever is added, be it by a change or by a resync, a key that failed waits out its backoff first.
 */
export class Queue {
  readonly #options: QueueOptions
  readonly #waiting = new Set<string>()
  readonly #active = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #retries = new Map<string, NodeJS.Timeout>()
  readonly #later = new Map<string, Timed>()
  #idle: (() => void)[] = []
  #isStopped = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Has the key worked on as soon as there is room for it, and after its backoff where it has failed. */
  add(key: string): void {
    if (this.#isStopped || this.#retries.has(key)) return
    this.#waiting.add(key)
    queueMicrotask(() => this.#start())
  }

  /** Adds the key after so many milliseconds; of several such times of one key the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (this.#isStopped) return
    const delay = Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS)
    const dueAt = performance.now() + delay
    const known = this.#later.get(key)
    if (known && known.dueAt <= dueAt) return
    clearTimeout(known?.timer)
    const timer = setTimeout(() => {
      this.#later.delete(key)
      this.add(key)
    }, delay)
    this.#later.set(key, { timer, dueAt })
  }

  /** Forgets every failure: what waits for its next try may be added again. */
  forgive(): void {
    for (const timer of this.#retries.values()) clearTimeout(timer)
    this.#retries.clear()
    this.#failures.clear()
  }

  /** Takes nothing new and resolves when the work in hand is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    for (const timer of this.#retries.values()) clearTimeout(timer)
    for (const { timer } of this.#later.values()) clearTimeout(timer)
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
      this.#failures.delete(key)
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
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    const longest = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS)
    const delay = longest * (0.5 + (this.#options.random ?? Math.random)() / 2)
    this.#options.onError(key, error, delay)
    if (this.#isStopped) return
    // What was added while it failed is what the retry will see.
    this.#waiting.delete(key)
    const retry = () => {
      this.#retries.delete(key)
      this.add(key)
    }
    this.#retries.set(key, setTimeout(retry, delay))
  }
}
