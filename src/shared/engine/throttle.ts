/** How many heals of one object are made at once and within `windowMs`, milliseconds. */
export interface HealLimits {
  readonly capacity: number
  readonly windowMs: number
}

/** What is remembered of the heals of one object; undefined where there is nothing to remember. */
export interface HealMemory {
  readonly bucket: Bucket | undefined
  /** How often in a row the object was throttled. */
  readonly throttles: number
  /** Until when it is left alone, in milliseconds of a clock that never goes back. */
  readonly until: number
}

export type Permit =
  | { readonly kind: 'go'; readonly memory: HealMemory | undefined }
  /** Left alone until the bucket is full again. */
  | { readonly kind: 'wait'; readonly memory: HealMemory }
  /** Throttled too often in a row: somebody else must decide. */
  | { readonly kind: 'pause'; readonly memory: HealMemory }

// Once is a burst, twice a coincidence.
const THROTTLES_TO_PAUSE = 3

const sizeOf = ({ capacity, windowMs }: HealLimits): BucketSize => ({
  capacity,
  refillMs: windowMs / capacity,
})

/** Whether an object may be healed now. */
export function permitHeal(
  memory: HealMemory | undefined,
  limits: HealLimits,
  now: number,
): Permit {
  if (!memory) return { kind: 'go', memory }
  if (memory.throttles >= THROTTLES_TO_PAUSE) return { kind: 'pause', memory }
  if (now < memory.until) return { kind: 'wait', memory }
  const tokens = tokensIn(memory.bucket, sizeOf(limits), now)
  const isPeace = tokens === limits.capacity && now - memory.until >= limits.windowMs
  const throttles = isPeace ? 0 : memory.throttles
  if (tokens >= 1) return { kind: 'go', memory: { ...memory, throttles } }
  const next = { ...memory, throttles: throttles + 1, until: now + limits.windowMs }
  return { kind: next.throttles < THROTTLES_TO_PAUSE ? 'wait' : 'pause', memory: next }
}

/** The memory where a pause was due and there is nothing to pause: one more wait, and so on. */
export const postponePause = (memory: HealMemory, { windowMs }: HealLimits, now: number) => ({
  ...memory,
  throttles: THROTTLES_TO_PAUSE - 1,
  until: Math.max(memory.until, now + windowMs),
})

/** The memory after a heal that succeeded. */
export function spendHeal(
  memory: HealMemory | undefined,
  limits: HealLimits,
  now: number,
): HealMemory {
  const left = take(memory?.bucket, sizeOf(limits), now)
  const bucket = left === 'empty' ? { tokens: 0, at: now } : left
  return { throttles: 0, until: Number.NEGATIVE_INFINITY, ...memory, bucket }
}

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
