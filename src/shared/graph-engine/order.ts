/** Something that has its place after others. */
export interface Ordered {
  readonly id: string
  readonly dependsOn?: readonly string[]
}

export interface Order {
  /** Each wave depends on earlier ones only; inside a wave as declared. */
  readonly waves: readonly (readonly string[])[]
  /** What is in a cycle, or depends on what is. */
  readonly rest: readonly string[]
}

/** Puts nodes into an order in which each comes after what it depends on: the same for the same declaration, in linear time. */
export function orderOf(nodes: readonly Ordered[]): Order {
  const graph = edgesOf(nodes)
  const waveOf = wavesOf(graph)
  const waves: string[][] = []
  const rest: string[] = []
  for (const id of graph.keys()) {
    const wave = waveOf.get(id)
    if (wave === undefined) rest.push(id)
    else push(waves, wave, id)
  }
  return { waves, rest }
}

const push = (waves: string[][], wave: number, id: string) => {
  while (waves.length <= wave) waves.push([])
  waves[wave]?.push(id)
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>

/** What each depends on, in the order of declaration; what is not declared says nothing about order. */
function edgesOf(nodes: readonly Ordered[]): Edges {
  const edges = new Map<string, Set<string>>(nodes.map(({ id }) => [id, new Set()]))
  for (const { id, dependsOn = [] } of nodes)
    for (const dependency of dependsOn) if (edges.has(dependency)) edges.get(id)?.add(dependency)
  return edges
}

/** Kahn's algorithm: the number of the wave of each node that is in no cycle and after none. */
function wavesOf(edges: Edges): ReadonlyMap<string, number> {
  const dependents = new Map<string, string[]>([...edges.keys()].map((id) => [id, []]))
  const missing = new Map<string, number>()
  for (const [id, dependencies] of edges) {
    missing.set(id, dependencies.size)
    for (const dependency of dependencies) dependents.get(dependency)?.push(id)
  }
  const waves = new Map<string, number>()
  let wave = [...edges.keys()].filter((id) => missing.get(id) === 0)
  for (let number = 0; wave.length > 0; number++) {
    for (const id of wave) waves.set(id, number)
    wave = wave.flatMap((id) => (dependents.get(id) ?? []).filter((next) => isLast(missing, next)))
  }
  return waves
}

const isLast = (missing: Map<string, number>, id: string) => {
  const left = (missing.get(id) ?? 0) - 1
  missing.set(id, left)
  return left === 0
}

/**
 * The shortest cycle, as the path from a node to itself along its dependencies; of several the one whose first node is declared
 * first. Undefined where there is none.
 */
export function shortestCycle(nodes: readonly Ordered[]): readonly string[] | undefined {
  const { rest } = orderOf(nodes)
  const kept = new Set(rest)
  const edges = edgesOf(nodes.filter(({ id }) => kept.has(id)))
  let shortest: readonly string[] | undefined
  for (const id of rest) {
    const cycle = cycleThrough(id, edges)
    if (cycle && (!shortest || cycle.length < shortest.length)) shortest = cycle
  }
  return shortest
}

/** Breadth first, so that the first way back is a shortest one. */
function cycleThrough(start: string, edges: Edges): readonly string[] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const id of queue)
    for (const next of edges.get(id) ?? []) {
      if (next === start) return [...pathTo(id, start, cameFrom), start]
      if (cameFrom.has(next)) continue
      cameFrom.set(next, id)
      queue.push(next)
    }
  return undefined
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>) {
  const path = [end]
  for (let id = end; id !== start; ) {
    id = cameFrom.get(id) ?? start
    path.push(id)
  }
  return path.reverse()
}
