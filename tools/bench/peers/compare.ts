import { GOAL_BYTES } from '../reviews.ts'
import { extent, median, medianRatio } from '../statistics.ts'
import { type Grid, type Line, line, numberText } from '../table.ts'
import { WEBHOOK } from './servers.ts'

/** One load on one server. */
export interface Run {
  readonly perSecond: number
  /** Processor time of the server per 1,000 decisions, seconds; NaN where it cannot be read. */
  readonly cpu: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** What all servers made of one review under one number of connections, the floor first. */
export interface Comparison {
  readonly what: string
  readonly objectBytes: number
  readonly connections: number
  readonly servers: readonly { readonly name: string; readonly runs: readonly Run[] }[]
}

// By the first word of what is asked.
const CPU_GOALS: Readonly<Record<string, string>> = {
  clean: 'under 0.22 s',
  correction: 'under 0.30 s',
  denial: 'under 0.25 s',
}

const ownFirst = (a: { readonly name: string }, b: { readonly name: string }) =>
  Number(b.name === WEBHOOK) - Number(a.name === WEBHOOK)

/** The processor time of the webhook's decisions where the goals are stated, and of the others'. */
export const cpuLines = (comparisons: readonly Comparison[]): readonly Line[] =>
  comparisons
    .filter(({ objectBytes }) => objectBytes === GOAL_BYTES)
    .flatMap(({ what, servers }) =>
      servers.toSorted(ownFirst).map(({ name, runs }) => {
        const cpu = extent(runs.map((run) => run.cpu))
        return name === WEBHOOK
          ? line(`1,000 × ${what}`, 's', cpu, CPU_GOALS[what.split(' ')[0] ?? ''])
          : line(`  ${name}`, 's', cpu)
      }),
    )

/** All that was measured of one review; ratios are to the first server. */
export const comparisonGrid = ({ what, objectBytes, connections, servers }: Comparison): Grid => ({
  title: `${what}, objects of ${objectBytes / 1000} kB, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
  head: ['', 'decisions/s', '× floor', 'CPU s per 1,000', '× floor', 'p50 ms', 'p99 ms'],
  rows: servers.map(({ name, runs }) => {
    const base = servers[0]?.runs ?? []
    const of = (member: keyof Run, from = runs) => from.map((run) => run[member])
    const ratio = (member: keyof Run) => medianRatio(of(member), of(member, base))
    const numbers = [
      median(of('perSecond')),
      ratio('perSecond'),
      median(of('cpu')),
      ratio('cpu'),
      median(of('p50Ms')),
      median(of('p99Ms')),
    ]
    return [name, ...numbers.map(numberText)]
  }),
})
