import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { webhookScopes } from '../../shared/baseline/generated/webhook-rules.ts'
import {
  AUTHORITY_SECRET,
  BASELINE,
  RECONCILER_ACCOUNT,
  SERVING_SECRET,
  STATE_CONFIG_MAP,
} from '../../shared/baseline/names.ts'
import type { State } from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { createRecorder } from '../../shared/cluster/events.ts'
import { accountUser } from '../../shared/engine/identity.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import type { WebhookEndpoint } from '../../shared/engine/webhook-configuration.ts'
import { createCycle } from '../../shared/ops/cycle.ts'
import { createInsistence } from '../../shared/ops/insist.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createReconcilerMetrics, createRegistry } from '../../shared/ops/metrics.ts'
import { createOpsApp, listen } from '../../shared/ops/server.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { WebhookRegistration, type WebhookWish } from '../admission/registration.ts'
import { type TrustConfig, trustSourceOf } from '../admission/trust-source.ts'
import { createElection } from '../manager/leader-election.ts'
import { createPublisher } from '../manager/publisher.ts'
import { Controller } from './controller.ts'
import { ClusterView } from './gather/cluster-view.ts'
import type { Outlook } from './gather/outlook.ts'
import { type Fail, requireLeadership } from './gather/preconditions.ts'
import { assetIndex, CRDS, ownSources } from './gather/sources.ts'
import { Ledger, registrationMemory } from './ledger.ts'
import { readState, writeState } from './published-state.ts'
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

const COALESCE_OTHERS_MS = 10
// Nodes report so often that theirs can wait longer; a HyperConverged is healed like any other object.
const COALESCE_MS: Readonly<Record<string, number>> = { nodes: 1_000, hco: 0 }
const RETRY_MS = 1_000
const DISCOVERY_RETRY_MS = 200
const LONGEST_LAG_MS = 60_000

