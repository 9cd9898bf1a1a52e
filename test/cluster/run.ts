import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { ENTRY } from './autopilot-fixture.ts'
import { environment, type Said } from './fixture.ts'

/** Runs the program as a child process until it ends. */
export async function run(
  args: readonly string[],
  { env = {}, input = '' }: { env?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<Said> {
  const child = spawn(process.execPath, [ENTRY, ...args], {
    env: { PATH: environment().PATH, ...env },
  })
  child.stdin.end(input)
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await closed
  return { code, stdout, stderr }
}
