const ascending = (values: readonly number[]) => [...values].sort((a, b) => a - b)

/** The smallest value that this share of all values does not exceed (the nearest rank). */
export function quantile(values: readonly number[], share: number): number {
  const rank = Math.max(1, Math.ceil(share * values.length))
  return ascending(values)[rank - 1] ?? Number.NaN
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

/** Median, 99th percentile and number. */
export const spread = (values: readonly number[]) => ({
  median: median(values),
  p99: quantile(values, 0.99),
  n: values.length,
})

/** Median, smallest, largest and number: for what was measured too few times for a percentile. */
export const extent = (values: readonly number[]) => ({
  median: median(values),
  range: [Math.min(...values), Math.max(...values)] as const,
  n: values.length,
})

/** The ratios of each round: what slows a whole round down changes no ratio in it. */
export const ratios = (values: readonly number[], bases: readonly number[]): readonly number[] =>
  values.map((value, round) => value / (bases[round] || Number.NaN))

/** The same things in another order each round, so that none of them always comes first. */
export const rotated = <Thing>(things: readonly Thing[], round: number): readonly Thing[] =>
  things.map((_, index) => things[(index + round) % things.length] as Thing)
