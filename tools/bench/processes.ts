import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

import type { Autopilot } from '../dev/autopilot.ts'

// What every Linux in use has as USER_HZ.
const TICKS_PER_SECOND = 100
const BYTES_PER_KB = 1024

/** The processor time that a process has used, in seconds; NaN where there is no /proc. */
export function cpuSeconds(pid: number): number {
  const stat = procFile(pid, 'stat')
  // The name, in parentheses, may hold spaces; user and system time are the 12th and 13th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The memory of a process in MB, now and at its peak; NaN where there is no /proc. */
export function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = procFile(pid, 'status')
  const megabytes = (name: string) => {
    const kilobytes = Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1])
    return (kilobytes * BYTES_PER_KB) / 1e6
  }
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/** Starts to count the processor time of both processes; what it returns tells the share of a core that each used since. */
export function meterOf(autopilot: Pick<Autopilot, 'webhook' | 'reconciler'>) {
  const read = () => ({
    at: performance.now() / 1000,
    webhook: cpuSeconds(autopilot.webhook.child().pid),
    reconciler: cpuSeconds(autopilot.reconciler.child().pid),
  })
  const from = read()
  return () => {
    const to = read()
    const seconds = to.at - from.at
    const percent = (of: 'webhook' | 'reconciler') => (100 * (to[of] - from[of])) / seconds
    return { seconds, webhook: percent('webhook'), reconciler: percent('reconciler') }
  }
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** The core of the server that is measured; all others are for the load generator. */
const MEASURED = '0'
const LAST = availableParallelism() - 1

/** Keeps a server, and us, on a core each. Returns what to say about it, and how to let both go again. */
export function pinApart(pid: number): { readonly note: string; readonly release: () => void } {
  const isPinned = LAST > 0 && setCores(pid, MEASURED) && setCores(process.pid, `1-${LAST}`)
  return {
    note: isPinned
      ? 'The server was kept on one core and the load generator on the rest (taskset).'
      : 'The server could use every core: there is no taskset, or only one core, here.',
    release() {
      if (isPinned) for (const one of [pid, process.pid]) setCores(one, `0-${LAST}`)
    },
  }
}

/** A command, changed so that its process starts on the core of the measured server, where that can be done. */
export function onOneCore(
  command: readonly [file: string, ...args: string[]],
): readonly [file: string, ...args: string[]] {
  const isPossible = LAST > 0 && spawnSync('taskset', ['--version']).status === 0
  return isPossible ? ['taskset', '--cpu-list', MEASURED, ...command] : command
}

const setCores = (pid: number, cores: string) =>
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)]).status === 0
