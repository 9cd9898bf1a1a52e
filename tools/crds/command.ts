import { execFile } from 'node:child_process'

import { lastLines } from '../control-plane/processes.ts'

/** Where a program runs; it ends when the signal aborts. */
export interface Place {
  readonly cwd: string
  readonly signal: AbortSignal
}

/** How a program ended, and what it said. */
export interface Said {
  readonly isSuccess: boolean
  readonly stdout: Buffer
  readonly stderr: string
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

/** Runs a program to its end, whatever it says; throws where there is no such program, or the signal aborts. */
export function run(file: string, args: readonly string[], { cwd, signal }: Place): Promise<Said> {
  const env = { ...process.env, GOWORK: 'off' }
  const options = { cwd, signal, env, encoding: 'buffer', maxBuffer: MAX_OUTPUT_BYTES } as const
  return new Promise((resolve, reject) => {
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error === null || typeof error.code === 'number')
        resolve({ isSuccess: error === null, stdout, stderr: String(stderr) })
      else if (error.code === 'ENOENT')
        reject(new Error(`no \`${file}\` is on the PATH: install it`, { cause: error }))
      else reject(error)
    })
  })
}

/** What a program prints; throws with its last words where it fails. */
export async function outputOf(
  file: string,
  args: readonly string[],
  place: Place,
): Promise<Buffer> {
  const { isSuccess, stdout, stderr } = await run(file, args, place)
  if (isSuccess) return stdout
  throw new Error(`${file} ${args.join(' ')}: ${lastLines(stderr, 3)}`)
}
