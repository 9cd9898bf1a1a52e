import { type Digest, type Inventory, sameOr, withGraph, withIntent } from '../inventory.ts'
import {
  type DeletionPolicy,
  type Graph,
  type GraphNode,
  isWholeGraph,
  keyOf,
  refOf,
  titleOf,
} from '../node.ts'
import { orderOf } from '../order.ts'
import { fieldManagerOf, type MarkNames, type Owner, verdictOf } from '../ownership.ts'
import { type Obstacle, type Pruned, prune, type Release } from '../prune/prune.ts'
import type { Action } from './action.ts'
import { type Decision, decide } from './decide.ts'
import type { Blocker, NodeState, Summary } from './node-state.ts'
import type { Observed } from './observed.ts'

export interface StepInput {
  readonly graph: Graph
  /** As it was written last. */
  readonly inventory: Inventory
  readonly observed: Observed
  readonly owner: Owner
  readonly names: MarkNames
  /** Of nodes that name none; `Delete` where it is absent. */
  readonly deletionPolicy?: DeletionPolicy
  /** How long an object stays after it left the graph, if it does not say otherwise itself; 30 where it is absent. */
  readonly graceSeconds?: number
  readonly now: number
  readonly digest: Digest
}

export interface Step {
  /** To be written before any action where it is not the one that came in: what is not in it would be lost by a crash. */
  readonly inventory: Inventory
  readonly actions: readonly Action[]
  /** By node id, in the graph's order. */
  readonly nodes: ReadonlyMap<string, NodeState>
  readonly obstacles: readonly Obstacle[]
  readonly releases: readonly Release[]
  /** After which time the verdict may be another one without anything having changed. */
  readonly lookAgainInMs?: number
  readonly summary: Summary
}

const GRACE_SECONDS = 30

/**
 * One pass over a graph: what to do now, which nodes wait and for what. It waits for nothing itself: whatever
 * changes, and `lookAgainInMs`, are reasons for the next pass. A graph at rest yields no action.
 */
export function step(input: StepInput): Step {
  const { graph, now } = input
  const known = withGraph(input.inventory, graph, now)
  const decisions = decideAll(input, known)
  const intent = withIntent(known, graph, sentOf(input, decisions))
  const pruned = mayPrune(graph, decisions) ? pruneRemoved(input, intent) : undefined
  const applies = [...decisions.values()].flatMap(({ action }) => (action ? [action] : []))
  const times = [...decisions.values(), ...(pruned ? [pruned] : [])].flatMap(({ lookAgainAt }) =>
    lookAgainAt === undefined ? [] : [lookAgainAt],
  )
  return {
    inventory: sameOr(input.inventory, pruned ? withPruned(intent, pruned) : intent),
    actions: [...applies, ...(pruned?.actions ?? [])],
    nodes: new Map([...decisions].map(([id, { state }]) => [id, state])),
    obstacles: pruned?.obstacles ?? [],
    releases: pruned?.releases ?? [],
    ...(times.length > 0 && { lookAgainInMs: Math.max(0, Math.min(...times) - now) }),
    summary: summaryOf(decisions),
  }
}

type Decisions = ReadonlyMap<string, Decision>

/** Decides about each node after those that it depends on; the decisions are in the graph's order. */
function decideAll(input: StepInput, inventory: Inventory): Decisions {
  const { nodes } = input.graph
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const items = new Map(inventory.map((item) => [keyOf(item), item]))
  const fieldManager = fieldManagerOf(input.owner, input.names, input.digest)
  const decided = new Map<string, Decision>()
  const { waves, rest } = orderOf(nodes)
  for (const id of [...waves.flat(), ...rest]) {
    const node = byId.get(id)
    if (!node) continue
    const waitsFor = blockerOf(node, decided, byId)
    const item = items.get(keyOf(refOf(node.object)))
    decided.set(id, decide(node, { ...input, item, fieldManager, waitsFor }))
  }
  return new Map(nodes.flatMap(({ id }) => entryOf(decided, id)))
}

/** The nodes that are applied now; and those that were, which a status that was lost does not tell. */
const sentOf = (input: StepInput, decisions: Decisions): readonly GraphNode[] =>
  input.graph.nodes.filter((node) => decisions.get(node.id)?.action || wasSent(node, input))

function wasSent({ object }: GraphNode, { observed, owner, names }: StepInput): boolean {
  const observation = observed.objects.get(keyOf(refOf(object)))
  if (observation?.state !== 'present') return false
  const { kind } = verdictOf(observation.object, owner, names, undefined)
  return kind === 'ours' || kind === 'restored'
}

const entryOf = (decisions: Decisions, id: string) => {
  const decision = decisions.get(id)
  return decision ? [[id, decision] as const] : []
}

/** What a node waits for: the root of the first of its dependencies that is not satisfied. */
function blockerOf(
  { dependsOn = [] }: GraphNode,
  decided: Decisions,
  byId: ReadonlyMap<string, GraphNode>,
): Blocker | undefined {
  const id = dependsOn.find((dependency) => !decided.get(dependency)?.isSatisfied)
  if (id === undefined) return undefined
  // Validation refuses both; until then nothing that depends on them is applied.
  const unordered = (object: string) => ({ id, object, message: 'has no place in the order' })
  const node = byId.get(id)
  return decided.get(id)?.blocker ?? unordered(node ? titleOf(refOf(node.object)) : `node ${id}`)
}

/**
 * Only after all was applied: what is to go may still serve until its successor is there. A graph that is empty or half
 * a graph is a failed rendering, and says nothing about what should go.
 */
const mayPrune = (graph: Graph, decisions: Decisions) =>
  isWholeGraph(graph) && [...decisions.values()].every(({ isApplied }) => isApplied)

function pruneRemoved(input: StepInput, intent: Inventory): Pruned {
  const wanted = new Set(input.graph.nodes.map(({ object }) => keyOf(refOf(object))))
  const [staying = [], going = []] = [true, false].map((isWanted) =>
    intent.filter((item) => wanted.has(keyOf(item)) === isWanted),
  )
  return prune({ ...input, going, staying, graceSeconds: input.graceSeconds ?? GRACE_SECONDS })
}

const withPruned = (intent: Inventory, { remaining }: Pruned): Inventory =>
  intent.flatMap((item) => remaining.get(item) ?? [item])

/** A graph is as far as its nodes are. What blocks it is a node that waits for no other, first one that failed. */
function summaryOf(decisions: Decisions): Summary {
  const all = [...decisions.values()]
  const open = all.filter(({ isSatisfied }) => !isSatisfied)
  if (open.length === 0) return { phase: all.length > 0 ? 'Ready' : 'Pending' }
  const roots = open.filter(({ isWaiting }) => !isWaiting)
  const failed = open.find(({ state }) => state.phase === 'Error')
  const blocking = (failed ?? roots[0] ?? open[0])?.blocker
  return { phase: phaseOf(all, failed !== undefined), ...(blocking && { blocking }) }
}

function phaseOf(all: readonly Decision[], hasFailed: boolean) {
  if (hasFailed) return 'Failed'
  return all.every(({ state }) => state.phase === 'Pending') ? 'Pending' : 'Executing'
}
