/** How many bytes of requests may be held at once, and how much of that is for small ones alone. */
export interface IntakeLimits {
  readonly bytes: number
  /** From what size on a request is large. */
  readonly largeFrom: number
  /** What large requests leave to the small ones. */
  readonly keptForSmall: number
}

/** What one request holds. */
export interface Held {
  /** Takes so many bytes more in; false where there is no room for them, and nothing is taken. */
  readonly take: (bytes: number) => boolean
  /** Gives all of it back; nothing is taken in after that. */
  readonly giveBack: () => void
}

// The largest request fits three times; nearly all of those that the API server sends are small.
const LIMITS: IntakeLimits = { bytes: 32 << 20, largeFrom: 256 << 10, keptForSmall: 8 << 20 }

/**
 * Bounds the memory that requests take while they come in, by what has arrived: a request that only says that it is
 * large keeps nobody out. Whoever sends more at once is told to come again, so that a flood of large requests never
 * keeps a small one out, nor ends the process.
 */
export class Intake {
  readonly #limits: IntakeLimits
  #held = 0
  #heldByLarge = 0

  constructor(limits: IntakeLimits = LIMITS) {
    this.#limits = limits
  }

  /** Whether a request of so many bytes would fit now, should it arrive at once. Nothing is kept for it. */
  hasRoom(bytes: number): boolean {
    return this.#fits(bytes, bytes >= this.#limits.largeFrom ? bytes : 0)
  }

  /** Begins a request, of which nothing has arrived. */
  begin(): Held {
    let [bytes, asLarge, isOver] = [0, 0, false]
    return {
      take: (more) => {
        // Once it is large, so is what came before.
        const large = bytes + more >= this.#limits.largeFrom ? bytes + more - asLarge : 0
        if (isOver || !this.#fits(more, large)) return false
        this.#hold(more, large)
        bytes += more
        asLarge += large
        return true
      },
      giveBack: () => {
        this.#hold(-bytes, -asLarge)
        ;[bytes, asLarge, isOver] = [0, 0, true]
      },
    }
  }

  #fits(bytes: number, large: number): boolean {
    const { bytes: all, keptForSmall } = this.#limits
    return (
      this.#held + bytes <= all && (large === 0 || this.#heldByLarge + large <= all - keptForSmall)
    )
  }

  #hold(bytes: number, large: number): void {
    this.#held += bytes
    this.#heldByLarge += large
  }
}
