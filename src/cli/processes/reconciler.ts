import { type ReconcilerConfig, runReconciler } from '../../reconciler/baseline/run.ts'
import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import type { Env } from '../../shared/ops/env.ts'
import { createLog, type LogLevel } from '../../shared/ops/log.ts'
import { signalOnTermination } from '../../shared/ops/shutdown.ts'
import { loadCatalogWith } from '../assets.ts'
import { relatedImages } from '../options.ts'
import type { ClusterOptions } from '../with-client.ts'
import { type RegistrationOptions, registrationOf } from './registration.ts'

export interface ReconcilerOptions
  extends ClusterOptions,
    RegistrationOptions,
    Pick<ReconcilerConfig, 'opsListen' | 'disruptiveChanges' | 'activation'> {
  readonly hcoNamespace?: string
  readonly leaderElect: boolean
  readonly resync: number
  readonly healLimit: number
  readonly healWindow: number
  readonly trustedUser?: string
  readonly observe?: boolean
  readonly logLevel: LogLevel
}

/** The `reconciler` command: runs until SIGTERM. */
export async function reconciler(options: ReconcilerOptions, env: Env): Promise<void> {
  const { namespace, opsListen, disruptiveChanges } = options
  const catalog = loadCatalogWith(options)
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
      activation: options.activation,
      healLimits: { capacity: options.healLimit, windowMs: options.healWindow },
      ...registrationOf(options, namespace),
      trustedUser: options.trustedUser,
      images: relatedImages(env),
    },
    { client, catalog, log, signal: signalOnTermination() },
  )
  await running.ended
  await client.close()
  log.info('ended')
}
