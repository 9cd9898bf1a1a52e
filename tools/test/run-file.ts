import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { FinalResults } from 'tap-parser'
import { type Counts, readTap } from './tap-results.ts'

/** What came of a test file. */
export interface FileResult {
  readonly file: string
  readonly isOk: boolean
  readonly counts: Counts
  /** What failed, and where. */
  readonly failures: readonly string[]
  readonly seconds: number
}

/** For how long a test file may run, in seconds; it says itself what was under way then. */
const LIMIT_S = 900
/** What comes after that: it did not end by itself. */
const KILL_MS = (LIMIT_S + 30) * 1_000

/** Runs a test file in a process of its own, with plain Node and flags of it: tap's own runner needs 0.3 s more for each. */
export async function runFile(
  file: string,
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): Promise<FileResult> {
  const start = performance.now()
  const failures: string[] = []
  const { parser, counts } = readTap(file, (failure) => failures.push(failure))
  const results = once(parser, 'complete') as Promise<[FinalResults]>
  // What reads our sources uses what Node calls experimental, and says so to whoever waits for the results.
  const args = [...flags, '--disable-warning=ExperimentalWarning', file]
  const child = spawn(process.execPath, args, {
    env: { ...env, TAP: '1', TAP_TIMEOUT: String(LIMIT_S) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const killer = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  child.stdout.pipe(parser)
  const [[code, signal], [{ ok, count }]] = await Promise.all([closed, results])
  clearTimeout(killer)
  // A file that ended early, or said nothing, has no failed assertion to show.
  if (counts.failed === 0 && !(ok && count > 0 && code === 0)) {
    counts.failed++
    failures.push(`FAIL ${file}\n  it ended early: ${signal ?? `exit code ${code}`}\n`)
  }
  const seconds = (performance.now() - start) / 1_000
  return { file, isOk: counts.failed === 0, counts, failures, seconds }
}
