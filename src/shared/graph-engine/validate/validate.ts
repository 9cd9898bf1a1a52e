import type { GraphNode } from '../node.ts'

/** What is wrong with a graph, or noteworthy. */
export interface GraphProblem {
  readonly nodeId?: string
  /** JSON pointer below the graph: `/nodes/2/dependsOn/0`. */
  readonly path: string
  readonly message: string
}

export interface Validation {
  readonly problems: readonly GraphProblem[]
  readonly warnings: readonly GraphProblem[]
  /** The nodes as they came, where there is no problem. */
  readonly nodes: readonly GraphNode[]
}

/** Judges the nodes of a graph as somebody wrote or rendered them. */
export function validateNodes(_nodes: unknown): Validation {
  throw new Error('validate: not written yet')
}
