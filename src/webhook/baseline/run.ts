import type { Server } from 'node:https'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { SERVING_SECRET, STATE_CONFIG_MAP } from '../../shared/baseline/names.ts'
import { createStandings } from '../../shared/baseline/standing.ts'
import { parseState } from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { createRecorder } from '../../shared/cluster/events.ts'
import { createSchemas, schemaKey } from '../../shared/cluster/schemas.ts'
import { WatchSet } from '../../shared/cluster/watch-set.ts'
import { createCycle } from '../../shared/ops/cycle.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../../shared/ops/log.ts'
import { createRegistry, createWebhookMetrics } from '../../shared/ops/metrics.ts'
import { servableIn } from '../../shared/ops/pem.ts'
import { createOpsApp, listen } from '../../shared/ops/server.ts'
import { afterAbort } from '../../shared/ops/shutdown.ts'
import { createApp } from '../server/app.ts'
import { followConnections } from '../server/connections.ts'
import { boundConnections } from '../server/crowd.ts'
import { drain } from '../server/drain.ts'
import { createLineLimit } from '../server/rate-limits.ts'
import {
  followFiles,
  type ServingCertificate,
  servingCertificateIn,
} from '../server/serving-certificate.ts'
import { type ContestLimits, Contests } from './contests/contests.ts'
import { createHandlers } from './handlers.ts'
import { createSnapshot, queriesOf, type Snapshot } from './snapshot.ts'

export interface WebhookConfig {
  readonly namespace: string
  readonly listen: Listen
  readonly opsListen: Listen
  readonly enforcement: 'correct' | 'deny' | undefined
  readonly contestLimits: ContestLimits
  /** Where the serving certificate comes from: our Secret, or a folder with tls.crt and tls.key. */
  readonly certificate:
    | { readonly mode: 'secret' }
    | { readonly mode: 'files'; readonly folder: string }
  /** PEM of the authorities that whoever calls must have a certificate of; by default anybody may call. */
  readonly clientCa?: string | undefined
  /** How long to go on serving, not ready, after the signal: load balancers learn slowly. */
  readonly graceMs: number
}

export interface WebhookDeps {
  readonly client: Client
  readonly catalog: Catalog
  readonly log: Log
  readonly signal: AbortSignal
  /** A clock in milliseconds that never goes back; by default the process's own. */
  readonly now?: () => number
}

export interface RunningWebhook {
  readonly port: number
  readonly opsPort: number
  readonly ended: Promise<void>
}

const STATE = 'state'
const CERTIFICATE = 'certificate'
const SCHEMA_RETRY_MS = 1_000
const SCHEMA_REFRESH_MS = 5 * 60_000
// No request of the API server lives longer than one second, unless it is told otherwise. With the grace by default this is less than the 30 s after
// which a pod is killed.
const DRAIN_MS = 10_000
const FAILURES = { capacity: 10, refillMs: 6_000 }

