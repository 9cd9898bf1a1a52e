import type { Review } from './reviews.ts'
import { lineThrough } from './statistics.ts'

/** One request of a soak. */
export interface Ask extends Pick<Review, 'isExpected'> {
  readonly body: Buffer
}

/** What a process was like at one moment of a soak. */
export interface Sample {
  /** Since the soak began. */
  readonly minutes: number
  /** Undefined where it cannot be read. */
  readonly mebibytes: number | undefined
  readonly lagP99Ms: number
}

// A platform is mostly left as it should be.
const OF_TEN = [0, 0, 0, 0, 1, 0, 0, 0, 0, 2]
const WARM_UP_SHARE = 0.2

/** The requests of a soak, to be asked one after another and over again: of ten, one corrected and one denied. */
export function asksOf(reviews: readonly Review[], users: number): readonly Ask[] {
  return Array.from({ length: users }, (_, user) => user).flatMap((user) =>
    OF_TEN.map((kind) => {
      const { bodyFor, isExpected } = reviews[kind] as Review
      return { body: bodyFor(`user-${user}`), isExpected }
    }),
  )
}

/** How fast memory grows, MiB a minute, by the samples after the first fifth of the time; NaN for fewer than two. */
export function slopeAfterWarmUp(samples: readonly Sample[]): {
  readonly perMinute: number
  readonly used: number
} {
  const end = samples.at(-1)?.minutes ?? 0
  const points = samples.flatMap(({ minutes, mebibytes }) =>
    mebibytes === undefined || minutes <= WARM_UP_SHARE * end
      ? []
      : [[minutes, mebibytes] as const],
  )
  return { perMinute: lineThrough(points).slope, used: points.length }
}
