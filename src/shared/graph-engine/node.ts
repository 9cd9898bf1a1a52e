import { groupOf, type KubeObject } from '../engine/json/object.ts'

/** One object of a graph, what it waits for and when others may go on. */
export interface GraphNode {
  /** Unique in its graph. */
  readonly id: string
  readonly object: KubeObject
  readonly applyPolicy?: ApplyPolicy
  /** Ids of the nodes that must be ready before this one is applied. */
  readonly dependsOn?: readonly string[]
  /** Ready when all of them hold; without any, by the rules of the object's kind. */
  readonly readyWhen?: readonly Predicate[]
}

export interface ApplyPolicy {
  /** `Create` is applied once and then left as it is. */
  readonly mode?: 'Apply' | 'Create'
  /**
   * What to do about a field that another manager owns and this object never did. Its own fields are always taken back. An object
   * that is not ours stays refused with `Force`, too: it is about fields, and takes no object over.
   */
  readonly conflictPolicy?: 'Error' | 'Force'
  /**
   * What becomes of the object when it leaves the graph, or the graph goes. Data and namespaces go by an explicit `Delete` only;
   * a graph that goes with `Orphan` leaves everything.
   */
  readonly deletionPolicy?: DeletionPolicy
}

export type DeletionPolicy = 'Delete' | 'Orphan'

export interface Predicate {
  readonly type: 'ConditionMatch' | 'DeploymentAvailable' | 'Exists'
  readonly conditionType?: string
  readonly conditionStatus?: string
  /** The node is in error when the predicate does not hold so long after the node was applied; absent or 0: it may take for ever. */
  readonly timeout?: number
}

export interface Graph {
  readonly nodes: readonly GraphNode[]
  /** False where rendering failed or is not over: what is missing in it says nothing, and nothing is pruned. */
  readonly isComplete: boolean
}

/** Whether what a graph lacks has left it: an empty one is a rendering that failed. */
export const isWholeGraph = ({ nodes, isComplete }: Graph) => isComplete && nodes.length > 0

/** Which object is meant, whatever version of its API it is written in. */
export interface ObjectRef {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export const refOf = ({ apiVersion, kind, metadata }: KubeObject): ObjectRef => ({
  apiVersion,
  kind,
  ...(metadata.namespace && { namespace: metadata.namespace }),
  name: metadata.name,
})

/** The key of an object in maps: `apps/Deployment/shop/web`. The version is no part of it: one object can be read in several. */
export const keyOf = (ref: ObjectRef) => `${kindKeyOf(ref)}/${ref.namespace ?? ''}/${ref.name}`

/** The key of a kind: `apps/Deployment`, and `/Service` of the core group. */
export const kindKeyOf = ({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string
  readonly kind: string
}) => `${groupOf(apiVersion)}/${kind}`

/** The object as messages name it: `Deployment shop/web`. */
export const titleOf = ({ kind, namespace, name }: ObjectRef) =>
  `${kind} ${namespace ? `${namespace}/` : ''}${name}`
