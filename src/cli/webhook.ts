import { connect } from '../shared/cluster/client.ts'
import { loadKubeconfig } from '../shared/cluster/kubeconfig.ts'
import type { Listen } from '../shared/ops/listen.ts'
import { createLog, type LogLevel } from '../shared/ops/log.ts'
import { signalOnTermination } from '../shared/ops/shutdown.ts'
import { runWebhook } from '../webhook/run.ts'
import { loadOwnCatalog } from './assets.ts'
import { UsageError } from './run-cli.ts'

export interface WebhookOptions {
  readonly kubeconfig?: string
  readonly namespace: string
  readonly listen: Listen
  readonly opsListen: Listen
  readonly enforcement: 'correct' | 'deny'
  readonly certMode: 'secret' | 'files'
  readonly certDir?: string
  readonly shutdownGrace: number
  readonly logLevel: LogLevel
}

/** The `webhook` command: runs until SIGTERM. */
export async function webhook(options: WebhookOptions): Promise<void> {
  const { certMode, certDir, listen, opsListen, namespace, enforcement } = options
  if (certMode === 'files' && certDir === undefined)
    throw new UsageError('--cert-mode files needs --cert-dir FOLDER')
  const catalog = loadOwnCatalog()
  const client = await connect(loadKubeconfig(options.kubeconfig))
  const log = createLog('webhook', options.logLevel)
  const certificate =
    certMode === 'files'
      ? ({ mode: 'files', folder: certDir ?? '' } as const)
      : ({ mode: 'secret' } as const)
  const running = await runWebhook(
    { namespace, listen, opsListen, enforcement, certificate, graceMs: options.shutdownGrace },
    { client, catalog, log, signal: signalOnTermination() },
  )
  await running.ended
  await client.close()
  log.info('ended')
}
