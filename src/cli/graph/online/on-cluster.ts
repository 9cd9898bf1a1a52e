import { resourceOf } from '../../../reconciler/graph/sources.ts'
import type { CustomResource } from '../../../shared/api/custom-resource.ts'
import { type Client, connect } from '../../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../../shared/cluster/kubeconfig.ts'
import { read } from '../../../shared/cluster/resource.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import { TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'

/** Which cluster a command is about, and which namespace of it. */
export interface OnlineOptions {
  readonly kubeconfig?: string
  readonly namespace?: string
}

/** A cluster as whoever asks may read it. */
export interface Cluster {
  readonly client: Client
  /** The one that was asked for, else that of the kubeconfig's context. */
  readonly namespace: string
}

/** Calls `work` with a client of the cluster, and closes it then. */
export async function onCluster<Result>(
  options: OnlineOptions,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const kubeconfig = loadKubeconfig(options.kubeconfig)
  const context = kubeconfig.getContextObject(kubeconfig.getCurrentContext())
  const namespace = options.namespace ?? context?.namespace ?? 'default'
  const client = await connect(kubeconfig)
  try {
    return await work({ client, namespace })
  } finally {
    await client.close()
  }
}

/** A Transform as it is stored; undefined where there is none. */
export const readTransform = (cluster: Cluster, name: string) =>
  readOf(TRANSFORM, cluster, name) as Promise<Transform | undefined>

/** The ResourceGraph of a Transform, which has its name. */
export const readGraph = (cluster: Cluster, name: string) =>
  readOf(RESOURCE_GRAPH, cluster, name) as Promise<ResourceGraph | undefined>

const readOf = (
  kind: CustomResource,
  { client, namespace }: Cluster,
  name: string,
): Promise<KubeObject | undefined> => read(client, resourceOf(kind, namespace), name)

/** That there is no such Transform. */
export const noTransform = ({ namespace }: Cluster, name: string) =>
  new Error(`there is no Transform ${namespace}/${name}: -n says in which namespace it is`)
