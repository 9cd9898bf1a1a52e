import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import { createLog, type LogLevel } from '../../shared/ops/log.ts'
import { signalOnTermination } from '../../shared/ops/shutdown.ts'
import { runWebhook } from '../../webhook/baseline/run.ts'
import { loadCatalogWith } from '../assets.ts'
import type { ClusterOptions } from '../with-client.ts'
import { type ServingOptions, servingOf } from './serving.ts'

export interface WebhookOptions extends ClusterOptions, ServingOptions {
  readonly enforcement?: 'correct' | 'deny'
  readonly contestLimit: number
  readonly contestRefill: number
  readonly quietPeriod: number
  readonly logLevel: LogLevel
}

const START_MS = 10_000

/** The `webhook` command: runs until SIGTERM. Has V8 hurry once it has started: under load it would take half as much time again. */
export async function webhook(options: WebhookOptions, hurry: () => void): Promise<void> {
  const { namespace, enforcement } = options
  const serving = servingOf(options)
  const catalog = loadCatalogWith(options)
  const client = await connect(loadKubeconfig(options.kubeconfig))
  const log = createLog('webhook', options.logLevel)
  const running = await runWebhook(
    {
      ...serving,
      namespace,
      enforcement,
      contestLimits: {
        capacity: options.contestLimit,
        refillMs: options.contestRefill,
        quietMs: options.quietPeriod,
      },
    },
    { client, catalog, log, signal: signalOnTermination() },
  )
  // What the start has left is collected by then.
  setTimeout(hurry, START_MS).unref()
  await running.ended
  await client.close()
  log.info('ended')
}
