import { formatValue } from '../../engine/format-value.ts'
import { memberOf } from '../../engine/json/object.ts'
import { nearest, suggesting } from '../../engine/nearest.ts'
import { type GraphNode, keyOf, refOf, titleOf } from '../node.ts'
import { shortestCycle } from '../order.ts'
import { nodeRules } from './node-rules.ts'
import { below, type GraphProblem, type Place, problem } from './problem.ts'
import { MAX_NODES, sizeRules } from './size.ts'

export interface Validation {
  readonly problems: readonly GraphProblem[]
  readonly warnings: readonly GraphProblem[]
  /** The nodes as they came; none where there is a problem. */
  readonly nodes: readonly GraphNode[]
}

const GRAPH: Place = { nodeId: undefined, tokens: ['nodes'] }

/** Judges the nodes of a graph as somebody wrote or rendered them, the list at `/nodes` of the graph. */
export function validateNodes(nodes: unknown): Validation {
  if (!Array.isArray(nodes))
    return refused(problem(GRAPH, `must be a list, not ${formatValue('', nodes)}`))
  if (nodes.length === 0) return refused(problem(GRAPH, 'must have at least one node'))
  // Nothing else is worth saying of a graph that is too long to be looked at.
  if (nodes.length > MAX_NODES)
    return refused(
      problem(GRAPH, `has ${nodes.length} nodes, more than the ${MAX_NODES} that are allowed`),
    )
  const mistakes = nodes.flatMap((node, index) => nodeRules(node, placeOf(node, index)))
  // Rules about several nodes read what the rules of one have found in order.
  const problems = mistakes.length > 0 ? mistakes : graphProblems(nodes)
  const size = problems.length > 0 ? [] : sizeRules(nodes, GRAPH)
  const all = [...problems, ...size.filter(({ isProblem }) => isProblem).map(found)]
  const warnings = size.filter(({ isProblem }) => !isProblem).map(found)
  return { problems: all, warnings, nodes: all.length > 0 ? [] : nodes }
}

const found = ({ found }: { readonly found: GraphProblem }) => found

const refused = (mistake: GraphProblem): Validation => ({
  problems: [mistake],
  warnings: [],
  nodes: [],
})

const placeOf = (node: unknown, index: number): Place => {
  const id = memberOf(node, 'id')
  return {
    nodeId: typeof id === 'string' ? id.slice(0, 63) : undefined,
    tokens: ['nodes', String(index)],
  }
}

const graphProblems = (nodes: readonly GraphNode[]): readonly GraphProblem[] => [
  ...sharedIds(nodes),
  ...sharedObjects(nodes),
  ...unknownDependencies(nodes),
  ...cycle(nodes),
]

const sharedIds = (nodes: readonly GraphNode[]) =>
  repeated(nodes, ({ id }) => id).map(({ node, index, first }) =>
    problem(
      below(placeOf(node, index), 'id'),
      `"${node.id}" is the id of /nodes/${first} too: an id is unique`,
    ),
  )

const sharedObjects = (nodes: readonly GraphNode[]) =>
  repeated(nodes, ({ object }) => keyOf(refOf(object))).map(({ node, index, first }) =>
    problem(
      below(placeOf(node, index), 'object'),
      `${titleOf(refOf(node.object))} is the object of node ${nodes[first]?.id} too: one object has one node`,
    ),
  )

/** The nodes whose key an earlier one has, and the index of that one. */
function repeated(nodes: readonly GraphNode[], keyOfNode: (node: GraphNode) => string) {
  const firsts = new Map<string, number>()
  return nodes.flatMap((node, index) => {
    const key = keyOfNode(node)
    const first = firsts.get(key)
    if (first === undefined) firsts.set(key, index)
    return first === undefined ? [] : [{ node, index, first }]
  })
}

function unknownDependencies(nodes: readonly GraphNode[]) {
  const ids = nodes.map(({ id }) => id)
  const known = new Set(ids)
  return nodes.flatMap((node, index) =>
    (node.dependsOn ?? []).flatMap((dependency, position) =>
      known.has(dependency)
        ? []
        : [
            problem(
              below(placeOf(node, index), 'dependsOn', position),
              suggesting(
                `no node has the id ${formatValue('', dependency)}`,
                nearest(dependency, ids),
                `the ids are ${formatValue('', ids, 200)}`,
              ),
            ),
          ],
    ),
  )
}

function cycle(nodes: readonly GraphNode[]): readonly GraphProblem[] {
  const path = shortestCycle(nodes)
  if (!path) return []
  const index = nodes.findIndex(({ id }) => id === path[0])
  const place = below(placeOf(nodes[index], index), 'dependsOn')
  return [problem(place, `is a cycle: ${path.join(' → ')}`)]
}
