import { runReconciler } from '../reconciler/run.ts'
import { connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'
import type { Listen } from '../shared/ops/listen.ts'
import { createLog, type LogLevel } from '../shared/ops/log.ts'
import { signalOnTermination } from '../shared/ops/shutdown.ts'
import { loadOwnCatalog } from './assets.ts'
import type { Env } from './control-plane/go.ts'

export interface ReconcilerOptions {
  readonly kubeconfig?: string
  readonly namespace: string
  readonly hcoNamespace?: string
  readonly opsListen: Listen
  readonly leaderElect: boolean
  readonly resync: number
  readonly disruptiveChanges: 'apply' | 'hold'
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly trustedUser?: string
  readonly webhookService: string
  readonly webhookUrl?: string
  readonly webhookCa?: string
  readonly observe?: boolean
  readonly logLevel: LogLevel
}

/** The `reconciler` command: runs until SIGTERM. */
export async function reconciler(options: ReconcilerOptions, env: Env): Promise<void> {
  const { namespace, webhookUrl, webhookService, opsListen, disruptiveChanges, failurePolicy } =
    options
  const catalog = loadOwnCatalog()
  const client = await connect(loadKubeconfig(options.kubeconfig))
  const log = createLog('reconciler', options.logLevel)
  const isObserver = options.observe ?? false
  const running = await runReconciler(
    {
      namespace,
      hcoNamespace: options.hcoNamespace,
      opsListen,
      isElected: options.leaderElect && !isObserver,
      isObserver,
      resyncMs: options.resync,
      disruptiveChanges,
      failurePolicy,
      trustedUser: options.trustedUser,
      endpoint:
        webhookUrl === undefined
          ? { service: { name: webhookService, namespace } }
          : { url: webhookUrl },
      webhookCa: options.webhookCa,
      images: relatedImages(env),
    },
    { client, catalog, log, signal: signalOnTermination() },
  )
  await running.ended
  await client.close()
  log.info('ended')
}

const IMAGE = 'RELATED_IMAGE_'

/** Images by name: RELATED_IMAGE_METRICS_EXPORTER gives metrics-exporter. */
const relatedImages = (env: Env) =>
  Object.fromEntries(
    Object.entries(env).flatMap(([key, value]) =>
      key.startsWith(IMAGE) && value
        ? [[key.slice(IMAGE.length).toLowerCase().replaceAll('_', '-'), value]]
        : [],
    ),
  )
