import { runGraphReconciler } from '../../reconciler/graph/run.ts'
import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import { GRAPH } from '../../shared/graph/names.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createLog, type LogLevel } from '../../shared/ops/log.ts'
import { signalOnTermination } from '../../shared/ops/shutdown.ts'
import { type RegistrationOptions, registrationOf } from '../processes/registration.ts'
import { loadEmbedded, loadPolicies } from './modules.ts'

export interface GraphReconcilerOptions extends RegistrationOptions {
  readonly namespace: string
  readonly kubeconfig?: string
  readonly opsListen: Listen
  readonly leaderElect: boolean
  readonly resync: number
  readonly healLimit: number
  readonly healWindow: number
  readonly cueEvaluator: string
  readonly logLevel: LogLevel
}

/** The `reconciler graph` command: runs until SIGTERM. */
export async function graphReconciler(options: GraphReconcilerOptions): Promise<void> {
  const { namespace, opsListen, leaderElect, resync, healLimit, healWindow } = options
  const client = await connect(loadKubeconfig(options.kubeconfig), GRAPH.fieldManager)
  const log = createLog('reconciler-graph', options.logLevel)
  const running = await runGraphReconciler(
    {
      ...registrationOf(options, namespace),
      namespace,
      opsListen,
      isElected: leaderElect,
      resyncMs: resync,
      healLimits: { capacity: healLimit, windowMs: healWindow },
      evaluator: options.cueEvaluator,
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
