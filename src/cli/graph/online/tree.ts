import type { ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import type { Transform } from '../../../shared/graph/transform.ts'
import { keyOf, type ObjectRef, refOf } from '../../../shared/graph-engine/node.ts'
import { decided } from '../../run-cli.ts'
import {
  noTransform,
  type OnlineOptions,
  onCluster,
  readGraph,
  readTransform,
} from './on-cluster.ts'
import { FORMATS } from './tree-formats.ts'

export interface TreeOptions extends OnlineOptions {
  readonly output: keyof typeof FORMATS
}

/** A Transform and what became of it. */
export interface Tree {
  readonly transform: {
    readonly namespace: string
    readonly name: string
    /** Of its condition Ready; `Unknown` where there is none, or it is about an earlier generation. */
    readonly ready: string
    readonly reason: string
    readonly message: string
  }
  /** In the order of the module. */
  readonly nodes: readonly TreeNode[]
  /** What has left the graph and is still there. */
  readonly leaving: readonly (ObjectRef & { readonly id: string; readonly state: string })[]
}

export interface TreeNode {
  readonly id: string
  readonly object: ObjectRef
  readonly dependsOn: readonly string[]
  readonly phase: string
  /** What holds it up, or what is wrong; else what its readiness is read from. */
  readonly message: string
}

/**
 * The `graph tree` command: prints the nodes of a Transform. Returns the exit code: 0 where it is ready, 1 where it is not. Throws an
 * UndecidedError where that cannot be told.
 */
export const tree = (name: string, options: TreeOptions): Promise<number> =>
  decided(
    onCluster(options, async (cluster) => {
      const transform = await readTransform(cluster, name)
      if (!transform) throw noTransform(cluster, name)
      const found = treeOf(transform, await readGraph(cluster, name))
      process.stdout.write(FORMATS[options.output](found))
      return found.transform.ready === 'True' ? 0 : 1
    }),
  )

/** What there is to show of a Transform and its graph. */
export function treeOf(transform: Transform, graph: ResourceGraph | undefined): Tree {
  const { status } = graph ?? {}
  const nodes = (graph?.spec.nodes ?? []).map(({ id, object, dependsOn = [] }) => {
    const { phase = 'Pending', lastError, readyDetails = '' } = status?.nodeStatus?.[id] ?? {}
    return { id, object: refOf(object), dependsOn, phase, message: lastError ?? readyDetails }
  })
  const wanted = new Set(nodes.map(({ object }) => keyOf(object)))
  const leaving = (status?.inventory ?? [])
    .filter((item) => !wanted.has(keyOf(item as ObjectRef)))
    .map(({ id, state, apiVersion, kind, namespace, name }) => ({
      id,
      state,
      apiVersion,
      kind,
      ...(namespace !== undefined && { namespace }),
      name,
    }))
  return { transform: headOf(transform), nodes, leaving }
}

function headOf({ metadata, status }: Transform): Tree['transform'] {
  const { name, namespace = '', generation } = metadata
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const isCurrent = ready?.observedGeneration === generation
  return {
    namespace,
    name,
    ready: ready && isCurrent ? ready.status : 'Unknown',
    reason: ready && isCurrent ? ready.reason : 'Progressing',
    message: ready && isCurrent ? ready.message : 'the reconciler has not looked at it yet',
  }
}
