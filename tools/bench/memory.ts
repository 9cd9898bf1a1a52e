import type { Bench } from './cluster.ts'
import { memoryOf } from './process-numbers.ts'
import type { Line, Section } from './table.ts'

/** With how many nodes the goal is to be met. */
export const GOAL_NODES = 1_000
/** What a process may take, whatever it was asked before. */
export const MEMORY_GOAL = `under 120 MB with ${GOAL_NODES.toLocaleString('en')} nodes`

/** The memory of both processes, as shipped, after all that was asked of them before. */
export async function measureMemory({ autopilot }: Bench): Promise<Section> {
  const lines = [autopilot.webhook, autopilot.reconciler].flatMap((process): readonly Line[] => {
    const { name, pid } = process.child()
    const memory = memoryOf(pid)
    return [
      { what: name, unit: 'MB', median: memory?.now, goal: MEMORY_GOAL },
      { what: '  at its peak', unit: 'MB', median: memory?.peak, goal: MEMORY_GOAL },
    ]
  })
  return { title: 'Memory (bundled, as shipped), after the runs above', lines }
}
