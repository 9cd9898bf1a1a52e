import { median } from '../statistics.ts'

/** One load on one server. */
export interface Run {
  readonly perSecond: number
  /** Processor time of the server per 1,000 decisions, seconds; undefined where it cannot be read. */
  readonly cpu: number | undefined
  readonly p50Ms: number
  readonly p99Ms: number
}

/** What the rounds of one server say, beside those of the floor. */
export interface Comparison extends Run {
  readonly rounds: number
  /** Smallest and largest processor time of a round; undefined where it cannot be read. */
  readonly cpuRange: readonly [number, number] | undefined
  readonly rateRatio: number
  readonly cpuRatio: number | undefined
}

/**
 * The medians of a server's rounds. Ratios are medians of each round's: what a round suffers from whoever else uses
 * the machine, both servers suffer.
 */
export function compareTo(floor: readonly Run[], runs: readonly Run[]): Comparison {
  const of = (member: 'perSecond' | 'p50Ms' | 'p99Ms') => median(runs.map((run) => run[member]))
  const cpu = runs.flatMap((run) => run.cpu ?? [])
  const hasCpu = cpu.length === runs.length && cpu.length > 0
  const cpuRatios = runs.flatMap((run, round) => {
    const base = floor[round]?.cpu
    return run.cpu === undefined || !base ? [] : [run.cpu / base]
  })
  const rateRatios = runs.map((run, round) => run.perSecond / (floor[round]?.perSecond ?? 0))
  return {
    rounds: runs.length,
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpu: hasCpu ? median(cpu) : undefined,
    cpuRange: hasCpu ? [Math.min(...cpu), Math.max(...cpu)] : undefined,
    rateRatio: median(rateRatios),
    cpuRatio: cpuRatios.length > 0 ? median(cpuRatios) : undefined,
  }
}

/** The same things in another order each time, so that none of them always comes first. */
export const rotated = <Thing>(things: readonly Thing[], by: number): readonly Thing[] =>
  things.map((_, index) => things[(index + by) % things.length] as Thing)
