import { formatPointer } from '../../engine/json/pointer.ts'

/** What is wrong with a graph, or noteworthy. */
export interface GraphProblem {
  readonly nodeId?: string
  /** JSON pointer below the graph: `/nodes/2/dependsOn/0`. */
  readonly path: string
  readonly message: string
}

/** Where in the graph something was found. */
export interface Place {
  readonly nodeId: string | undefined
  readonly tokens: readonly string[]
}

export const below = ({ nodeId, tokens }: Place, ...more: readonly (string | number)[]): Place => ({
  nodeId,
  tokens: [...tokens, ...more.map(String)],
})

export const problem = ({ nodeId, tokens }: Place, message: string): GraphProblem => ({
  ...(nodeId !== undefined && { nodeId }),
  path: formatPointer(tokens),
  message,
})
