import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Keeps a process, and us, on a core each. Returns what to say about it, and how to let both go again.
 */
export function pinApart(pid: number): { readonly note: string; readonly release: () => void } {
  const last = availableParallelism() - 1
  const isPinned = last > 0 && setCores(pid, '0') && setCores(process.pid, `1-${last}`)
  if (!isPinned) {
    return {
      note: 'The webhook could use every core: there is no taskset, or only one core, here.',
      release: () => undefined,
    }
  }
  return {
    note: 'The webhook was kept on one core and the load generator on the rest (taskset).',
    release() {
      for (const process_ of [pid, process.pid]) setCores(process_, `0-${last}`)
    },
  }
}

const setCores = (pid: number, cores: string) =>
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)]).status === 0
