import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { folderAt } from '../../src/cli/assets.ts'
import { loadCatalog } from '../../src/shared/baseline/catalog/load-catalog.ts'
import { NAMESPACE, type Program } from '../../test/cluster/harness/program.ts'
import { type BenchOptions, withBench } from './bench.ts'
import type { Measure } from './sections.ts'
import { extent, median, ratios, rotated } from './statistics.ts'
import { type Line, line, numberText, type Section } from './table.ts'

const ROOT = join(import.meta.dirname, '../..')
const TURNS = 6

/** Measures this tree and a commit in turns, each on a cluster of its own; ratios are to the commit. */
export async function measureAgainst(
  { name, run }: Measure,
  revision: string,
  options: BenchOptions,
): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'virt-platform-autopilot-bench-'))
  try {
    const theirs = { ...options, program: build(revision, folder) }
    const [ours = [], others = []] = await withBench(options, (bench) =>
      withBench(theirs, async (other) => {
        const builds = [bench, other].map((on) => ({ on, turns: [] as (readonly Line[])[] }))
        for (let turn = 0; turn < TURNS; turn++) {
          for (const { on, turns } of rotated(builds, turn)) turns.push((await run(on)).lines)
        }
        return builds.map(({ turns }) => turns)
      }),
    )
    return {
      title: `${name}: this tree against ${revision}`,
      head: ['', 'ratio', 'range', 'turns', `${revision} → this tree`],
      lines: ratioLines(ours, others),
      notes: ['A ratio of more than 1 is more than it was: better for a rate, worse for all else.'],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each line of a section once, with the ratios of all turns. */
function ratioLines(ours: readonly (readonly Line[])[], theirs: typeof ours): readonly Line[] {
  return (ours[0] ?? []).map(({ what, unit }, index) => {
    const of = (turns: typeof ours) => turns.map((lines) => lines[index]?.median ?? Number.NaN)
    const change = `${numberText(median(of(theirs)))} → ${numberText(median(of(ours)))} ${unit}`
    return line(what, '', extent(ratios(of(ours), of(theirs))), change.trimEnd())
  })
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
