import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

import { versionsIn } from '../../../tools/bench/peers/go-peer.ts'
import { comparisonGrid, cpuLines, WEBHOOK } from '../../../tools/bench/peers/report.ts'
import { compareTo, type Run, rotated } from '../../../tools/bench/peers/rounds.ts'

const run = (perSecond: number, cpu: number | undefined): Run => ({
  perSecond,
  cpu,
  p50Ms: 1000 / perSecond,
  p99Ms: 3000 / perSecond,
})

t.test('a ratio is that of a round, so that what slows both down changes nothing', async (t) => {
  const floor = [run(1_000, 0.2), run(500, 0.4), run(100, 2)]
  const twice = floor.map(({ perSecond, cpu = 0 }) => run(perSecond / 2, cpu * 2))
  t.match(compareTo(floor, twice), {
    rounds: 3,
    perSecond: 250,
    cpu: 0.8,
    cpuRange: [0.4, 4],
    p50Ms: 4,
    p99Ms: 12,
    rateRatio: 0.5,
    cpuRatio: 2,
  })
  t.match(compareTo(floor, floor), { rateRatio: 1, cpuRatio: 1 })
})

t.test('where processor time cannot be read there is none, and no ratio of it', async (t) => {
  const runs = [run(100, undefined), run(200, undefined)]
  t.match(compareTo(runs, runs), { cpu: undefined, cpuRange: undefined, cpuRatio: undefined })
  t.match(compareTo(runs, [run(100, 0.1), run(100, undefined)]), { cpu: undefined })
})

t.test('a floor that used no measurable time gives no ratio', async (t) => {
  t.match(compareTo([run(100, 0)], [run(100, 0.1)]), { cpu: 0.1, cpuRatio: undefined })
})

t.test('each comes first in turn, and all of them come', async (t) => {
  const orders = [0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))
  t.same(orders, ['abc', 'bca', 'cab', 'abc'])
  t.same(rotated([], 3), [])
})

const floor = [run(1_000, 0.2)]
const measured = [5_000, 100_000].map((objectBytes) => ({
  what: 'denial of a MachineConfig edit',
  objectBytes,
  connections: objectBytes === 5_000 ? 16 : 1,
  servers: [
    { name: 'bare Fastify', ...compareTo(floor, floor) },
    { name: WEBHOOK, ...compareTo(floor, [run(800, 0.25)]) },
  ],
}))

t.test('the goals are stated for objects of 5 kB, the webhook’s own numbers first', async (t) => {
  t.match(cpuLines(measured), [
    { what: '1,000 × denial of a MachineConfig edit', median: 0.25, goal: 'under 0.25 s', n: 1 },
    { what: '  bare Fastify', median: 0.2, goal: '' },
  ])
  t.equal(cpuLines(measured).length, 2)
})

t.test('a grid has a row for each server and says what they were asked', async (t) => {
  const [small, large] = measured.map(comparisonGrid)
  t.equal(small?.title, 'denial of a MachineConfig edit, objects of 5 kB, 16 connections')
  t.equal(large?.title, 'denial of a MachineConfig edit, objects of 100 kB, 1 connection')
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
