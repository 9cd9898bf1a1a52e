import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAbort } from '../../src/shared/ops/shutdown.ts'
import { type Leashed, spawnLeashed } from '../control-plane/processes.ts'

export interface ProcessOptions {
  /** The program: src/cli/main.ts, or its bundle. */
  readonly entry: string
  readonly env: Readonly<Record<string, string>>
  /** Where logs are written. */
  readonly folder: string
}

/** One of our processes, which can be ended and started again on the same ports. */
export interface Process {
  /** The running child; its `ended` settles with a few words on how it ended. */
  readonly child: () => Leashed
  /** Asks it to end (SIGTERM), and kills it when it takes too long. */
  readonly stop: () => Promise<void>
  readonly start: () => void
}

const STOP_MS = 8_000

/** One of our processes, by the words of its command; its log is called after them. */
export function createProcess(
  { entry, env, folder }: ProcessOptions,
  command: readonly string[],
  flags: readonly string[],
): Process {
  const name = command.join('-')
  let child: Leashed | undefined
  const current = () => {
    if (!child) throw new Error(`the ${name} was never started`)
    return child
  }
  return {
    child: current,
    start() {
      child = spawnLeashed({
        name,
        file: process.execPath,
        args: [entry, ...command, ...flags],
        cwd: folder,
        env,
        logFile: join(folder, `${name}.log`),
      })
    },
    async stop() {
      const running = current()
      if (!running.isRunning()) return
      process.kill(running.pid, 'SIGTERM')
      const patience = new AbortController()
      await Promise.race([
        running.ended,
        sleep(STOP_MS, undefined, { signal: patience.signal }).catch(() => undefined),
      ])
      patience.abort()
      await running.kill()
    },
  }
}

/** Waits for the signal, and tells when one of our processes ends before it. */
export async function untilEnd(
  processes: readonly Process[],
  signal: AbortSignal,
  print: (line: string) => void,
) {
  for (const { child } of processes) {
    const { name, ended, logFile } = child()
    void ended.then((how) => {
      if (!signal.aborted)
        print(`the ${name} ended (${how}); the cluster goes on without it; its log: ${logFile}`)
    })
  }
  // The children are not waited for; this is what keeps us here.
  const here = setInterval(() => undefined, 60_000)
  await afterAbort(signal, async () => clearInterval(here))
}
