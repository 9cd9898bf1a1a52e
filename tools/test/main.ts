// Runs suites of test files, each file in a process of its own: `node tools/test/main.ts unit cluster`.
// The last line of its output is "N passed, N failed".
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { keepDurations, longestFirst } from './durations.ts'
import { type FileResult, runFile } from './run-file.ts'
import { add, noCounts, summary } from './tap-results.ts'

interface Suite {
  readonly files: readonly string[]
  readonly jobs: number
  /** Whether a file that fails is run once more, alone: for what shares the machine with a whole cluster. */
  readonly retries?: boolean
  readonly env?: Readonly<Record<string, string>>
}

const LONG = ['test/**/*.long.test.ts']
const filesOf = (patterns: readonly string[], exclude: readonly string[] = LONG) =>
  globSync(patterns, { exclude }).sort()

const jobs = availableParallelism()
const unit = filesOf(['test/unit/**/*.test.ts'])
const SUITES: Readonly<Record<string, Suite>> = {
  unit: { files: unit, jobs },
  cluster: { files: filesOf(['test/{alerts,cluster}/**/*.test.ts']), jobs, retries: true },
  // What takes too long for every day: files of their own, properties with more examples, all rows of tables in all ways.
  long: {
    files: [...filesOf(LONG, []), ...filesOf(['test/cluster/**/verdicts*.test.ts']), ...unit],
    jobs,
    env: { AUTOPILOT_TEST_RUNS: '20' },
  },
}

const env = {
  ...process.env,
  // What was parsed and compiled once, types stripped: half of a short file's time.
  NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile'),
}

/** Runs the files of a suite, and prints what fails as it does. */
async function runSuite(suite: Suite): Promise<readonly FileResult[]> {
  const waiting = [...longestFirst(suite.files)]
  const results: FileResult[] = []
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runFile(file, { ...suite.env, ...env })
      results.push(result)
      for (const failure of result.failures) process.stdout.write(failure)
    }
  }
  await Promise.all(Array.from({ length: suite.jobs }, work))
  keepDurations(results)
  return suite.retries ? retryFailed(results) : results
}

/** Runs each failed file once more, alone, and takes what came of it then. */
async function retryFailed(results: readonly FileResult[]): Promise<readonly FileResult[]> {
  const final: FileResult[] = []
  for (const result of results) {
    if (result.isOk) {
      final.push(result)
      continue
    }
    console.log(`once more, alone: ${result.file}`)
    const again = await runFile(result.file, env)
    for (const failure of again.failures) process.stdout.write(failure)
    if (again.isOk) flaky.push(result.file)
    final.push(again)
  }
  return final
}

const flaky: string[] = []
const total = noCounts()
for (const name of process.argv.slice(2)) {
  const suite = SUITES[name]
  if (!suite) throw new Error(`no suite "${name}"; there are ${Object.keys(SUITES).join(', ')}`)
  for (const { counts } of await runSuite(suite)) add(total, counts)
}
for (const file of flaky) console.log(`flaky: ${file}`)
process.stdout.write(summary(total))
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
