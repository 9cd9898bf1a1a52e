import { CLEANERS } from '../../../shared/engine/identity.ts'
import { allow, type Verdict } from './verdict.ts'

export interface GraphWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly username: string
  /** The one user who writes ResourceGraphs. */
  readonly reconciler: string
  readonly isSpecChanged: boolean
  /** Whether it is being deleted already. */
  readonly isEnding: boolean
}

/** Decides on a write of a ResourceGraph: what it says is what is applied, and deleted. */
export function judgeGraph(write: GraphWrite): Verdict {
  const { operation, username, reconciler, isSpecChanged, isEnding } = write
  if (username === reconciler) return allow('Ours')
  if (CLEANERS.includes(username)) return allow('CleaningUp')
  if (operation === 'UPDATE' && !isSpecChanged) return allow('Unchanged')
  if (operation === 'DELETE' && isEnding) return allow('Ending')
  return { kind: 'denied', reason: 'NotTheirs' }
}
