import { GOAL_BYTES } from '../reviews.ts'
import { type Grid, type Line, numberText } from '../table.ts'
import type { Comparison } from './rounds.ts'

/** What all servers made of one review under one number of connections, the floor first. */
export interface Measured {
  readonly what: string
  readonly objectBytes: number
  readonly connections: number
  readonly servers: readonly (Comparison & { readonly name: string })[]
}

/** The name of the product's own server among its peers. */
export const WEBHOOK = 'the webhook'

// By the first word of what is asked.
const CPU_GOALS: Readonly<Record<string, string>> = {
  clean: 'under 0.22 s',
  correction: 'under 0.30 s',
  denial: 'under 0.25 s',
}

/** The processor time of the webhook's decisions where the goals are stated, and of the others'. */
export const cpuLines = (measured: readonly Measured[]): readonly Line[] =>
  measured
    .filter(({ objectBytes }) => objectBytes === GOAL_BYTES)
    .flatMap(({ what, servers }) => {
      const [own, others] = [true, false].map((isOwn) =>
        servers.filter(({ name }) => (name === WEBHOOK) === isOwn),
      )
      const goal = CPU_GOALS[what.split(' ')[0] ?? ''] ?? ''
      return [
        ...(own ?? []).map((server) => cpuLine(`1,000 × ${what}`, server, goal)),
        ...(others ?? []).map((server) => cpuLine(`  ${server.name}`, server)),
      ]
    })

const cpuLine = (what: string, { cpu, cpuRange, rounds }: Comparison, goal = ''): Line => ({
  what,
  unit: 's',
  median: cpu,
  ...(cpuRange && { range: cpuRange }),
  n: rounds,
  goal,
})

/** All that was measured of one review. */
export const comparisonGrid = ({ what, objectBytes, connections, servers }: Measured): Grid => ({
  title: `${what}, objects of ${objectBytes / 1000} kB, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
  head: ['', 'decisions/s', '× floor', 'CPU s per 1,000', '× floor', 'p50 ms', 'p99 ms'],
  rows: servers.map(({ name, perSecond, rateRatio, cpu, cpuRatio, p50Ms, p99Ms }) => [
    name,
    ...[perSecond, rateRatio, cpu, cpuRatio, p50Ms, p99Ms].map(numberText),
  ]),
})
