import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Client } from '../../shared/cluster/client.ts'
import { createRecorder } from '../../shared/cluster/events.ts'
import { ServedKinds } from '../../shared/cluster/served-kinds.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import type { EmbeddedModules } from '../../shared/graph/local-module.ts'
import { GRAPH, MARKS } from '../../shared/graph/names.ts'
import { POLICIES, policiesIn } from '../../shared/graph/platform-policies.ts'
import type { ResourceGraph } from '../../shared/graph/resource-graph.ts'
import { Evaluator } from '../../shared/modules/evaluator.ts'
import type { Module } from '../../shared/modules/module.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createRegistry } from '../../shared/ops/metrics.ts'
import { createOpsApp, listen } from '../../shared/ops/server.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { Executor } from '../executor/executor.ts'
import { Observer } from '../executor/observer.ts'
import { type Controller, Manager } from '../manager/manager.ts'
import { createAccountFault } from './enrolment.ts'
import { createGraphMetrics, type GraphMetrics } from './metrics.ts'
import { createReporter } from './report.ts'
import { ResourceGraphController } from './resource-graphs/controller.ts'
import { policiesSource, RESOURCE_GRAPHS, TRANSFORMS } from './sources.ts'
import { MODULE, TransformController } from './transforms/controller.ts'
import { createWebhookControllers, type WebhookControllersConfig } from './webhook-controllers.ts'

export interface GraphReconcilerConfig extends WebhookControllersConfig {
  readonly opsListen: Listen
  readonly isElected: boolean
  readonly resyncMs: number
  readonly healLimits: HealLimits
  /** The program that evaluates CUE. */
  readonly evaluator: string
}

export interface GraphReconcilerDeps {
  readonly client: Client
  readonly embedded: EmbeddedModules
  /** The policies that hold where the platform has none of its own. */
  readonly policies: Module
  readonly log: Log
  /** Aborts when the process should end; what is in hand is finished first. */
  readonly signal: AbortSignal
}

/** Starts the reconciler of graphs. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runGraphReconciler(
  config: GraphReconcilerConfig,
  deps: GraphReconcilerDeps,
): Promise<{ readonly opsPort: number; readonly ended: Promise<void> }> {
  const { client, log, signal } = deps
  const registry = createRegistry()
  const metrics = createGraphMetrics(registry, () =>
    (store.objects(RESOURCE_GRAPHS.id) as readonly ResourceGraph[]).flatMap(
      ({ status }) => status ?? [],
    ),
  )
  const holder = `${hostname()}-${randomBytes(4).toString('hex')}`
  const tell = createTroubleTeller(log)
  const record = createRecorder(client, holder, (error) => tell('event not sent', error))
  const report = createReporter(log, record)

  const manager = new Manager({
    ...config,
    client,
    lease: GRAPH.lease,
    holder,
    leadership: config.isElected ? 'elect' : 'assume',
    onElected() {
      metrics.leader.set(1)
      log.info('leader: rendering and applying graphs')
    },
    onLost(reason) {
      metrics.leader.set(0)
      metrics.authorityExpiry.set(0)
      log.warn({ reason }, 'no longer the leader: writing nothing')
    },
    onElectionTrouble: (error) => tell('leader election is in trouble; trying again', error),
    onWatchTrouble(source, error) {
      // What an account may not watch is told in the status of who asked for it.
      const isAccounts = observer.noteTrouble(source) || source.startsWith(MODULE)
      if (!isAccounts) tell(`cannot read ${source}; trying again`, error)
    },
    onWatchRecovery: () => tell.recovered(),
  })
  const { store } = manager
  const isLeader = () => manager.isLeader()
  const kinds = new ServedKinds(client, () => performance.now())
  const observer = new Observer({ client, store, kinds, names: MARKS })
  const executor = new Executor({
    client,
    store,
    kinds,
    names: MARKS,
    observer,
    healLimits: config.healLimits,
    isLeader,
    now: Date.now,
    digest: sha256,
    onResult(_action, { kind: result }, seconds) {
      metrics.applies.inc({ result })
      metrics.applyDuration.observe(seconds)
    },
  })
  const evaluator = new Evaluator({
    program: config.evaluator,
    onOutcome({ kind: outcome }, { seconds, isRemembered }) {
      if (isRemembered) metrics.remembered.inc()
      else metrics.evaluations.observe({ outcome }, seconds)
    },
  })
  const accountFault = createAccountFault(client)
  const onError = (controller: string) => (key: string, error: Error) => {
    metrics.reconcileErrors.inc({ controller })
    tell(`${controller} ${key}: trying again`, error)
  }
  const transforms = new TransformController({
    ...deps,
    policies: () => policiesIn(store.object(POLICIES), deps.policies),
    policiesSource: policiesSource(config.namespace),
    store,
    kinds,
    evaluator,
    accountFault,
    isLeader,
    onStatus: report.status,
    onError: onError('transforms'),
  })
  const graphs = new ResourceGraphController({
    client,
    store,
    executor,
    observer,
    accountFault,
    isLeader,
    onReleased: report.released,
    onStatus(graph, status) {
      report.status(graph, status)
      const becameReady = graph.status?.phase !== 'Ready' && status.phase === 'Ready'
      const { renderedAt } = graph.spec.metadata
      if (becameReady) metrics.execution.observe((Date.now() - Date.parse(renderedAt)) / 1000)
    },
    onError: onError('resourcegraphs'),
  })
  const webhook = createWebhookControllers(config, {
    client,
    manager,
    record,
    tell,
    onTrusted: (expiry) => metrics.authorityExpiry.set(expiry / 1000),
    signal,
  })
  for (const controller of webhook) manager.add(controller)
  for (const controller of [transforms, graphs]) manager.add(measured(controller, metrics))

  const app = createOpsApp(registry, () =>
    store.isSynced([TRANSFORMS.id, RESOURCE_GRAPHS.id]) ? [] : ['the Transforms are not read yet'],
  )
  const opsPort = await listen(app, config.opsListen, '--ops-listen')
  manager.start()
  // What ends it early is the signal.
  const working = manager.run().catch(() => undefined)
  const end = async () => {
    await manager.stop()
    evaluator.close()
    await working
    await app.close()
  }
  return { opsPort, ended: afterAbort(signal, end) }
}

/** The controller with its passes counted and timed. */
function measured(controller: Controller, metrics: GraphMetrics): Controller {
  const labels = { controller: controller.name }
  return {
    name: controller.name,
    sources: controller.sources ?? [],
    concurrency: controller.concurrency ?? 1,
    resync: () => controller.resync(),
    keysOf: (change) => controller.keysOf?.(change) ?? [],
    onError: (key, error, retryInMs) => controller.onError(key, error, retryInMs),
    async reconcile(key) {
      metrics.reconciles.inc(labels)
      const stop = metrics.reconcileDuration.startTimer(labels)
      try {
        return await controller.reconcile(key)
      } finally {
        stop()
      }
    },
  }
}
