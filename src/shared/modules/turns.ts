interface Waiter {
  readonly key: string | undefined
  readonly timer: NodeJS.Timeout | undefined
  readonly start: (isMine: boolean) => void
}

/** Lets a few run at a time, and of those with one key one: whoever asks for many evaluations takes no turn from others. */
export class Turns {
  readonly #size: number
  readonly #running: (string | undefined)[] = []
  #waiting: readonly Waiter[] = []
  #isClosed = false

  constructor(size: number) {
    this.#size = size
  }

  /** Whether it is the caller's turn, which is when it is or when the time to wait is over; each turn has to be ended. */
  take(key?: string, waitMs?: number): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(() => this.#leave(waiter), waitMs)
      const waiter: Waiter = { key, timer, start: resolve }
      this.#waiting = [...this.#waiting, waiter]
      this.#startNext()
    })
  }

  /** Ends a turn of this key. */
  end(key?: string): void {
    this.#running.splice(this.#running.indexOf(key), 1)
    this.#startNext()
  }

  /** Nobody gets a turn any more. */
  close(): void {
    this.#isClosed = true
    for (const waiter of this.#waiting) this.#leave(waiter)
  }

  #leave(waiter: Waiter): void {
    this.#remove(waiter)
    waiter.start(false)
  }

  #remove(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    this.#waiting = this.#waiting.filter((one) => one !== waiter)
  }

  #startNext(): void {
    while (this.#running.length < this.#size) {
      const next = this.#waiting.find(
        ({ key }) => key === undefined || !this.#running.includes(key),
      )
      if (!next) return
      this.#remove(next)
      this.#running.push(next.key)
      next.start(true)
    }
  }
}
