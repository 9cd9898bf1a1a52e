import { type Backoff, createBackoff } from './backoff.ts'

export interface WorkQueueOptions {
  /** Works on one key; a rejection is retried with backoff. */
  readonly work: (key: string) => Promise<void>
  readonly onError: (key: string, error: Error, retryInMs: number) => void
  /** Keys with a lower number start first; by default, the first that was added. */
  readonly orderOf?: (key: string) => number
  /** How many keys are worked on at a time; one by default. */
  readonly concurrency?: number
  /** Called when nothing is left to start and nothing is being worked on. */
  readonly onIdle?: () => void
  /** A number in [0, 1), for jitter. */
  readonly random?: () => number
}

// Beyond this, setTimeout fires at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface Timed {
  readonly timer: NodeJS.Timeout
  readonly dueAt: number
}

/**
 * A queue of keys: a key that is added while it waits is worked on once, one that is added while it is worked on is
 * worked on again, and one that fails is retried by itself with backoff, never holding up another. Whatever is added
 * meanwhile is worked on at once: a change may be what the retry waited for.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #waiting = new Set<string>()
  readonly #active = new Set<string>()
  readonly #backoffs = new Map<string, Backoff>()
  readonly #later = new Map<string, Timed>()
  #idle: (() => void)[] = []
  #isStopped = false

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  /** Has the key worked on as soon as there is room for it. */
  add(key: string): void {
    if (this.#isStopped) return
    this.#cancel(key)
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
    this.#cancel(key)
    this.#later.set(key, { timer: setTimeout(() => this.add(key), delay), dueAt })
  }

  /** Takes nothing new and resolves when the work in hand is done. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    for (const key of [...this.#later.keys()]) this.#cancel(key)
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #cancel(key: string): void {
    clearTimeout(this.#later.get(key)?.timer)
    this.#later.delete(key)
  }

  #start(): void {
    const { concurrency = 1 } = this.#options
    while (!this.#isStopped && this.#active.size < concurrency) {
      const key = this.#next()
      if (key === undefined) return
      this.#waiting.delete(key)
      this.#active.add(key)
      void this.#run(key)
    }
  }

  #next(): string | undefined {
    const { orderOf = () => 0 } = this.#options
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
      this.#backoffs.delete(key)
    } catch (error) {
      this.#retry(key, error as Error)
    }
    this.#active.delete(key)
    this.#start()
    if (this.#active.size > 0) return
    if (!this.#isStopped) this.#options.onIdle?.()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #retry(key: string, error: Error): void {
    const { random = Math.random, onError } = this.#options
    const backoff = this.#backoffs.get(key) ?? createBackoff({ random })
    this.#backoffs.set(key, backoff)
    const retryInMs = backoff.next()
    onError(key, error, retryInMs)
    // What was added while it failed is next at once.
    if (!this.#waiting.has(key)) this.addAfter(key, retryInMs)
  }
}
