import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { folderAt } from '../../src/cli/assets.ts'
import { loadCatalog } from '../../src/shared/baseline/catalog/load-catalog.ts'
import { NAMESPACE, type Program } from '../../test/cluster/harness/program.ts'
import { type BenchOptions, withBench } from './bench.ts'
import type { Measure } from './sections.ts'
import { median, medianRatio, rotated } from './statistics.ts'
import { numberText, type Section } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const TURNS = 6

/** What one build measured of a thing, in each turn. */
type Turns = Map<string, number[]>

/** Measures this tree and a commit in turns, each on a cluster of its own; ratios are to the commit. */
export async function measureAgainst(
  measure: Measure,
  revision: string,
  options: BenchOptions,
): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'virt-platform-autopilot-bench-'))
  try {
    const theirs = { ...options, program: build(revision, folder) }
    const turns = await withBench(options, (bench) =>
      withBench(theirs, async (other) => {
        const builds = [bench, other].map((on) => ({ on, turns: new Map() as Turns }))
        for (let turn = 0; turn < TURNS; turn++) {
          for (const { on, turns } of rotated(builds, turn)) addTo(turns, await measure.run(on))
        }
        return builds.map(({ turns }) => turns)
      }),
    )
    return comparison(measure, revision, turns)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs the build of a tree. */
export const runBuild = (folder: string) => run(folder, process.execPath, 'tools/build.mjs')

/** Builds the program of a commit in a folder, with our dependencies. */
function build(revision: string, folder: string): Program {
  run(ROOT, 'git', 'archive', `--output=${join(folder, 'sources.tar')}`, revision)
  run(folder, 'tar', '-xf', 'sources.tar')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  runBuild(folder)
  const assets = folderAt(join(folder, 'assets'))
  const catalog = loadCatalog({ folders: [assets], namespace: NAMESPACE })
  return { entry: join(folder, 'dist/main.js'), catalog }
}

function run(cwd: string, file: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(file, args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')} failed`, { cause: error })
}

function addTo(turns: Turns, { lines }: Section): void {
  let above = ''
  for (const { what, unit, median } of lines) {
    if (!what.startsWith(' ')) above = what
    const title = `${what.startsWith(' ') ? `${above}:${what.slice(1)}` : what}, ${unit}`
    turns.set(title, [...(turns.get(title) ?? []), median])
  }
}

const comparison = (
  { name }: Measure,
  revision: string,
  [ours = new Map(), theirs = new Map()]: readonly Turns[],
): Section => ({
  title: `${name}: this tree against ${revision}, medians of ${TURNS} turns`,
  lines: [],
  grids: [
    {
      title: 'A ratio of more than 1 is more than it was: better for a rate, worse for all else',
      head: ['', 'this tree', revision, 'ratio'],
      rows: [...ours].map(([what, values]) => {
        const others = theirs.get(what) ?? []
        const numbers = [median(values), median(others), medianRatio(values, others)]
        return [what, ...numbers.map(numberText)]
      }),
    },
  ],
})
