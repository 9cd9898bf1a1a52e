import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** The core of whoever is measured; all others are for whoever asks. */
const MEASURED = '0'
const LAST = availableParallelism() - 1

/**
 * Keeps a process, and us, on a core each. Returns what to say about it, and how to let both go again.
 */
export function pinApart(pid: number): { readonly note: string; readonly release: () => void } {
  const isPinned = LAST > 0 && setCores(pid, MEASURED) && setCores(process.pid, `1-${LAST}`)
  if (!isPinned) {
    return {
      note: 'The server could use every core: there is no taskset, or only one core, here.',
      release: () => undefined,
    }
  }
  return {
    note: 'The server was kept on one core and the load generator on the rest (taskset).',
    release() {
      for (const process_ of [pid, process.pid]) setCores(process_, `0-${LAST}`)
    },
  }
}

/** A command, changed so that its process starts on the core of whoever is measured, where that can be done. */
export function onOneCore(
  command: readonly [file: string, ...args: string[]],
): readonly [file: string, ...args: string[]] {
  const isPossible = LAST > 0 && spawnSync('taskset', ['--version']).status === 0
  return isPossible ? ['taskset', '--cpu-list', MEASURED, ...command] : command
}

const setCores = (pid: number, cores: string) =>
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)]).status === 0
