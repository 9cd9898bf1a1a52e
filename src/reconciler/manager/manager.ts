import type { Client } from '../../shared/cluster/client.ts'
import { type Source, Store } from '../../shared/cluster/store.ts'
import { WorkQueue } from '../../shared/ops/work-queue.ts'
import { createElection, type Election } from './leader-election.ts'

/** What changed: one object of a source, by its key, or without one the source as a whole. */
export interface Change {
  readonly source: string
  readonly key?: string
}

/** A key of a controller, and after how many milliseconds it is to be worked on; at once by default. */
export interface Due {
  readonly key: string
  readonly afterMs?: number
}

/** One thing that a process keeps in order: what it watches, what a change concerns, and what it does about that. */
export interface Controller {
  readonly name: string
  /** What it watches from the start on; it may follow more in the store, under its name. */
  readonly sources?: readonly Source[]
  /** Which of its keys a change concerns; none by default. */
  readonly keysOf?: (change: Change) => readonly Due[]
  /** Called when we begin to lead, and every now and then: which keys to work on, whether or not anything changed. */
  readonly resync: () => Iterable<string>
  /** Does what is due for one key. Returns after how many milliseconds to look again, if any; a rejection is retried with backoff. */
  readonly reconcile: (key: string) => Promise<number | undefined>
  readonly onError: (key: string, error: Error, retryInMs: number) => void
  /** Keys with a lower number start first. */
  readonly orderOf?: (key: string) => number
  readonly concurrency?: number
  /** Called when nothing is left to do. */
  readonly onIdle?: () => void
  /** Whether it works without leading, too: it only reads. */
  readonly isReader?: boolean
  /** Goes on from what an earlier leader left, or publishes, before the first key is worked on. The signal aborts when the Lease is lost. */
  readonly onElected?: (signal: AbortSignal) => Promise<void>
  readonly onLost?: () => void
}

/** Whether this process competes for the Lease, leads without asking, or never leads. */
export type Leadership = 'elect' | 'assume' | 'never'

export interface ManagerOptions {
  readonly client: Client
  readonly namespace: string
  readonly lease: string
  /** What no other process calls itself. */
  readonly holder: string
  readonly leadership: Leadership
  readonly resyncMs: number
  readonly onElected: () => void
  readonly onLost: (reason: string) => void
  readonly onElectionTrouble: (error: Error) => void
  /** A source cannot be read, told once until it can. */
  readonly onWatchTrouble: (source: string, error: Error) => void
  /** A source that was in trouble was read again. */
  readonly onWatchRecovery: () => void
}

interface Running {
  readonly controller: Controller
  readonly queue: WorkQueue
}

/** Runs the controllers of one system over one store of watches, as the one leader where they write. */
export class Manager {
  /** What the cluster looks like, as far as the controllers watch it. */
  readonly store: Store
  readonly #options: ManagerOptions
  readonly #running = new Map<string, Running>()
  readonly #election: Election
  readonly #released = new AbortController()
  readonly #troubled = new Set<string>()
  #term = new AbortController()
  /** Whether what an earlier leader left was taken over. */
  #isTakenOver = false
  #resync: NodeJS.Timeout | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.store = new Store({
      client: options.client,
      onChange: (source, key) => this.#changed({ source, ...(key !== undefined && { key }) }),
      onTrouble: (source, error) => {
        this.#troubled.add(source)
        options.onWatchTrouble(source, error)
      },
    })
    this.#election = createElection({
      ...options,
      signal: this.#released.signal,
      // Ends early only when the Lease is lost or the process ends.
      onElected: () => void this.#lead().catch(() => undefined),
      onLost: (reason) => this.#lose(reason),
      onTrouble: options.onElectionTrouble,
    })
  }

  add(controller: Controller): void {
    const queue = createControllerQueue(controller, () => this.isLeading())
    this.#running.set(controller.name, { controller, queue })
  }

  /** Has a key of a controller worked on; by default that which is its name. */
  enqueue(controller: string, key = controller): void {
    this.#running.get(controller)?.queue.add(key)
  }

  /** Whether this process may write now. Ask before every write. */
  isLeader(): boolean {
    const { leadership } = this.#options
    return leadership === 'elect' ? this.#election.isLeader() : leadership === 'assume'
  }

  /** Whether this process leads and has taken over what an earlier leader left. */
  isLeading(): boolean {
    return this.#isTakenOver && this.isLeader()
  }

  /** Starts to watch. */
  start(): void {
    for (const { controller } of this.#running.values())
      this.store.follow(controller.name, controller.sources ?? [])
    this.#resync = setInterval(() => this.#addAll(), this.#options.resyncMs)
  }

  /** Leads as often as it is elected, until it is stopped. */
  async run(): Promise<void> {
    const { leadership } = this.#options
    if (leadership === 'elect') return this.#election.run()
    return leadership === 'assume' ? this.#lead() : this.#takeOver()
  }

  /** Finishes what is in hand, then releases the Lease. */
  async stop(): Promise<void> {
    clearInterval(this.#resync)
    this.store.stop()
    // All at once: whoever went on while another finishes would decide by a store that is empty.
    await Promise.all([...this.#running.values()].map(({ queue }) => queue.stop()))
    this.#released.abort()
  }

  #lead(): Promise<void> {
    this.#options.onElected()
    return this.#takeOver()
  }

  async #takeOver(): Promise<void> {
    this.#term = new AbortController()
    const { signal } = this.#term
    for (const { controller } of this.#running.values()) await controller.onElected?.(signal)
    // Another leader may have changed since what was read for a leadership that is lost.
    if (signal.aborted) return
    this.#isTakenOver = true
    this.#addAll()
  }

  #lose(reason: string): void {
    this.#isTakenOver = false
    this.#term.abort()
    for (const { controller } of this.#running.values()) controller.onLost?.()
    this.#options.onLost(reason)
  }

  #addAll(): void {
    for (const { controller, queue } of this.#running.values())
      for (const key of controller.resync()) queue.add(key)
  }

  #changed(change: Change): void {
    // A change of what could be read all the while does not say that the trouble is over.
    if (this.#troubled.delete(change.source)) this.#options.onWatchRecovery()
    for (const { controller, queue } of this.#running.values())
      for (const due of controller.keysOf?.(change) ?? []) enqueue(queue, due)
  }
}

/** The queue of one controller, whose keys are worked on while it leads, or only reads. */
export function createControllerQueue(controller: Controller, isLeading: () => boolean): WorkQueue {
  const queue: WorkQueue = new WorkQueue({
    work: async (key) => {
      if (!(controller.isReader || isLeading())) return
      const againInMs = await controller.reconcile(key)
      if (againInMs !== undefined) enqueue(queue, { key, afterMs: againInMs })
    },
    onError: (key, error, retryInMs) => controller.onError(key, error, retryInMs),
    orderOf: (key) => controller.orderOf?.(key) ?? 0,
    concurrency: controller.concurrency ?? 1,
    onIdle: () => controller.onIdle?.(),
  })
  return queue
}

const enqueue = (queue: WorkQueue, { key, afterMs = 0 }: Due) =>
  afterMs === 0 ? queue.add(key) : queue.addAfter(key, afterMs)
