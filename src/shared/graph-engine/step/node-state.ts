export type NodePhase =
  /** It waits for its dependencies, or has not been read yet. */
  | 'Pending'
  /** It is being applied, as far as this pass knows. */
  | 'Applying'
  | 'Applied'
  | 'WaitingReady'
  | 'Ready'
  | 'Error'
  | 'Terminating'

export interface NodeState {
  readonly phase: NodePhase
  /** What holds it up, or what is wrong; empty for Ready. */
  readonly message: string
  /** What the rules of readiness said of the live object. */
  readonly readyDetails?: string
  readonly appliedAt?: number
}

export type GraphPhase = 'Pending' | 'Executing' | 'Ready' | 'Failed'

/** A node that others wait for: its object as people name it, and what is the matter with it. */
export interface Blocker {
  readonly id: string
  readonly object: string
  readonly message: string
}

export interface Summary {
  readonly phase: GraphPhase
  /** The first node, in the graph's order, that failed; or else that keeps it from Ready and waits for no other. */
  readonly blocking?: Blocker
}
