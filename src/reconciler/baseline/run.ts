import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { webhookScopes } from '../../shared/baseline/generated/webhook-rules.ts'
import { BASELINE } from '../../shared/baseline/names.ts'
import type { DefaultActivation } from '../../shared/baseline/settings/settings.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { createRecorder } from '../../shared/cluster/events.ts'
import { accountUser } from '../../shared/engine/identity.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import type { WebhookEndpoint } from '../../shared/engine/webhook-configuration.ts'
import { retry } from '../../shared/ops/backoff.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createReconcilerMetrics, createRegistry } from '../../shared/ops/metrics.ts'
import { createOpsApp, listen } from '../../shared/ops/server.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import type { WebhookWish } from '../admission/decide-registration.ts'
import { WebhookRegistration } from '../admission/registration.ts'
import { type TrustConfig, trustSourceOf } from '../admission/trust-source.ts'
import { registrationSources } from '../admission/webhook-configurations.ts'
import { type Controller, type Leadership, Manager } from '../manager/manager.ts'
import { createStateController, STATE } from '../manager/state-controller.ts'
import { AssetsController } from './assets-controller.ts'
import { CLUSTER, createClusterController } from './cluster-controller.ts'
import { ClusterView } from './gather/cluster-view.ts'
import { obstacleToLeading } from './gather/preconditions.ts'
import { CRDS } from './gather/sources.ts'
import { Ledger } from './ledger.ts'
import { createReporter, type Reporter } from './report/report.ts'

export interface ReconcilerConfig extends TrustConfig {
  readonly namespace: string
  readonly hcoNamespace: string | undefined
  readonly opsListen: Listen
  readonly isElected: boolean
  /** Computes and reports only: no Lease, no state, no certificates, no events. */
  readonly isObserver: boolean
  readonly resyncMs: number
  readonly disruptiveChanges: 'apply' | 'hold'
  /** What holds where the HyperConverged does not say. */
  readonly activation: DefaultActivation
  readonly healLimits: HealLimits
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly webhookTimeoutS: number
  readonly trustedUser: string | undefined
  readonly endpoint: WebhookEndpoint
  readonly images: Readonly<Record<string, string>>
}

export interface ReconcilerDeps {
  readonly client: Client
  readonly catalog: Catalog
  readonly log: Log
  /** Aborts when the process should end; what is in hand is finished first. */
  readonly signal: AbortSignal
  /** Who tells what happens; by default the log, the metrics and the events. */
  readonly reporter?: Reporter
}

export interface RunningReconciler {
  readonly opsPort: number
  /** Resolves when everything has ended after the signal. */
  readonly ended: Promise<void>
}

const WEBHOOK = 'webhook'

