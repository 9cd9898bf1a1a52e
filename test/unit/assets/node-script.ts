import { execFile } from 'node:child_process'
import { join } from 'node:path'

const SCRIPTS = join(import.meta.dirname, '../../../assets/active/swap-enable')

/** What became of a script. */
export interface Run {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one of the node's scripts as its unit does, but on a folder that stands for the node's root. */
export const runScript = (
  script: string,
  root: string,
  options: readonly string[] = [],
  // Such as `ulimit`, for what the kernel refuses.
  before = '',
): Promise<Run> =>
  new Promise((resolve) => {
    const argv = ['python3', '-I', join(SCRIPTS, script), '--root', root, ...options]
    execFile('/bin/sh', ['-c', `${before}\nexec "$@"`, 'sh', ...argv], (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

/** A partition or file that is swapped to. */
export type Swap = readonly [path: string, priority?: number]

/** The text of /proc/swaps. */
export const swaps = (...rows: readonly Swap[]): string =>
  [
    'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n',
    ...rows.map(([path, priority = -2]) => {
      const kind = path.startsWith('/dev/') ? 'partition' : 'file\t'
      return `${path.padEnd(40)}${kind}\t8388604\t\t0\t\t${priority}\n`
    }),
  ].join('')

/** The lines of what a script said, without empty ones. */
export const lines = (text: string): readonly string[] => text.split('\n').filter(Boolean)
