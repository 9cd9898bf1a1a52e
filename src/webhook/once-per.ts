/** Lets each key through once per interval. Of more keys than it has room for it forgets the oldest. */
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
    for (const [oldest, time] of this.#times) {
      if (now - time < this.#intervalMs && this.#times.size < this.#room) break
      this.#times.delete(oldest)
    }
    if (this.#times.has(key)) return false
    this.#times.set(key, now)
    return true
  }
}
