import { LRUCache } from 'lru-cache'
import { type Bucket, type BucketSize, take } from '../../shared/engine/throttle.ts'

/**
 * Writes no more lines than people would read: what makes us write them may come as often as somebody likes. The
 * next line says in `unlogged` how many were left out before it.
 */
export function createLineLimit(
  size: BucketSize,
  write: (entry: object) => void,
  now: () => number,
): (entry: object) => void {
  let bucket: Bucket | undefined
  let unlogged = 0
  return (entry) => {
    const left = take(bucket, size, now())
    if (left === 'empty') {
      unlogged++
      return
    }
    bucket = left
    write({ ...entry, ...(unlogged > 0 && { unlogged }) })
    unlogged = 0
  }
}

/** Whether a key may pass now, given the time in milliseconds. */
export type KeyedLimit = (key: string, now: number) => boolean

/** Lets each key through as its own token bucket allows; of more keys than `max` the oldest is forgotten. */
export function createKeyedLimit(size: BucketSize, max: number): KeyedLimit {
  const buckets = new LRUCache<string, Bucket>({ max })
  return (key, now) => {
    const left = take(buckets.peek(key), size, now)
    if (left === 'empty') return false
    buckets.set(key, left)
    return true
  }
}
