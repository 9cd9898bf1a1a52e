import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'

/** A child process that cannot outlive this one, and writes to a log file. */
export interface Leashed {
  readonly name: string
  readonly pid: number
  readonly logFile: string
  /** Settles with a few words on how it ended. */
  readonly ended: Promise<string>
  isRunning(): boolean
  /** Everything it has logged since it was started. */
  output(): string
  /** Kills it and its children at once, and waits until it is gone. */
  kill(): Promise<void>
}

/** What to run, where, and where its output goes. */
export interface Command {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Whom it runs as, where not as we do. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

// Standard input is a pipe that only this process holds: when it closes, whatever ended us (a
// SIGKILL too), the subshell kills the process that the last line turned this shell into.
const LEASH = `exec 3<&0 </dev/null
( while read -r _ <&3; do :; done; kill -9 $$ 2>/dev/null ) &
exec 3<&-
exec "$0" "$@"`

/** Starts a command in a process group of its own, ended with this process however that ends. */
export function spawnLeashed({ name, file, args, cwd, env, logFile, user }: Command): Leashed {
  const log = openSync(logFile, 'a')
  const start = statSync(logFile).size
  const child = spawn('/bin/sh', ['-c', LEASH, file, ...args], {
    cwd,
    env,
    ...user,
    detached: true, // Ctrl-C in a terminal reaches us alone, and we end it in order
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  child.unref() // forgotten, it must not keep us alive: the leash ends it
  const { pid } = child
  if (pid === undefined) throw new Error(`starting ${name}: /bin/sh cannot be run in ${cwd}`)
  const ended = endOf(child)
  return {
    name,
    pid,
    logFile,
    ended,
    isRunning: () => isRunning(child),
    output: () => readFileSync(logFile).subarray(start).toString(),
    async kill() {
      child.ref()
      if (isRunning(child)) killGroup(pid)
      await ended
    },
  }
}

/** Deletes a folder once this process has gone, however it went; returns how to call that off. */
export function sweepAfter(folder: string): () => void {
  const script = `while read -r _; do :; done
for _ in 1 2 3 4 5 6 7 8 9; do rm -rf "$0" && [ ! -e "$0" ] && exit; sleep 1; done`
  const sweeper = spawn('/bin/sh', ['-c', script, folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  sweeper.unref()
  return () => {
    sweeper.kill('SIGKILL')
    sweeper.stdin.destroy()
  }
}

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The last lines of a text that are not empty. */
export function lastLines(text: string, count = 8): string {
  return text.split('\n').filter(Boolean).slice(-count).join('\n')
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => {
      child.stdin?.destroy() // lets the leash go
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`)
    })
  })
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
