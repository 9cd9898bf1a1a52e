import type { Client } from '../../shared/cluster/client.ts'
import { accountUser } from '../../shared/engine/identity.ts'
import type { EmbeddedModules } from '../../shared/graph/local-module.ts'
import { GRAPH } from '../../shared/graph/names.ts'
import { Evaluator } from '../../shared/modules/evaluator.ts'
import type { Module } from '../../shared/modules/module.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createAdmissionMetrics, createRegistry } from '../../shared/ops/metrics.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { type ServeConfig, serve } from '../server/serve.ts'
import { followGraphs } from './follow-graphs.ts'
import { createHandler } from './handlers.ts'

export interface GraphWebhookConfig extends ServeConfig {
  readonly namespace: string
  /** The program that evaluates CUE. */
  readonly evaluator: string
}

export interface GraphWebhookDeps {
  readonly client: Client
  readonly embedded: EmbeddedModules
  /** The policies that hold where the platform has none of its own. */
  readonly policies: Module
  readonly log: Log
  readonly signal: AbortSignal
}

// A time so short is soon exceeded on a busy machine, which says little of the module.
const EXCEEDED_MS = 30_000

/** Starts the webhook of graphs. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runGraphWebhook(
  config: GraphWebhookConfig,
  deps: GraphWebhookDeps,
): Promise<{ readonly ended: Promise<void> }> {
  const { client, embedded, policies, log, signal } = deps
  const now = () => performance.now()
  const registry = createRegistry()
  const metrics = createAdmissionMetrics(registry, 'pequod')
  const tell = createTroubleTeller(log)
  // Whoever is asked while it ends must know as much as before: the graphs are followed to the last answer.
  const served = new AbortController()
  const graphs = followGraphs({
    client,
    namespace: config.namespace,
    log,
    tell,
    now,
    signal: served.signal,
  })
  const evaluator = new Evaluator({ program: config.evaluator, exceededMs: EXCEEDED_MS })
  const handler = createHandler({
    snapshot: graphs.current,
    kinds: graphs.kinds,
    embedded,
    policies: () => graphs.policies(policies),
    evaluator,
    reconciler: accountUser(config.namespace, GRAPH.reconcilerAccount),
    digest: sha256,
    metrics,
    log,
    now,
  })
  const server = await serve(config, {
    prefix: GRAPH.prefix,
    routes: { '/validate': handler },
    obstacles: graphs.obstacles,
    registry,
    certificateExpiry: metrics.certificateExpiry,
    client,
    log,
    tell,
    now,
  })
  const { port, opsPort } = server
  graphs.start()
  log.info({ port, opsPort }, 'webhook listening')
  const end = async () => {
    await server.end()
    served.abort()
    evaluator.close()
  }
  return { ended: afterAbort(signal, end) }
}
