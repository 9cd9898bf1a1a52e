import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findTool } from '../../tools/go-programs/tools.ts'
import { environment } from '../cluster/harness/fixture.ts'

/** How promtool ended, and all that it said. */
export interface Verdict {
  readonly isGood: boolean
  readonly output: string
}

/** Gives a function that runs promtool in a folder; it is built where it is not there yet. */
export async function promtoolIn(folder: string) {
  const file = await findTool('promtool', environment(), () => undefined)
  return async (...args: readonly string[]): Promise<Verdict> => {
    const run = promisify(execFile)(file, args, { cwd: folder })
    return run.then(
      ({ stdout, stderr }) => ({ isGood: true, output: stdout + stderr }),
      ({ stdout, stderr, message }) => ({ isGood: false, output: stdout + stderr || message }),
    )
  }
}
