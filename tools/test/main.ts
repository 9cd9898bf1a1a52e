// Runs suites of test files, each file in a process of its own: `node tools/test/main.ts unit cluster`. What else it is given
// chooses the files whose paths have it: `npm run test:cluster -- rolling`.
// The last line of its output is "N passed, N failed".
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { bundledClient } from './client-bundle.ts'
import { keepDurations, longestFirst } from './durations.ts'
import { runFile } from './run-file.ts'
import { runSuite, type Suite } from './run-suite.ts'
import { startPlanes } from './shared-planes.ts'
import { add, noCounts, summary } from './tap-results.ts'

const cores = availableParallelism()
const unit = globSync('test/unit/**/*.test.ts')
const tables = globSync('test/cluster/{merge,verdicts}/*.test.ts')
const SUITES: Readonly<Record<string, Suite>> = {
  unit: { files: unit, jobs: cores, isRetried: false },
  // A file waits for more than half of its time.
  cluster: {
    files: globSync('test/{alerts,chart,cluster,image}/**/*.test.ts'),
    jobs: 2 * cores,
    isRetried: true,
    hasSharedPlanes: true,
  },
  // What takes too long for every day: properties with more examples, tables of verdicts in every way.
  long: { files: [...tables, ...unit], jobs: cores, isRetried: false },
}
const LONG_RUNS = '20'

const flags = [bundledClient()]
const total = noCounts()
const flaky: string[] = []
const args = process.argv.slice(2)
const chosen = args.filter((arg) => !(arg in SUITES))
const isChosen = (file: string) => chosen.length === 0 || chosen.some((part) => file.includes(part))
for (const [name, suite] of Object.entries(SUITES)) {
  if (!args.includes(name)) continue
  const env = {
    ...process.env,
    // What was parsed and compiled once, types stripped: half of a short file's time.
    NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'),
    ...(name === 'long' && { AUTOPILOT_TEST_RUNS: LONG_RUNS }),
  }
  const files = longestFirst(suite.files.filter(isChosen))
  const planes = await startPlanes(suite.hasSharedPlanes ? Math.min(suite.jobs, files.length) : 0)
  const ran = await runSuite(
    { ...suite, files },
    {
      run: (file, slot = -1) => runFile(file, { ...env, ...planes[slot]?.env }, flags),
      print: (text) => process.stdout.write(text),
    },
  )
  await Promise.all(planes.map(({ stop }) => stop()))
  keepDurations(ran.results)
  for (const { counts } of ran.results) add(total, counts)
  flaky.push(...ran.flaky)
}
for (const file of flaky) console.log(`flaky: ${file}`)
process.stdout.write(summary(total))
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
