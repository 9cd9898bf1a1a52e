import { type Condition, conditionsFrom } from '../../../shared/api/conditions.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { finalizersOf, removeFinalizer } from '../../../shared/cluster/finalizers.ts'
import { deleteExactly, patchJson, read, timestamp } from '../../../shared/cluster/resource.ts'
import { titleOf } from '../../../shared/engine/json/object.ts'
import { FINALIZER } from '../../../shared/graph/names.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import {
  isOrphaning,
  TRANSFORM,
  type Transform,
  type TransformStatus,
} from '../../../shared/graph/transform.ts'
import { resourceOf } from '../sources.ts'

/** Has the graph of a deleted Transform deleted, and lets the Transform go when it is. Returns what to say meanwhile. */
export async function finalizeTransform(
  client: Client,
  transform: Transform,
): Promise<TransformStatus | undefined> {
  const { name, namespace, uid } = transform.metadata
  if (!finalizersOf(transform).includes(FINALIZER)) return undefined
  const at = resourceOf(RESOURCE_GRAPH, namespace)
  const graph = (await read(client, at, name)) as ResourceGraph | undefined
  if (!graph || graph.spec.sourceRef.uid !== uid) {
    await removeFinalizer(client, resourceOf(TRANSFORM, namespace), transform, FINALIZER)
    return undefined
  }
  let current = graph
  // First of all: the graph's own deletion goes by it.
  if (isToStay(transform, graph) && graph.spec.deletionPolicy !== 'Orphan')
    current = (await patchJson(client, at, name, [
      { op: 'test', path: '/metadata/uid', value: graph.metadata.uid },
      { op: 'replace', path: '/spec/deletionPolicy', value: 'Orphan' },
    ])) as ResourceGraph
  if (!current.metadata.deletionTimestamp) await deleteExactly(client, at, current)
  return deletingStatus(transform, current)
}

// `--cascade=orphan` is a finalizer that the garbage collector takes away again as soon as it has cut what is owned off.
const isToStay = (transform: Transform, { metadata }: ResourceGraph) => {
  const owners = (metadata.ownerReferences ?? []) as readonly { readonly uid: string }[]
  return isOrphaning(transform) || !owners.some(({ uid }) => uid === transform.metadata.uid)
}

function deletingStatus(transform: Transform, graph: ResourceGraph): TransformStatus {
  const ready = graph.status?.conditions?.find(({ type }) => type === 'Ready')
  const isTold = graph.metadata.deletionTimestamp && ready?.reason === 'Deleting'
  const message = isTold ? ready.message : `${titleOf(graph)} is being deleted`
  const { status, metadata } = transform
  const { generation = 0 } = metadata
  return {
    ...status,
    observedGeneration: generation,
    conditions: conditionsFrom(
      [{ type: 'Ready', status: 'False', reason: 'Deleting', message }],
      status?.conditions as readonly Condition[],
      { generation, now: timestamp() },
    ),
  }
}
