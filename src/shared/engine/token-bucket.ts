/** How many tokens a full bucket holds, and after how many milliseconds a spent one is given back. */
export interface BucketSize {
  readonly capacity: number
  readonly refillMs: number
}

/** What was left in a bucket at one moment, in milliseconds of a clock that never goes back. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** The tokens in a bucket, undefined standing for a full one: spent ones come back evenly, part by part. */
export const tokensIn = (
  bucket: Bucket | undefined,
  { capacity, refillMs }: BucketSize,
  now: number,
) =>
  bucket ? Math.min(capacity, bucket.tokens + Math.max(0, now - bucket.at) / refillMs) : capacity

/** The bucket with one token less; `empty` where it has no whole one. */
export function take(bucket: Bucket | undefined, size: BucketSize, now: number): Bucket | 'empty' {
  const tokens = tokensIn(bucket, size, now)
  return tokens < 1 ? 'empty' : { tokens: tokens - 1, at: now }
}
