import { isMap } from '../../../shared/engine/json/object.ts'
import type { Rendering } from '../../../shared/graph/rendering.ts'
import type { ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import { inventoryIn } from '../../../shared/graph/stored-inventory.ts'
import { TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'
import { diff } from '../../../shared/graph-engine/diff.ts'
import type { Digest } from '../../../shared/graph-engine/inventory.ts'
import { type GraphNode, keyOf, refOf } from '../../../shared/graph-engine/node.ts'
import type { Preview } from '../preview.ts'
import type { Snapshot } from '../snapshot.ts'
import { allow, type Owned, type Verdict } from './verdict.ts'

export interface TransformGathered {
  readonly incoming: Transform
  readonly preview: Preview
  readonly snapshot: Snapshot
  readonly digest: Digest
}

/** Decides on a Transform whose spec is new or another one. */
export function judgeTransform(gathered: TransformGathered): Verdict {
  const { preview } = gathered
  switch (preview.kind) {
    case 'elsewhere':
      return allow('ModuleElsewhere')
    case 'unevaluated':
      return { kind: 'allowed', reason: 'NotPreviewed', why: preview.why }
    case 'faulty':
      return { kind: 'denied', ...preview.fault }
    case 'rendered':
      return judgeRendering(gathered, preview)
    default:
      return preview satisfies never
  }
}

function judgeRendering(
  { incoming, snapshot, digest }: TransformGathered,
  { rendering, isPlaced }: Extract<Preview, { kind: 'rendered' }>,
): Verdict {
  const { nodes = [], violations, warnings } = rendering
  // Which object is meant by a node is not known before it is known whether its kind is in namespaces.
  const known = isPlaced ? nodes : []
  const owned = known.flatMap((node) => ownedBy(node, incoming, snapshot) ?? [])
  if (owned.length > 0) return { kind: 'denied', reason: 'Owned', owned }
  const graph = snapshot.graphOf(incoming)
  return {
    kind: 'allowed',
    reason: 'Rendered',
    violations: violations.filter(isTold),
    warnings,
    pruned: graph && isPlaced ? prunedBy(incoming, graph, rendering, digest) : [],
  }
}

const isTold = ({ severity }: Rendering['violations'][number]) => severity === 'Warning'

function prunedBy(
  { spec }: Transform,
  graph: ResourceGraph,
  { nodes = [] }: Rendering,
  digest: Digest,
) {
  const { deletionPolicy = 'Delete' } = spec
  const inventory = inventoryIn(graph)
  return diff({ graph: { nodes, isComplete: true }, inventory, deletionPolicy, digest })
    .filter(({ kind }) => kind === 'pruned')
    .map(({ ref }) => ref)
}

/** The other graph that holds a node's object; undefined where none does, or ours does too, as one of the two is about to let it go. */
function ownedBy(
  { id, object }: GraphNode,
  incoming: Transform,
  { holderOf }: Snapshot,
): Owned | undefined {
  const ref = refOf(object)
  const holder = holderOf(keyOf(ref), incoming)
  return holder === undefined ? undefined : { id, ref, by: `${TRANSFORM.kind} ${holder}` }
}

/** Whether a write is about what the object is to be at all: finalizers, labels and what is going are nobody's business here. */
export function whyNotJudged(
  incoming: { readonly metadata: Transform['metadata']; readonly spec?: unknown },
  isSpecChanged: boolean,
): 'Ending' | 'Unchanged' | 'Suspended' | undefined {
  if (incoming.metadata.deletionTimestamp) return 'Ending'
  if (!isSpecChanged) return 'Unchanged'
  return isMap(incoming.spec) && incoming.spec.suspend === true ? 'Suspended' : undefined
}
