import { setTimeout as sleep } from 'node:timers/promises'

import { sumOf } from '../../test/cluster/harness/autopilot-fixture.ts'
import { programWith } from '../../test/cluster/harness/program.ts'
import { type Bench, type Setup, withBench } from './cluster.ts'
import { cpuSeconds } from './process-numbers.ts'
import { startOnce } from './start.ts'
import { extent, lineThrough, median } from './statistics.ts'
import { syntheticAssets } from './synthetic-assets.ts'
import type { Line, Section } from './table.ts'

const RESYNC = '200ms'

/** What one size of catalog costs. */
interface Size {
  readonly assets: number
  readonly appliedMs: readonly number[]
  /** Of one pass each; none where processor time cannot be read. */
  readonly passMs: readonly number[]
  readonly passes: number
  readonly requests: number
}

/** How the cost of a start and of a pass that finds nothing grows with the number of assets. */
export async function measureAssets(setup: Setup): Promise<Section> {
  const sizes: Size[] = []
  for (const assets of setup.effort.assets) sizes.push(await measureSize(setup, assets))
  return {
    title: 'Cost against the number of assets (ConfigMaps of 2 kB beside the HyperConverged)',
    lines: [
      ...sizes.map(({ assets, appliedMs }) => ({
        what: `start to the last object applied, ${assets} assets`,
        unit: 'ms',
        ...extent(appliedMs),
      })),
      ...slopeLines(sizes.map(({ assets, appliedMs }) => [assets, median(appliedMs)])),
      ...sizes.flatMap(passLines),
      ...slopeLines(sizes.map(({ assets, passMs }) => [assets, median(passMs)])),
    ],
    notes: [
      `A pass compares everything and finds nothing (--resync=${RESYNC}); its processor time is that of the whole process.`,
      'For each further asset, whatever their number: slope and start of the line through the medians (least squares).',
      'Per asset: the cost divided by their number. Below 1 is a fixed part that more of them share, above 1 no longer linear.',
    ],
  }
}

async function measureSize(setup: Setup, assets: number): Promise<Size> {
  const ends: (() => Promise<void>)[] = []
  const teardown = (end: () => Promise<void>) => void ends.push(end)
  const program = programWith({ teardown }, syntheticAssets(assets))
  try {
    return await withBench(
      { ...setup, program, reconcilerFlags: [`--resync=${RESYNC}`] },
      async (bench) => {
        const appliedMs: number[] = []
        for (let run = 0; run < setup.effort.starts; run++)
          appliedMs.push((await startOnce(bench)).appliedMs)
        return { assets, appliedMs, ...(await measurePasses(bench)) }
      },
    )
  } finally {
    for (const end of ends) await end()
  }
}

async function measurePasses(bench: Bench): Promise<Omit<Size, 'assets' | 'appliedMs'>> {
  const { audit, autopilot, effort } = bench
  const { pid } = autopilot.reconciler.child()
  await audit.untilQuiet()
  const passMs: number[] = []
  let passes = 0
  const mark = audit.mark()
  for (let run = 0; run < effort.passRuns; run++) {
    // The metrics are read outside of what is measured: a scrape costs more than a pass.
    const passesBefore = await passesOf(bench)
    const before = cpuSeconds(pid)
    await sleep(effort.passMs)
    const after = cpuSeconds(pid)
    const counted = (await passesOf(bench)) - passesBefore
    if (counted === 0) throw new Error(`no pass within ${effort.passMs} ms`)
    passes += counted
    if (before !== undefined && after !== undefined)
      passMs.push((1000 * (after - before)) / counted)
  }
  return { passMs, passes, requests: audit.since(mark).others.length }
}

/** How often the last asset, with which a pass ends, was compared. */
async function passesOf({ autopilot, catalog }: Bench): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${autopilot.opsPorts.reconciler}/metrics`)
  const compared = 'virt_platform_reconcile_duration_seconds_count'
  return sumOf(await reply.text(), compared, `name="${catalog.at(-1)?.object.name}"`)
}

function passLines({ assets, passMs, passes, requests }: Size): readonly Line[] {
  const what = `processor time of a pass, ${assets} assets`
  const { n: _runs, ...time } = extent(passMs)
  return [
    passMs.length > 0
      ? { what, unit: 'ms', ...time, n: passes }
      : { what, unit: 'ms', median: undefined },
    { what: '  requests', unit: '', median: requests, n: passes, goal: '0' },
  ]
}

type Point = readonly [assets: number, cost: number]

function slopeLines(points: readonly Point[]): readonly Line[] {
  const { slope, intercept, worst } = lineThrough(points)
  const known = (value: number) => (Number.isFinite(value) ? value : undefined)
  const each = ([assets, cost]: Point = [0, 0]) => cost / assets
  return [
    { what: '  for each further asset', unit: 'ms', median: known(slope) },
    { what: '  whatever their number', unit: 'ms', median: known(intercept) },
    { what: '  farthest from a straight line', unit: '%', median: known(100 * worst) },
    {
      what: `  per asset, ${points.at(-1)?.[0]} over ${points[0]?.[0]}`,
      unit: '×',
      median: known(each(points.at(-1)) / each(points[0])),
    },
  ]
}
