import { hostname } from 'node:os'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../shared/baseline/names.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { createRecorder } from '../../shared/cluster/events.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createRegistry, createWebhookMetrics } from '../../shared/ops/metrics.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { type ServeConfig, serve } from '../server/serve.ts'
import { type ContestLimits, Contests } from './contests/contests.ts'
import { followSnapshot } from './follow-snapshot.ts'
import { createHandlers } from './handlers.ts'

export interface WebhookConfig extends Omit<ServeConfig, 'certificate'> {
  readonly namespace: string
  readonly enforcement: 'correct' | 'deny' | undefined
  readonly contestLimits: ContestLimits
  /** Where the serving certificate comes from: our Secret, or a folder with tls.crt and tls.key. */
  readonly certificate:
    | { readonly mode: 'secret' }
    | { readonly mode: 'files'; readonly folder: string }
}

export interface WebhookDeps {
  readonly client: Client
  readonly catalog: Catalog
  readonly log: Log
  readonly signal: AbortSignal
  /** A clock in milliseconds that never goes back; by default the process's own. */
  readonly now?: () => number
}

export interface RunningWebhook {
  readonly port: number
  readonly opsPort: number
  readonly ended: Promise<void>
}

/** Starts the webhook. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runWebhook(
  config: WebhookConfig,
  deps: WebhookDeps,
): Promise<RunningWebhook> {
  const { client, catalog, log, signal, now = () => performance.now() } = deps
  const { namespace, enforcement } = config
  const registry = createRegistry()
  const contests = new Contests(config.contestLimits)
  const metrics = createWebhookMetrics(registry, () => contests.atWar(now()))
  const tell = createTroubleTeller(log)
  // Whoever is asked while it ends must know as much as before: the state is followed to the last answer.
  const served = new AbortController()
  const state = followSnapshot({ client, catalog, namespace, log, tell, signal: served.signal })

  const { mutate, validate } = createHandlers({
    snapshot: state.current,
    catalog,
    contests,
    now,
    enforcement,
    digest: sha256,
    metrics,
    log,
    record: createRecorder(client, hostname(), (error) => tell('event not sent', error)),
  })
  const certificate =
    config.certificate.mode === 'files'
      ? config.certificate
      : { mode: 'secret' as const, namespace, name: BASELINE.servingSecret }
  const server = await serve(
    { ...config, certificate },
    {
      prefix: BASELINE.prefix,
      routes: { '/mutate': mutate, '/validate': validate },
      obstacles: state.obstacles,
      registry,
      certificateExpiry: metrics.certificateExpiry,
      client,
      log,
      tell,
      now,
    },
  )
  const { port, opsPort } = server
  state.start()
  log.info({ port, opsPort }, 'webhook listening')
  const end = async () => {
    await server.end()
    served.abort()
  }
  return { port, opsPort, ended: afterAbort(signal, end) }
}
