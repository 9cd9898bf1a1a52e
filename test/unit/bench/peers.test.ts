import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import {
  type Comparison,
  comparisonGrid,
  cpuLines,
  type Run,
} from '../../../tools/bench/peers/compare.ts'
import { versionsIn } from '../../../tools/bench/peers/go-peer.ts'
import { WEBHOOK } from '../../../tools/bench/peers/servers.ts'

const run = (perSecond: number, cpu: number): Run => ({
  perSecond,
  cpu,
  p50Ms: 1000 / perSecond,
  p99Ms: 3000 / perSecond,
})

const comparison = (floor: readonly Run[], own: readonly Run[]): Comparison => ({
  what: 'denial of a MachineConfig edit',
  objectBytes: 5_000,
  connections: 16,
  servers: [
    { name: 'bare Fastify', runs: floor },
    { name: WEBHOOK, runs: own },
  ],
})
const once = comparison([run(1_000, 0.2)], [run(800, 0.25)])
const large: Comparison = { ...once, objectBytes: 100_000, connections: 1 }

t.test('a ratio is that of a round, so that what slows both down changes nothing', async (t) => {
  const floor = [run(1_000, 0.2), run(500, 0.4), run(100, 2)]
  const twice = floor.map(({ perSecond, cpu }) => run(perSecond / 2, cpu * 2))
  t.same(comparisonGrid(comparison(floor, twice)).rows, [
    ['bare Fastify', '500', '1', '0.40', '1', '2', '6'],
    [WEBHOOK, '250', '0.50', '0.80', '2', '4', '12'],
  ])
})

t.test('where processor time cannot be read there is none, and no ratio of it', async (t) => {
  const runs = [run(100, Number.NaN), run(200, Number.NaN)]
  const [, own] = comparisonGrid(comparison(runs, runs)).rows
  t.same(own, [WEBHOOK, '150', '1', '', '', '7.50', '22.5'])
  t.match(cpuLines([comparison(runs, runs)]), [{ median: Number.NaN }, { median: Number.NaN }])
})

t.test('a floor that used no measurable time gives no ratio', async (t) => {
  const [, own] = comparisonGrid(comparison([run(100, 0)], [run(100, 0.1)])).rows
  t.same(own?.slice(3, 5), ['0.10', ''])
})

t.test('the goals are stated for objects of 5 kB, the webhook’s own numbers first', async (t) => {
  const lines = cpuLines([once, large])
  t.match(lines, [
    {
      what: '1,000 × denial of a MachineConfig edit',
      median: 0.25,
      range: [0.25, 0.25],
      goal: 'under 0.25 s',
      n: 1,
    },
    { what: '  bare Fastify', median: 0.2, goal: '' },
  ])
  t.equal(lines.length, 2)
})

t.test('a grid has a row for each server and says what they were asked', async (t) => {
  const [small, big] = [once, large].map(comparisonGrid)
  t.equal(small?.title, 'denial of a MachineConfig edit, objects of 5 kB, 16 connections')
  t.equal(big?.title, 'denial of a MachineConfig edit, objects of 100 kB, 1 connection')
  t.same(small?.rows, [
    ['bare Fastify', '1,000', '1', '0.20', '1', '1', '3'],
    [WEBHOOK, '800', '0.80', '0.25', '1.25', '1.25', '3.75'],
  ])
  t.equal(small?.head.length, 7)
})

t.test('the version of controller-runtime is the one that is built', async (t) => {
  const file = join(import.meta.dirname, '../../../tools/bench/peers/go/go.mod')
  const [version = ''] = versionsIn(readFileSync(file, 'utf8'))
  t.match(version, /^controller-runtime \d+\.\d+\.\d+$/)
  t.same(versionsIn('module other\n'), [])
})
