import { putNewest } from './newest.ts'

/** Lets each key through once per interval. It remembers so many keys, and forgets the oldest for a newer one. */
export class OncePer {
  readonly #intervalMs: number
  readonly #room: number
  /** When each key was let through, oldest first. */
  readonly #times = new Map<string, number>()

  constructor(intervalMs: number, room: number) {
    this.#intervalMs = intervalMs
    this.#room = room
  }

  /** Whether the key may pass now, given the time in milliseconds. */
  admits(key: string, now: number): boolean {
    const last = this.#times.get(key)
    if (last !== undefined && now - last < this.#intervalMs) return false
    putNewest(this.#times, this.#room, key, now)
    return true
  }
}
