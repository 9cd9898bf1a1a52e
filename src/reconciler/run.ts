import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Catalog } from '../shared/catalog/catalog.ts'
import {
  AUTHORITY_SECRET,
  accountUser,
  RECONCILER_ACCOUNT,
  SERVING_SECRET,
  STATE_CONFIG_MAP,
} from '../shared/catalog/names.ts'
import type { State } from '../shared/catalog/state.ts'
import type { WebhookEndpoint } from '../shared/catalog/webhook-rules.ts'
import type { Client } from '../shared/cluster/client.ts'
import { createRecorder } from '../shared/cluster/events.ts'
import { createCycle } from '../shared/ops/cycle.ts'
import type { Listen } from '../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../shared/ops/log.ts'
import { createReconcilerMetrics, createRegistry } from '../shared/ops/metrics.ts'
import { createOpsApp, listen } from '../shared/ops/server.ts'
import { afterAbort } from '../shared/ops/shutdown.ts'
import { ClusterView } from './cluster-view.ts'
import { Controller } from './controller.ts'
import { createElection } from './leader.ts'
import { type Fail, requireLeadership } from './preconditions.ts'
import { readState, writeState } from './published-state.ts'
import { createPublisher } from './publisher.ts'
import { createReporter, type Reporter } from './report.ts'
import { assetIndex, CRDS, ownSources } from './sources.ts'
import { WebhookKeeper } from './webhook-keeper.ts'

export interface ReconcilerConfig {
  readonly namespace: string
  readonly hcoNamespace: string | undefined
  readonly opsListen: Listen
  readonly isElected: boolean
  /** Computes and reports only: no Lease, no state, no certificates, no events. */
  readonly isObserver: boolean
  readonly resyncMs: number
  readonly disruptiveChanges: 'apply' | 'hold'
  readonly failurePolicy: 'Ignore' | 'Fail'
  readonly trustedUser: string | undefined
  readonly endpoint: WebhookEndpoint
  /** File with the authorities of the webhook's certificate, where somebody else makes it. */
  readonly webhookCa: string | undefined
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
// Discovery and schemas follow a changed CRD within seconds; nothing tells when.
const DISTRUST_MS = [1_000, 5_000, 20_000]

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
  const reporter = deps.reporter ?? createReporter({ log, metrics, record })
  const release = new AbortController()
  const election = createElection({
    client,
    namespace: config.namespace,
    identity: instance,
    signal: release.signal,
    onTrouble: (error) => tell('leader election is in trouble; trying again', error),
    onElected: () => lead(),
    onLost: (reason) => {
      metrics.leader.set(0)
      controller.lose()
      reporter.reset()
      log.warn({ reason }, 'no longer the leader: writing nothing')
    },
  })
  const isLeader = config.isElected ? election.isLeader : () => isWriter

  const view = new ClusterView({
    client,
    catalog,
    images: config.images,
    hcoNamespace: config.hcoNamespace,
    extraSources: isWriter ? ownSources(config.namespace) : [],
    onChange: (id) => changed(id),
    onTrouble: (id, error) => tell(`cannot read ${id}; trying again`, error),
  })
  const publish = createPublisher<State>({
    signal,
    onTrouble: (error) => tell('the state is not published; trying again', error),
    write: async (state) => isLeader() && writeState(client, config.namespace, state),
  })
  const controller = new Controller({
    client,
    catalog,
    view,
    reporter,
    disruptiveChanges: config.disruptiveChanges,
    isObserver: config.isObserver,
    isLeader,
    publish: isWriter ? publish : () => undefined,
    now: Date.now,
  })
  const keeper = new WebhookKeeper({
    client,
    catalog,
    namespace: config.namespace,
    endpoint: config.endpoint,
    failurePolicy: config.failurePolicy,
    trustedUser,
    watches: view.watches,
    isLeader,
    readBundle: config.webhookCa === undefined ? undefined : bundleReader(config.webhookCa),
    record,
    now: Date.now,
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
  const keepWebhook = async () => {
    const outlook = controller.outlook
    if (!outlook) return
    const isOff = outlook.stated.settings.activation.kind === 'off'
    const dueInMs = await keeper.keep({
      facts: isOff ? undefined : outlook.facts,
      hco: outlook.hco,
    })
    cycle.soon(dueInMs)
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
  const insist = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    work().catch(async (error: Error) => {
      tell(`cannot ${what}; trying again`, error)
      await sleep(RETRY_MS, undefined, { signal })
      return insist(what, work)
    })
  const resume = async (): Promise<void> => {
    controller.resume(
      await insist('read the published state', () => readState(client, config.namespace)),
    )
    keeper.reset()
    isResumed = true
    cycle.soon(0)
  }
  const distrustLater = (delayMs: number) => {
    const timer = setTimeout(() => {
      view.distrust()
      cycle.soon(0)
    }, delayMs)
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
  const byObject = assetIndex(catalog)
  let hasSeenCrds = false
  // What else a change of these concerns than the outlook.
  const alsoOn: Readonly<Record<string, () => void>> = {
    [CRDS]: () => {
      // The first sight of them is no change, and what was served before us is settled.
      if (hasSeenCrds) DISTRUST_MS.forEach(distrustLater)
      hasSeenCrds = true
    },
    [STATE_CONFIG_MAP]: () => controller.republish(view.watches.object(STATE_CONFIG_MAP)),
    [SERVING_SECRET]: () => keeper.reset(),
    [AUTHORITY_SECRET]: () => keeper.reset(),
  }
  const changed = (id: string) => {
    tell.recovered()
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
    await (config.isElected ? election.run() : resume())
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

const bundleReader = (file: string) => () => readFileSync(file, 'utf8')
