import { type Bucket, type BucketSize, take } from '../../../shared/engine/throttle.ts'
import { putNewest } from '../../server/newest.ts'

/** How often each key may pass, and how many keys are remembered; the oldest is forgotten for a newer one. */
export interface AllowanceSize extends BucketSize {
  readonly room: number
}

/** Lets each key through a few times at once, and then as often as its bucket is refilled. */
export class Allowance {
  readonly #size: AllowanceSize
  readonly #buckets = new Map<string, Bucket>()

  constructor(size: AllowanceSize) {
    this.#size = size
  }

  /** Whether the key may pass now, given the time in milliseconds. */
  admits(key: string, now: number): boolean {
    const left = take(this.#buckets.get(key), this.#size, now)
    if (left === 'empty') return false
    putNewest(this.#buckets, this.#size.room, key, left)
    return true
  }
}