/** Starts the webhook. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runWebhook(
  config: WebhookConfig,
  deps: WebhookDeps,
): Promise<RunningWebhook> {
  const { client, catalog, log, signal, now = () => performance.now() } = deps
  const registry = createRegistry()
  const contests = new Contests(config.contestLimits)
  const metrics = createWebhookMetrics(registry, () => contests.atWar(now()))
  const tell = createTroubleTeller(log)
  const loadSchemas = createSchemas(client)
  const decide = createStandings(catalog, sha256)
  const secretMode = config.certificate.mode === 'secret'
  let snapshot: Snapshot | undefined
  let isEnding = false
  // Whoever is asked while it ends must know as much as before: what is followed is followed to the last answer.
  const served = new AbortController()

  const tellFailure = createLineLimit(FAILURES, (line) => log.error(line, 'admission failed'), now)
  const { mutate, validate } = createHandlers({
    snapshot: () => snapshot,
    catalog,
    contests,
    now,
    enforcement: config.enforcement,
    digest: sha256,
    metrics,
    log,
    record: createRecorder(client, hostname(), (error) => tell('event not sent', error)),
  })
  const app = createApp({
    tls: { clientCa: config.clientCa },
    mutate,
    validate,
    onError: (err) => tellFailure({ err }),
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isEnding) reply.header('connection', 'close')
  })

  const connections = followConnections(app.server, now)
  boundConnections(app.server, connections, now)

  let inUse: ServingCertificate | undefined
  /** Serves with it from the next connection on; throws, and changes nothing, where it cannot be used. */
  const useCertificate = ({ key, cert }: ServingCertificate) => {
    if (inUse?.key === key && inUse.cert === cert) return
    const { validTo } = servableIn(cert, key)
    const server = app.server as unknown as Server
    // The context is replaced whole: without the authorities, Node's own would be asked for.
    const ca = config.clientCa && { ca: config.clientCa }
    server.setSecureContext({ key, cert, minVersion: 'TLSv1.2', ...ca })
    metrics.certificateExpiry.set(Date.parse(validTo) / 1000)
    inUse = { key, cert }
    log.info({ validTo }, 'serving certificate loaded')
  }
  const tellUnusable = (error: Error) =>
    tell(
      inUse
        ? 'the serving certificate is not usable; the one in use stays'
        : 'the serving certificate is not usable',
      error,
    )
  const takeSecretUp = () => {
    const secret = watches.object(CERTIFICATE)
    // The leader has yet to make the first.
    if (!secret && !inUse) return
    try {
      useCertificate(servingCertificateIn(secret))
    } catch (error) {
      tellUnusable(error as Error)
    }
  }

  let toldState = ''
  const tellState = (known: Snapshot) => {
    const summary = { activation: known.settings.activation.kind, ...agreement(known) }
    if (toldState !== JSON.stringify(summary)) log.info(summary, 'state loaded')
    toldState = JSON.stringify(summary)
  }
  let isToldToWait = false
  const tellWaiting = () => {
    if (isToldToWait || snapshot) return
    isToldToWait = true
    log.info('waiting for the leader to publish its state; until then only overrides are judged')
  }
  const learning = createCycle({
    signal: served.signal,
    retryMs: SCHEMA_RETRY_MS,
    onTrouble: (error) => tell('cannot take the state in; trying again', error),
    async work() {
      const state = parseState(watches.object(STATE)?.data)
      if (!state) return tellWaiting()
      const queries = queriesOf(catalog, state)
      const schemas = await loadSchemas(queries)
      snapshot = createSnapshot(catalog, state, schemas, decide)
      tellState(snapshot)
      const missing = queries.filter((query) => !schemas.has(schemaKey(query)))
      if (missing.length > 0)
        throw new Error(`schemas are not published yet: ${missing.map(schemaKey).join(', ')}`)
      tell.recovered()
      // A schema may change without the state; an unchanged one costs a read of the index.
      learning.soon(SCHEMA_REFRESH_MS)
    },
  })
  const watches = new WatchSet({
    client,
    onTrouble: (id, error) => tell(`cannot read the ${id}; trying again`, error),
    onChange: (id) => {
      if (id === STATE) learning.soon(0)
      if (id === CERTIFICATE) takeSecretUp()
    },
  })

  const obstacles = () => [
    ...(isEnding ? ['it is shutting down'] : []),
    ...(inUse ? [] : ['there is no serving certificate']),
    ...(snapshot ? [] : ['the leader has published no state']),
    ...(snapshot?.all.some(({ standing, tree }) => standing.kind === 'active' && !tree)
      ? ['some schemas are missing']
      : []),
  ]
  const ops = createOpsApp(registry, obstacles)
  const opsPort = await listen(ops, config.opsListen, '--ops-listen')
  const port = await listen(app, config.listen, '--listen')
  const inNamespace = { apiVersion: 'v1', namespace: config.namespace }
  watches.follow([
    { id: STATE, at: { ...inNamespace, resource: 'configmaps' }, name: STATE_CONFIG_MAP },
    ...(secretMode
      ? [{ id: CERTIFICATE, at: { ...inNamespace, resource: 'secrets' }, name: SERVING_SECRET }]
      : []),
  ])
  if (config.certificate.mode === 'files') {
    followFiles(config.certificate.folder, {
      onChange: useCertificate,
      onTrouble: tellUnusable,
      signal: served.signal,
    })
  }
  log.info({ port, opsPort }, 'webhook listening')

  const end = async () => {
    isEnding = true
    await sleep(config.graceMs)
    await drain({ connections, now, close: () => app.close(), patienceMs: DRAIN_MS })
    served.abort()
    watches.stop()
    await ops.close()
  }
  return { port, opsPort, ended: afterAbort(signal, end) }
}

const agreement = ({ all }: Snapshot) => {
  const active = all.filter(({ standing }) => standing.kind === 'active')
  return {
    active: active.length,
    disagreeing: active.filter(({ isAgreed }) => !isAgreed).map(({ asset }) => asset.name),
  }
}