/** Starts the reconciler. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runReconciler(
  config: ReconcilerConfig,
  deps: ReconcilerDeps,
): Promise<RunningReconciler> {
  const { client, catalog, log, signal } = deps
  const { isObserver, namespace } = config
  const registry = createRegistry()
  const metrics = createReconcilerMetrics(registry)
  const holder = `${hostname()}-${randomBytes(4).toString('hex')}`
  const tell = createTroubleTeller(log)
  const trustedUser = config.trustedUser ?? accountUser(namespace, BASELINE.reconcilerAccount)
  const record = isObserver
    ? () => undefined
    : createRecorder(client, holder, (error) => tell('event not sent', error))
  const reporter = deps.reporter ?? createReporter({ log, metrics, record, isObserver })

  const manager = new Manager({
    ...config,
    client,
    lease: BASELINE.lease,
    holder,
    leadership: leadershipOf(config),
    onElected() {
      metrics.leader.set(1)
      if (config.isElected) log.info('leader: keeping the cluster at its baseline')
    },
    onLost(reason) {
      metrics.leader.set(0)
      metrics.authorityExpiry.set(0)
      reporter.reset()
      log.warn({ reason }, 'no longer the leader: writing nothing')
    },
    onElectionTrouble: (error) => tell('leader election is in trouble; trying again', error),
    onWatchTrouble: (source, error) => tell(`cannot read ${source}; trying again`, error),
    onWatchRecovery: () => tell.recovered(),
  })
  const { store } = manager
  const isLeader = () => manager.isLeader()
  const clocks = { now: Date.now, uptime: () => performance.now() }

  const ledger = new Ledger(() => manager.enqueue(STATE))
  const onDoubt = () => manager.enqueue(CLUSTER)
  const view = new ClusterView({ ...config, client, catalog, store, onDoubt })
  const assets = new AssetsController({
    ...config,
    ...clocks,
    client,
    catalog,
    view,
    reporter,
    isLeader,
    ledger,
    enqueue: (name) => manager.enqueue(assets.name, name),
  })
  const cluster = createClusterController({
    view,
    isDeciding: () => isObserver || manager.isLeading(),
    onSnapshot(snapshot) {
      assets.evaluate(snapshot)
      manager.enqueue(WEBHOOK)
    },
    onTrouble: (error) => tell('cannot take the cluster in; trying again', error),
  })
  const registration = new WebhookRegistration({
    ...config,
    ...clocks,
    client,
    identity: BASELINE,
    timeoutS: config.webhookTimeoutS,
    ledger,
    store,
    isLeader,
    trustSource: trustSourceOf(config, {
      signal,
      onChange: () => manager.enqueue(WEBHOOK),
      onTrouble: (error) => tell('the authorities that were read before stay', error),
    }),
    onTrusted: (expiry) => metrics.authorityExpiry.set(expiry / 1000),
    record,
  })

  const state = createStateController({
    client,
    identity: BASELINE,
    namespace,
    store,
    ledger,
    isObserver,
    tell,
    signal,
  })

  const wish = (): WebhookWish => {
    if (!assets.evaluation) return { kind: 'unknown' }
    const { facts, hco, stated } = assets.evaluation
    if (stated.settings.activation.kind === 'off') return { kind: 'off' }
    const definitions = store.objects(CRDS)
    const customResources = new Set(definitions.map(({ metadata }) => metadata.name))
    const { failurePolicy } = config
    const scopes = webhookScopes({ catalog, facts, customResources, failurePolicy, trustedUser })
    return { kind: 'on', scopes, subject: hco }
  }
  /** Keeps the webhook's certificates and its registration. */
  const webhook: Controller = {
    name: WEBHOOK,
    sources: registrationSources(BASELINE, namespace),
    // Whoever looks at the cluster has us look after that.
    resync: () => [],
    keysOf: ({ source }) => (registration.noteChange(source) ? [{ key: WEBHOOK }] : []),
    onElected: async () => registration.resume(),
    reconcile: () => registration.reconcile(wish()),
    onError: (_key, error) => tell('cannot take the cluster in; trying again', error),
  }
  // The state is taken over first: the others go on from it.
  for (const controller of [state, cluster, assets]) manager.add(controller)
  if (!isObserver) manager.add(webhook)

  const app = createOpsApp(registry, () =>
    store.isSynced([CRDS]) ? [] : ['the cluster is not read yet'],
  )
  const opsPort = await listen(app, config.opsListen, '--ops-listen')
  manager.start()
  const { promise: failure, reject } = Promise.withResolvers<never>()
  const work = async () => {
    const onTrouble = (error: Error) => tell('cannot ask whether to lead; trying again', error)
    const ask = () => obstacleToLeading(client, namespace, trustedUser)
    const obstacle = isObserver ? undefined : await retry(ask, { signal, onTrouble })
    if (obstacle === undefined) await manager.run()
    else reject(new Error(obstacle))
  }
  // What ends it early is the signal, or a failure that is told already.
  const working = work().catch(() => undefined)
  const end = async () => {
    view.stop()
    await manager.stop()
    await working
    await app.close()
  }
  return { opsPort, ended: Promise.race([afterAbort(signal, end), failure]) }
}

function leadershipOf({ isObserver, isElected }: ReconcilerConfig): Leadership {
  if (isObserver) return 'never'
  return isElected ? 'elect' : 'assume'
}
