import { apiVersionOf, definitionName } from '../../../shared/api/custom-resource.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { read } from '../../../shared/cluster/resource.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import { TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'

const DEFINITIONS = { apiVersion: 'apiextensions.k8s.io/v1', resource: 'customresourcedefinitions' }
const NAMESPACES = { apiVersion: 'v1', resource: 'namespaces' }

/**
 * Why what a deleted graph made is left as it is; undefined where it can be deleted. All of it is read anew: whoever deletes a
 * definition, or a namespace, deletes the objects in it too, and has not asked for what these made elsewhere to go.
 */
export async function obstacleToDeleting(
  client: Client,
  graph: ResourceGraph,
  transform: Transform | undefined,
): Promise<string | undefined> {
  const { namespace = '' } = graph.metadata
  for (const kind of [TRANSFORM, RESOURCE_GRAPH]) {
    const definition = await read(client, DEFINITIONS, definitionName(kind))
    if (!definition || definition.metadata.deletionTimestamp)
      return `the definition of ${kind.kind} is being deleted, which is no wish to delete what was made`
  }
  const home = await read(client, NAMESPACES, namespace)
  if (!home || home.metadata.deletionTimestamp)
    return `the namespace ${namespace} is being deleted, and what is in it goes with it`
  if (transform) return undefined
  const at = { apiVersion: apiVersionOf(TRANSFORM), resource: TRANSFORM.plural, namespace }
  const found = await read(client, at, graph.metadata.name)
  if (found?.metadata.uid === graph.spec.sourceRef.uid)
    throw new Error('the Transform is not in the watch yet')
  return 'its Transform is gone, so that nobody says by whose rights'
}
