import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Said } from './fixture.ts'
import { ENTRY, environmentOf } from './program.ts'

/** What the program's environment has besides, what it reads, and which program it is; by default the one that ships. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly entry?: string
}

/** Runs the program as a child process until it ends. */
export async function run(
  args: readonly string[],
  { env = {}, input = '', entry = ENTRY }: RunOptions = {},
): Promise<Said> {
  const child = spawn(process.execPath, [entry, ...args], {
    env: { ...environmentOf(entry), ...env },
  })
  child.stdin.end(input)
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await closed
  return { code, stdout, stderr }
}
