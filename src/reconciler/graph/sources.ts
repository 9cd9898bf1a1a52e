import { apiVersionOf, type CustomResource } from '../../shared/api/custom-resource.ts'
import type { Resource } from '../../shared/cluster/resource.ts'
import type { Source, Store } from '../../shared/cluster/store.ts'
import { POLICIES } from '../../shared/graph/platform-policies.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../shared/graph/resource-graph.ts'
import { TRANSFORM, type Transform } from '../../shared/graph/transform.ts'

/** Where the objects of one of our kinds are, of one namespace or of all. */
export const resourceOf = (kind: CustomResource, namespace?: string): Resource => ({
  apiVersion: apiVersionOf(kind),
  resource: kind.plural,
  ...(namespace !== undefined && { namespace }),
})

export const TRANSFORMS: Source = { id: TRANSFORM.plural, at: resourceOf(TRANSFORM) }
export const RESOURCE_GRAPHS: Source = { id: RESOURCE_GRAPH.plural, at: resourceOf(RESOURCE_GRAPH) }

/** The ConfigMap of the platform's policies, in our own namespace. */
export const policiesSource = (namespace: string): Source => ({
  id: POLICIES,
  at: { apiVersion: 'v1', resource: 'configmaps', namespace },
  name: POLICIES,
})

/** The Transform of a key, as the watch saw it last. */
export const transformOf = (store: Store, key: string) =>
  store.object(TRANSFORMS.id, key) as Transform | undefined

/** The ResourceGraph of a key; its Transform has the same. */
export const resourceGraphOf = (store: Store, key: string) =>
  store.object(RESOURCE_GRAPHS.id, key) as ResourceGraph | undefined
