import { type Condition, conditionsFrom, type Finding } from '../../../shared/api/conditions.ts'
import { timestamp } from '../../../shared/cluster/resource.ts'
import type { ResourceGraph, ResourceGraphStatus } from '../../../shared/graph/resource-graph.ts'
import type { Inventory } from '../../../shared/graph-engine/inventory.ts'
import type { Obstacle } from '../../../shared/graph-engine/prune/prune.ts'
import type { Teardown } from '../../../shared/graph-engine/prune/teardown.ts'
import type { NodeState } from '../../../shared/graph-engine/step/node-state.ts'
import type { Step } from '../../../shared/graph-engine/step/step.ts'

/** What a pass has found. */
export interface Seen extends Step {
  /** Whether a change of any of its objects is seen when it is made. */
  readonly isWatched: boolean
}

/** What a ResourceGraph's status is to say after a pass. */
export function statusAfter(graph: ResourceGraph, step: Seen, now: string): ResourceGraphStatus {
  const { phase } = step.summary
  return {
    ...statusWith(
      graph,
      [readyFinding(graph, step), ...stalledFinding(step), ...unwatchedFinding(step)],
      now,
    ),
    phase,
    nodeStatus: Object.fromEntries(
      [...step.nodes].map(([id, state]) => [id, nodeStatus(graph.status, id, state, now)]),
    ),
    inventory: inventoryOf(step.inventory),
  }
}

/** What it says while its objects are being deleted. */
export function statusWhileDeleting(
  graph: ResourceGraph,
  { inventory, obstacles }: Teardown,
  now: string,
): ResourceGraphStatus {
  const message = obstacleText(obstacles) ?? `deleting ${inventory.length} objects`
  const finding: Finding = { type: 'Ready', status: 'False', reason: 'Deleting', message }
  return {
    ...statusWith(graph, [finding], now),
    phase: 'Executing',
    inventory: inventoryOf(inventory),
  }
}

/** What it says where nothing is done about it. */
export const statusAtRest = (
  graph: ResourceGraph,
  reason: string,
  message: string,
  now: string,
): ResourceGraphStatus => ({
  ...graph.status,
  ...statusWith(graph, [{ type: 'Ready', status: 'False', reason, message }], now),
})

function statusWith({ status, metadata }: ResourceGraph, found: readonly Finding[], now: string) {
  const { generation = 0 } = metadata
  const before = status?.conditions as readonly Condition[] | undefined
  return {
    observedGeneration: generation,
    conditions: conditionsFrom(found, before, { generation, now }),
  }
}

/** Times are compared, and stored, as the API has them. */
export const inventoryOf = (inventory: Inventory): NonNullable<ResourceGraphStatus['inventory']> =>
  inventory.map(({ removedAt, ...item }) => ({
    ...item,
    ...(removedAt !== undefined && { removedAt: timestamp(removedAt) }),
  }))

function readyFinding({ spec }: ResourceGraph, step: Step): Finding {
  const { summary, obstacles, inventory } = step
  const { phase, blocking } = summary
  if (phase !== 'Ready') {
    const message = blocking ? `${blocking.object}: ${blocking.message}` : 'it is being applied'
    return { type: 'Ready', status: 'False', reason: phase, message }
  }
  // What somebody protects stays as long as he wants it to.
  const isProtected = ({ reason }: Obstacle) => reason === 'Protected'
  const count = spec.nodes.length
  const ready = count === 1 ? '1 object is ready' : `${count} objects are ready`
  const left = inventory.length - count
  if (left <= obstacles.filter(isProtected).length) {
    const note = obstacleText(obstacles)
    const message = note === undefined ? ready : `${ready}; ${note}`
    return { type: 'Ready', status: 'True', reason: 'Ready', message }
  }
  const told = obstacleText(obstacles.filter((obstacle) => !isProtected(obstacle)))
  const message = `${ready}, and ${left} that left the graph are still there`
  return { type: 'Ready', status: 'False', reason: 'Pruning', message: told ?? message }
}

// What failed is tried again for ever; but somebody should look.
const stalledFinding = ({ summary: { phase, blocking } }: Step): readonly Finding[] =>
  phase === 'Failed' && blocking
    ? [
        {
          type: 'Stalled',
          status: 'True',
          reason: 'Failed',
          message: `${blocking.object}: ${blocking.message}`,
        },
      ]
    : []

const unwatchedFinding = ({ isWatched }: Seen): readonly Finding[] =>
  isWatched
    ? []
    : [
        {
          type: 'Watched',
          status: 'False',
          reason: 'NotWatched',
          message:
            'the account may not list and watch all kinds of the graph: what changes is looked for every spec.interval',
        },
      ]

function obstacleText(obstacles: readonly Obstacle[]): string | undefined {
  const [first, ...others] = obstacles
  if (!first) return undefined
  const since = first.since === undefined ? '' : `, since ${timestamp(first.since)}`
  const more = others.length > 0 ? `, and ${others.length} more` : ''
  return `${first.message}${since}${more}`
}

function nodeStatus(
  before: ResourceGraphStatus | undefined,
  id: string,
  { phase, message, readyDetails, appliedAt }: NodeState,
  now: string,
) {
  const known = before?.nodeStatus?.[id]
  const isFailed = phase === 'Error'
  // A new leader does not remember it.
  const appliedTime = appliedAt === undefined ? known?.appliedAt : timestamp(appliedAt)
  const readyAt = known?.phase === 'Ready' ? known.readyAt : now
  return {
    phase,
    ...(message !== '' && (isFailed ? { lastError: message } : { readyDetails: message })),
    ...(message === '' && readyDetails !== undefined && { readyDetails }),
    ...(appliedTime !== undefined && { appliedAt: appliedTime }),
    ...(phase === 'Ready' && readyAt !== undefined && { readyAt }),
  }
}
