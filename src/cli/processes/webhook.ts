import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createLog, type LogLevel } from '../../shared/ops/log.ts'
import { signalOnTermination } from '../../shared/ops/shutdown.ts'
import { runWebhook } from '../../webhook/baseline/run.ts'
import { loadCatalogWith } from '../assets.ts'
import { UsageError } from '../run-cli.ts'
import type { ClusterOptions } from '../with-client.ts'

export interface WebhookOptions extends ClusterOptions {
  readonly listen: Listen
  readonly opsListen: Listen
  readonly enforcement?: 'correct' | 'deny'
  readonly certMode: 'secret' | 'files'
  readonly certDir?: string
  readonly clientCa?: string
  readonly contestLimit: number
  readonly contestRefill: number
  readonly quietPeriod: number
  readonly shutdownGrace: number
  readonly logLevel: LogLevel
}

const START_MS = 10_000

/** The `webhook` command: runs until SIGTERM. Has V8 hurry once it has started: under load it would take half as much time again. */
export async function webhook(options: WebhookOptions, hurry: () => void): Promise<void> {
  const { certMode, certDir, listen, opsListen, namespace, enforcement } = options
  if (certMode === 'files' && certDir === undefined)
    throw new UsageError('--cert-mode files needs --cert-dir FOLDER')
  const clientCa = options.clientCa === undefined ? undefined : authoritiesIn(options.clientCa)
  const catalog = loadCatalogWith(options)
  const client = await connect(loadKubeconfig(options.kubeconfig))
  const log = createLog('webhook', options.logLevel)
  const certificate =
    certMode === 'files'
      ? ({ mode: 'files', folder: certDir ?? '' } as const)
      : ({ mode: 'secret' } as const)
  const running = await runWebhook(
    {
      namespace,
      listen,
      opsListen,
      enforcement,
      certificate,
      clientCa,
      graceMs: options.shutdownGrace,
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

/** The file's PEM, once it is seen to be a certificate: what is none would let nobody in, and say so to nobody. */
function authoritiesIn(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8')
    new X509Certificate(pem)
    return pem
  } catch (error) {
    throw new UsageError(
      `--client-ca ${file} cannot be read as PEM certificates: ${(error as Error).message}`,
    )
  }
}
