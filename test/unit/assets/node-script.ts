import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'

const SCRIPTS = join(import.meta.dirname, '../../../assets/active/swap-enable')

/** What became of a script. */
export interface Run {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const argumentsOf = (script: string, root: string, options: readonly string[]) => [
  join(SCRIPTS, script),
  '--root',
  root,
  ...options,
]

const python = spawn('python3', ['-I', join(import.meta.dirname, 'fork-scripts.py')], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const answers = createInterface(python.stdout)[Symbol.asyncIterator]()
t.teardown(() => python.stdin.end())

/** Runs one of the node's scripts as its unit does, but on a folder that stands for the node's root; one at a time. */
export async function runScript(
  script: string,
  root: string,
  options: readonly string[] = [],
): Promise<Run> {
  python.stdin.write(`${JSON.stringify(argumentsOf(script, root, options))}\n`)
  const { value = '' } = await answers.next()
  return JSON.parse(value) as Run
}

/** Runs such a script by itself, after a command such as `ulimit`: for what the kernel refuses. */
export const runScriptAfter = (command: string, script: string, root: string): Promise<Run> =>
  new Promise((resolve) => {
    const argv = ['python3', '-I', ...argumentsOf(script, root, [])]
    execFile('/bin/sh', ['-c', `${command}\nexec "$@"`, 'sh', ...argv], (error, stdout, stderr) =>
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
