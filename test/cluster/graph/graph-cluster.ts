import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { install } from '../../../tools/control-plane/install.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { lastLines } from '../../../tools/control-plane/processes.ts'
import {
  type GraphSystem,
  graphManifests,
  isJudged,
  startGraphSystem,
} from '../../../tools/dev/graph/system.ts'
import { findTool } from '../../../tools/go-programs/tools.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import {
  environment,
  type Scope,
  type TestCluster,
  type TestClusterOptions,
  testCluster,
} from '../harness/fixture.ts'
import { ownProgram } from '../harness/program.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'

/** The namespace in which the tests' Transforms are. */
export const HOME = 'shop'
const GROUP = '/apis/platform.pequod.io/v1alpha1'

export interface GraphClusterOptions extends TestClusterOptions {
  readonly reconcilerFlags?: readonly string[]
  readonly webhookFlags?: readonly string[]
  /** False where nobody is at the door: what the reconciler makes of what it would have refused. */
  readonly hasWebhook?: boolean
  /** Further namespaces that are enrolled. */
  readonly homes?: readonly string[]
}

/** A cluster with the system `graph` at work on it. */
export interface GraphCluster extends TestCluster {
  readonly system: GraphSystem
  /** Reads an object; undefined where there is none. */
  read(path: string): Promise<Loose>
  /** Applies objects as the administrator. */
  apply(...objects: readonly Manifest[]): Promise<void>
  /** Waits until the condition `Ready` of a Transform of HOME says this of its present generation, and gives the Transform. */
  untilReady(
    name: string,
    is: 'True' | { readonly reason: string; readonly message?: RegExp },
  ): Promise<Loose>
  /** Waits until there is no such object. */
  untilGone(path: string): Promise<void>
  /** The log of the reconciler. */
  log(): string
}

export const transformPath = (name: string, namespace = HOME) =>
  `${GROUP}/namespaces/${namespace}/transforms/${name}`
export const graphPath = (name: string, namespace = HOME) =>
  `${GROUP}/namespaces/${namespace}/resourcegraphs/${name}`
export const configMapPath = (name: string, namespace = HOME) =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`

/** A Transform of HOME whose module is its text. */
export const inlineTransform = (
  name: string,
  module: string,
  { input = {}, ...spec }: Readonly<Record<string, unknown>> = {},
): Manifest => ({
  apiVersion: 'platform.pequod.io/v1alpha1',
  kind: 'Transform',
  metadata: { name, namespace: HOME },
  spec: { cueRef: { type: 'inline', ref: module }, input, ...spec },
})

/** Starts a cluster and the system on it, under its own accounts, and waits until the webhook judges; all ends with the test. */
export async function graphCluster(
  t: Scope,
  {
    reconcilerFlags = [],
    webhookFlags = [],
    hasWebhook = true,
    homes = [],
    ...rest
  }: GraphClusterOptions = {},
): Promise<GraphCluster> {
  const cluster = await testCluster(t, rest)
  await install(cluster, graphManifests([HOME, ...homes]))
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  const folder = join(cluster.dataDir, 'graph')
  const env = environment()
  const system = await startGraphSystem({
    client,
    kubeconfig,
    folder,
    entry: ownProgram().entry,
    env: { PATH: env.PATH ?? '' },
    evaluator: await findTool('cue-evaluator', env, (line) => t.comment(line)),
    reconcilerFlags: [`--webhook-timeout=${PATIENCE_S}`, ...reconcilerFlags],
    webhookFlags,
    hasWebhook,
  })
  t.teardown(async () => {
    const processes = [system.reconciler, ...(hasWebhook ? [system.webhook] : [])]
    for (const child of processes.map((process) => process.child()))
      if (!child.isRunning())
        t.comment(`the ${child.name} ended by itself:\n${lastLines(child.output(), 20)}`)
    await system.stop()
    await client.close()
  })
  if (hasWebhook) await until('the webhook judges', () => isJudged(client, HOME))
  const read = async (path: string) => {
    const { status, body } = await cluster.admin('GET', path)
    return status === 404 ? undefined : body
  }
  return Object.assign(cluster, {
    system,
    read,
    apply: (...objects: readonly Manifest[]) => install(cluster, objects),
    async untilReady(name: string, is: Parameters<GraphCluster['untilReady']>[1]) {
      let transform: Loose
      await until(`${name} is ${JSON.stringify(is)}`, async () => {
        transform = await read(transformPath(name))
        const { conditions = [] } = transform?.status ?? {}
        const ready = conditions.find(({ type }: Loose) => type === 'Ready')
        if (ready?.observedGeneration !== transform?.metadata.generation) return false
        if (is === 'True') return ready.status === 'True'
        return ready.reason === is.reason && (is.message?.test(ready.message) ?? true)
      })
      return transform
    },
    async untilGone(path: string) {
      await until(`${path} is gone`, async () => (await read(path)) === undefined)
    },
    log: () => readFileSync(join(folder, 'reconciler-graph.log'), 'utf8'),
  })
}
