import type { FileResult } from './run-file.ts'

/** Test files that run together. */
export interface Suite {
  readonly files: readonly string[]
  /** How many run at a time. */
  readonly jobs: number
  /** Whether a file that fails is run once more, alone: where a whole cluster shares the machine with others. */
  readonly isRetried: boolean
  /** Whether each slot has a control plane of its own, for one file after the other. */
  readonly hasSharedPlanes?: boolean
}

/** How a suite is run: each of its files, and where its failures are told. */
export interface Runner {
  /** In a slot: no two that run at a time have the same; none where a file runs alone. */
  readonly run: (file: string, slot?: number) => Promise<FileResult>
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
  const runAndTell = async (file: string, slot?: number) => {
    const result = await run(file, slot)
    for (const failure of result.failures) print(failure)
    return result
  }
  const waiting = [...suite.files]
  const results: FileResult[] = []
  const work = async (slot: number) => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      results.push(await runAndTell(file, slot))
  }
  await Promise.all(Array.from({ length: suite.jobs }, (_, slot) => work(slot)))
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
