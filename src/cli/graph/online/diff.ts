import { ServedKinds } from '../../../shared/cluster/served-kinds.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import { faultMessage } from '../../../shared/graph/fault.ts'
import { MARKS } from '../../../shared/graph/names.ts'
import { inventoryIn } from '../../../shared/graph/stored-inventory.ts'
import { TRANSFORM, type Transform } from '../../../shared/graph/transform.ts'
import { diff as differences } from '../../../shared/graph-engine/diff.ts'
import { type GraphNode, refOf } from '../../../shared/graph-engine/node.ts'
import { sha256 } from '../../../shared/ops/digest.ts'
import type { Env } from '../../../shared/ops/env.ts'
import { decided, UndecidedError, warn } from '../../run-cli.ts'
import { withEvaluator } from '../evaluator.ts'
import { policiesAt, preview, remarksOn } from '../preview.ts'
import { type Finding, FORMATS, findingOn } from './finding.ts'
import { lookAt } from './look.ts'
import { type Cluster, type OnlineOptions, onCluster, readGraph } from './on-cluster.ts'
import { type Wanted, wantedOf } from './wanted.ts'

export interface DiffOptions extends OnlineOptions {
  readonly policies?: string
  readonly cueEvaluator?: string
  readonly output: keyof typeof FORMATS
}

/**
 * The `graph diff` command: prints what applying a Transform would change. Returns the exit code: 0 nothing, 1 something, 2 where
 * that is not known of every object. Throws an UndecidedError where it is known of none.
 */
export const diff = (target: string, options: DiffOptions, env: Env): Promise<number> =>
  decided(onCluster(options, (cluster) => diffOn(cluster, target, options, env)))

async function diffOn(
  cluster: Cluster,
  target: string,
  options: DiffOptions,
  env: Env,
): Promise<number> {
  const wanted = await wantedOf(target, cluster)
  const kinds = new ServedKinds(cluster.client, () => performance.now())
  const nodes = await nodesOf(wanted, kinds, options, env)
  const findings = await compare(wanted.transform, wanted.stored, nodes, { cluster, kinds })
  process.stdout.write(FORMATS[options.output](findings))
  if (wanted.transform.spec.suspend)
    warn(`${titleOf(wanted.transform)} is suspended: nothing is done until spec.suspend is false`)
  for (const { action, object, message } of findings)
    if (action === 'unknown') warn(`${object} cannot be compared: ${message}`)
  if (findings.some(({ action }) => action === 'unknown')) return 2
  return findings.some(({ action }) => action !== 'none') ? 1 : 0
}

/** What the Transform is rendered to now. */
async function nodesOf(
  { transform, module }: Wanted,
  kinds: ServedKinds,
  { cueEvaluator, policies }: DiffOptions,
  env: Env,
): Promise<readonly GraphNode[]> {
  const rendering = await withEvaluator(cueEvaluator, env, (evaluator) =>
    preview(transform, module, {
      evaluator,
      policies: policiesAt(policies),
      async scopesOf(nodes) {
        await kinds.learn(nodes.map(({ object }) => object))
        return (apiVersion, kind) => kinds.isClusterScoped({ apiVersion, kind })
      },
    }),
  )
  for (const line of remarksOn(rendering)) warn(line)
  const { nodes, fault } = rendering
  if (nodes) return nodes
  const why = fault ? `${fault.reason}: ${faultMessage(fault)}` : 'it has no nodes'
  throw new UndecidedError(`${titleOf(transform)} is refused, and nothing would change: ${why}`)
}

async function compare(
  transform: Transform,
  stored: KubeObject | undefined,
  nodes: readonly GraphNode[],
  { cluster, kinds }: { readonly cluster: Cluster; readonly kinds: ServedKinds },
): Promise<readonly Finding[]> {
  const { name, namespace = '' } = transform.metadata
  const graph = await readGraph({ ...cluster, namespace }, name)
  const inventory = graph ? inventoryIn(graph) : []
  const refs = [...nodes.map(({ object }) => refOf(object)), ...inventory]
  const objects = await lookAt(refs, cluster, kinds)
  const uid = stored?.metadata.uid ?? ''
  const owner = { kind: TRANSFORM.kind, namespace, name, uid }
  const { deletionPolicy } = transform.spec
  const found = differences({
    graph: { nodes, isComplete: true },
    inventory,
    live: { objects, owner, names: MARKS },
    ...(deletionPolicy && { deletionPolicy }),
    digest: sha256,
  })
  return found.map((difference) => findingOn(difference, { nodes, objects }))
}
