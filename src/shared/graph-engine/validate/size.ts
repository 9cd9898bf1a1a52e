import { byteLength } from '../../engine/json/json.ts'
import type { GraphNode } from '../node.ts'
import { type GraphProblem, type Place, problem } from './problem.ts'

export const MAX_NODES = 100

/** What a graph may have as JSON: the API server stores 1.5 MiB, and the fields' owners may take as much again as the fields. */
export const MAX_GRAPH_BYTES = 512 * 1_024

const WARN_AT = 0.7

interface Finding {
  readonly isProblem: boolean
  readonly found: GraphProblem
}

/** Whether the graph is too large, or nearly so; the biggest nodes are named. */
export function sizeRules(nodes: readonly GraphNode[], graph: Place): readonly Finding[] {
  const sizes = nodes.map((node) => ({ id: node.id, bytes: byteLength(JSON.stringify(node)) }))
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const many =
    nodes.length > WARN_AT * MAX_NODES
      ? [warning(graph, `has ${nodes.length} nodes of the ${MAX_NODES} that are allowed`)]
      : []
  if (bytes <= WARN_AT * MAX_GRAPH_BYTES) return many
  const biggest = sizes
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map((size) => `${size.id} (${kib(size.bytes)})`)
  const isProblem = bytes > MAX_GRAPH_BYTES
  const words = isProblem
    ? `has ${kib(bytes)}, more than the ${kib(MAX_GRAPH_BYTES)} that are allowed`
    : `has ${kib(bytes)} of the ${kib(MAX_GRAPH_BYTES)} that are allowed`
  const found = problem(graph, `${words}; the biggest nodes are ${biggest.join(', ')}`)
  return [...many, { isProblem, found }]
}

const warning = (place: Place, message: string): Finding => ({
  isProblem: false,
  found: problem(place, message),
})

const kib = (bytes: number) => `${Math.ceil(bytes / 1_024)} KiB`