/** Starts the reconciler. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runReconciler(
  config: ReconcilerConfig,
  deps: ReconcilerDeps,
): Promise<RunningReconciler> {
  const { client, catalog, log, signal } = deps
  const registry = createRegistry()
  const metrics = createReconcilerMetrics(registry)
  const instance = `${hostname()}-${randomBytes(4).toString('hex')}`
  const tell = createTroubleTeller(log)
  const isWriter = !config.isObserver
  const trustedUser = config.trustedUser ?? accountUser(config.namespace, RECONCILER_ACCOUNT)
  const record = isWriter
    ? createRecorder(client, instance, (error) => tell('event not sent', error))
    : () => undefined
  const reporter =
    deps.reporter ?? createReporter({ log, metrics, record, isObserver: config.isObserver })
  const release = new AbortController()
  const election = createElection({
    client,
    namespace: config.namespace,
    lease: BASELINE.lease,
    holder: instance,
    signal: release.signal,
    onTrouble: (error) => tell('leader election is in trouble; trying again', error),
    onElected: () => lead(),
    onLost: (reason) => {
      metrics.leader.set(0)
      metrics.authorityExpiry.set(0)
      controller.lose()
      reporter.reset()
      log.warn({ reason }, 'no longer the leader: writing nothing')
    },
  })
  const isLeader = config.isElected ? election.isLeader : () => isWriter

  const inTrouble = new Set<string>()
  const view = new ClusterView({
    client,
    catalog,
    images: config.images,
    hcoNamespace: config.hcoNamespace,
    extraSources: isWriter ? ownSources(config.namespace) : [],
    onChange: (id) => changed(id),
    onTrouble(id, error) {
      inTrouble.add(id)
      tell(`cannot read ${id}; trying again`, error)
    },
  })
  const publish = createPublisher<State>({
    signal,
    onTrouble: (error) => tell('the state is not published; trying again', error),
    write: async (state) => isLeader() && writeState(client, config.namespace, state),
  })
  const ledger = new Ledger(isWriter ? publish : () => undefined)
  const controller = new Controller({
    client,
    catalog,
    view,
    reporter,
    disruptiveChanges: config.disruptiveChanges,
    isObserver: config.isObserver,
    isLeader,
    ledger,
    now: Date.now,
    uptime: () => performance.now(),
    healLimits: config.healLimits,
  })
  const registration = new WebhookRegistration({
    client,
    identity: BASELINE,
    namespace: config.namespace,
    endpoint: config.endpoint,
    failurePolicy: config.failurePolicy,
    timeoutS: config.webhookTimeoutS,
    memory: registrationMemory(ledger),
    watches: view.watches,
    isLeader,
    trustSource: trustSourceOf(config, {
      signal,
      onChange: () => cycle.soon(0),
      onTrouble: (error) => tell('the authorities that were read before stay', error),
    }),
    onTrusted: (expiry) => metrics.authorityExpiry.set(expiry / 1000),
    record,
    now: Date.now,
    uptime: () => performance.now(),
  })

  let isResumed = config.isObserver
  let lagMs = DISCOVERY_RETRY_MS / 2
  const cycle = createCycle({
    signal,
    onTrouble: (error) => tell('cannot take the cluster in; trying again', error),
    retryMs: RETRY_MS,
    async work() {
      const sight = await view.look()
      lagMs = view.isDiscoveryBehind()
        ? Math.min(lagMs * 2, LONGEST_LAG_MS)
        : DISCOVERY_RETRY_MS / 2
      if (lagMs >= DISCOVERY_RETRY_MS) cycle.soon(lagMs)
      if (!isResumed || !(config.isObserver || isLeader())) return
      controller.evaluate(sight)
      if (isWriter) await keepWebhook()
    },
  })
  const wishOf = (outlook: Outlook | undefined): WebhookWish => {
    if (!outlook) return { kind: 'unknown' }
    const { facts, hco, stated } = outlook
    if (stated.settings.activation.kind === 'off') return { kind: 'off' }
    const definitions = view.watches.objects(CRDS)
    const customResources = new Set(definitions.map(({ metadata }) => metadata.name))
    const { failurePolicy } = config
    const scopes = webhookScopes({ catalog, facts, customResources, failurePolicy, trustedUser })
    return { kind: 'on', scopes, subject: hco }
  }
  const keepWebhook = async () => {
    cycle.soon(await registration.reconcile(wishOf(controller.outlook)))
  }
  const lead = () => {
    metrics.leader.set(1)
    log.info('leader: keeping the cluster at its baseline')
    isResumed = false
    controller.lose()
    // Ends early only when the process does.
    void resume().catch(() => undefined)
  }
  const { promise: failure, reject } = Promise.withResolvers<never>()
  const fail: Fail = (message) => {
    reject(new Error(message))
    return new Promise(() => undefined)
  }
  const insist = createInsistence({
    signal,
    retryMs: RETRY_MS,
    onTrouble: (what, error) => tell(`cannot ${what}; trying again`, error),
  })
  const resume = async (): Promise<void> => {
    ledger.resume(
      await insist('read the published state', () => readState(client, config.namespace)),
    )
    controller.resume()
    registration.resume()
    isResumed = true
    cycle.soon(0)
  }
  const byObject = assetIndex(catalog)
  // What else a change of these concerns than the outlook.
  const alsoOn: Readonly<Record<string, () => unknown>> = {
    [STATE_CONFIG_MAP]: () =>
      isResumed && ledger.republish(view.watches.object(STATE_CONFIG_MAP)?.data),
    [SERVING_SECRET]: () => registration.rereadCertificates(),
    [AUTHORITY_SECRET]: () => registration.rereadCertificates(),
  }
  const changed = (id: string) => {
    // A change of what could be read all the while does not say that the trouble is over.
    if (inTrouble.delete(id)) tell.recovered()
    alsoOn[id]?.()
    for (const name of byObject(id)) controller.touch(name)
    if (!id.startsWith('asset:')) cycle.soon(COALESCE_MS[id] ?? COALESCE_OTHERS_MS)
  }

  const app = createOpsApp(registry, () =>
    view.watches.isSynced([CRDS]) ? [] : ['the cluster is not read yet'],
  )
  const opsPort = await listen(app, config.opsListen, '--ops-listen')
  view.start()
  const work = async () => {
    if (isWriter) {
      const check = () => requireLeadership(client, config.namespace, trustedUser, fail)
      await insist('ask whether to lead', check)
    }
    if (config.isElected) return election.run()
    metrics.leader.set(isWriter ? 1 : 0)
    await resume()
  }
  // What ends it early is the signal, or a failure that is told already.
  const working = work().catch(() => undefined)
  const resync = setInterval(() => {
    controller.resync()
    cycle.soon(0)
  }, config.resyncMs)

  const end = async () => {
    clearInterval(resync)
    view.stop()
    await controller.stop()
    await cycle.settled()
    release.abort()
    await working
    await app.close()
  }
  return { opsPort, ended: Promise.race([afterAbort(signal, end), failure]) }
}
