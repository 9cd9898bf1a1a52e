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

/** Median, 99th percentile and number, as a line of the table shows them. */
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

/** The line through some points that misses them least (least squares). */
export interface Fit {
  readonly slope: number
  readonly intercept: number
  /** The farthest that a point is from the line, as a share of the line's value there. */
  readonly worst: number
}

/** Fits a line; without two different x there is none, and every number of it is NaN. */
export function lineThrough(points: readonly (readonly [x: number, y: number])[]): Fit {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const meanX = mean(points.map(([x]) => x))
  const meanY = mean(points.map(([, y]) => y))
  const covariance = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)))
  const slope = covariance / mean(points.map(([x]) => (x - meanX) ** 2))
  const intercept = meanY - slope * meanX
  const misses = points.map(([x, y]) => {
    const expected = intercept + slope * x
    // A line through zero there misses nothing, or cannot say by which share it misses.
    return y === expected ? 0 : Math.abs(y / expected - 1)
  })
  return { slope, intercept, worst: misses.length > 0 ? Math.max(...misses) : Number.NaN }
}

/** How many of these moments fell into each of equally long windows, per second; what is outside is left out. */
export function ratesIn(
  moments: readonly number[],
  { from, to, windows }: { readonly from: number; readonly to: number; readonly windows: number },
): readonly number[] {
  const lengthMs = (to - from) / windows
  const counts = Array.from({ length: windows }, () => 0)
  for (const moment of moments) {
    const window = Math.floor((moment - from) / lengthMs)
    if (window in counts) counts[window] = (counts[window] ?? 0) + 1
  }
  return counts.map((count) => (1000 * count) / lengthMs)
}
