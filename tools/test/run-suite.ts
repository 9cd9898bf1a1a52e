import type { FileResult } from './run-file.ts'

/** Test files that run together. */
export interface Suite {
  readonly files: readonly string[]
  /** How many run at a time. */
  readonly jobs: number
  /** Whether a file that fails is run once more, alone: where a whole cluster shares the machine with others. */
  readonly isRetried: boolean
}

/** How a suite is run: each of its files, and where its failures are told. */
export interface Runner {
  readonly run: (file: string) => Promise<FileResult>
  readonly print: (text: string) => void
}

/** What came of a suite. */
export interface SuiteResult {
  /** Of the last run of each file. */
  readonly results: readonly FileResult[]
  /** The files that failed, and passed when they ran alone. */
  readonly flaky: readonly string[]
}

/** Runs the files of a suite in their order, and prints what fails as it does. */
export async function runSuite(suite: Suite, { run, print }: Runner): Promise<SuiteResult> {
  const runAndTell = async (file: string) => {
    const result = await run(file)
    for (const failure of result.failures) print(failure)
    return result
  }
  const waiting = [...suite.files]
  const results: FileResult[] = []
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.push(await runAndTell(file))
  }
  await Promise.all(Array.from({ length: suite.jobs }, work))
  if (!suite.isRetried) return { results, flaky: [] }
  const flaky: string[] = []
  const failed = results.filter(({ isOk }) => !isOk)
  const last = results.filter(({ isOk }) => isOk)
  for (const { file } of failed) {
    print(`once more, alone: ${file}\n`)
    const again = await runAndTell(file)
    if (again.isOk) flaky.push(file)
    last.push(again)
  }
  return { results: last, flaky }
}
