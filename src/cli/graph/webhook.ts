import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import { GRAPH } from '../../shared/graph/names.ts'
import { createLog, type LogLevel } from '../../shared/ops/log.ts'
import { signalOnTermination } from '../../shared/ops/shutdown.ts'
import { runGraphWebhook } from '../../webhook/graph/run.ts'
import { type ServingOptions, servingOf } from '../processes/serving.ts'
import { loadEmbedded, loadPolicies } from './modules.ts'

export interface GraphWebhookOptions extends ServingOptions {
  readonly namespace: string
  readonly kubeconfig?: string
  readonly cueEvaluator: string
  readonly logLevel: LogLevel
}

/** The `webhook graph` command: runs until SIGTERM. */
export async function graphWebhook(options: GraphWebhookOptions): Promise<void> {
  const { namespace, cueEvaluator } = options
  const { certificate, ...serving } = servingOf(options)
  const client = await connect(loadKubeconfig(options.kubeconfig), GRAPH.fieldManager)
  const log = createLog('webhook-graph', options.logLevel)
  const running = await runGraphWebhook(
    {
      ...serving,
      namespace,
      evaluator: cueEvaluator,
      certificate:
        certificate.mode === 'files'
          ? certificate
          : { ...certificate, namespace, name: GRAPH.servingSecret },
    },
    {
      client,
      embedded: loadEmbedded(),
      policies: loadPolicies(),
      log,
      signal: signalOnTermination(),
    },
  )
  await running.ended
  await client.close()
  log.info('ended')
}
