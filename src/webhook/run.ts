import { X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Catalog } from '../shared/catalog/catalog.ts'
import { SERVING_SECRET, STATE_CONFIG_MAP } from '../shared/catalog/names.ts'
import { createStandings } from '../shared/catalog/standing.ts'
import { parseState } from '../shared/catalog/state.ts'
import type { Client } from '../shared/cluster/client.ts'
import { createRecorder } from '../shared/cluster/events.ts'
import { createSchemas, schemaKey } from '../shared/cluster/schemas.ts'
import { WatchSet } from '../shared/cluster/watch-set.ts'
import { createCycle } from '../shared/ops/cycle.ts'
import { sha256 } from '../shared/ops/digest.ts'
import type { Listen } from '../shared/ops/listen.ts'
import { createTroubleTeller, type Log } from '../shared/ops/log.ts'
import { createRegistry, createWebhookMetrics } from '../shared/ops/metrics.ts'
import { createOpsApp, listen } from '../shared/ops/server.ts'
import { afterAbort } from '../shared/ops/shutdown.ts'
import { createApp } from './app.ts'
import { createHandlers } from './handlers.ts'
import { createKnowledge, type Knowledge, queriesOf } from './knowledge.ts'
import {
  followFiles,
  type ServingCertificate,
  servingCertificateIn,
} from './serving-certificate.ts'

export interface WebhookConfig {
  readonly namespace: string
  readonly listen: Listen
  readonly opsListen: Listen
  readonly enforcement: 'correct' | 'deny'
  /** Where the serving certificate comes from: our Secret, or a folder with tls.crt and tls.key. */
  readonly certificate:
    | { readonly mode: 'secret' }
    | { readonly mode: 'files'; readonly folder: string }
  /** How long to go on serving, not ready, after the signal: load balancers learn slowly. */
  readonly graceMs: number
}

export interface WebhookDeps {
  readonly client: Client
  readonly catalog: Catalog
  readonly log: Log
  readonly signal: AbortSignal
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
const DRAIN_MS = 20_000

/** Starts the webhook. Rejects only for what is wrong with its own start; the cluster's troubles are waited out. */
export async function runWebhook(
  config: WebhookConfig,
  deps: WebhookDeps,
): Promise<RunningWebhook> {
  const { client, catalog, log, signal } = deps
  const registry = createRegistry()
  const metrics = createWebhookMetrics(registry)
  const tell = createTroubleTeller(log)
  const loadSchemas = createSchemas(client)
  const decide = createStandings(catalog, sha256)
  const secretMode = config.certificate.mode === 'secret'
  let knowledge: Knowledge | undefined
  let hasCertificate = false
  let isEnding = false

  const { mutate, validate } = createHandlers({
    knowledge: () => knowledge,
    catalog,
    now: () => performance.now(),
    enforcement: config.enforcement,
    digest: sha256,
    metrics,
    log,
    record: createRecorder(client, hostname(), (error) => tell('event not sent', error)),
  })
  const app = createApp({
    tls: {},
    mutate,
    validate,
    onError: (err) => log.error({ err }, 'admission failed'),
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isEnding) reply.header('connection', 'close')
  })

  const useCertificate = ({ key, cert }: ServingCertificate) => {
    try {
      const server = app.server as unknown as Server
      server.setSecureContext({ key, cert, minVersion: 'TLSv1.2' })
      const { validTo } = new X509Certificate(cert)
      metrics.certificateExpiry.set(Date.parse(validTo) / 1000)
      hasCertificate = true
      log.info({ validTo }, 'serving certificate loaded')
    } catch (error) {
      tell('the serving certificate is not usable; the one in use stays', error as Error)
    }
  }

  let toldState = ''
  const tellState = (known: Knowledge) => {
    const summary = { activation: known.settings.activation.kind, ...agreement(known) }
    if (toldState !== JSON.stringify(summary)) log.info(summary, 'state loaded')
    toldState = JSON.stringify(summary)
  }
  let isToldToWait = false
  const tellWaiting = () => {
    if (isToldToWait || knowledge) return
    isToldToWait = true
    log.info('waiting for the leader to publish its state; until then only overrides are judged')
  }
  const learning = createCycle({
    signal,
    retryMs: SCHEMA_RETRY_MS,
    onTrouble: (error) => tell('cannot take the state in; trying again', error),
    async work() {
      const state = parseState(watches.object(STATE)?.data)
      if (!state) return tellWaiting()
      const queries = queriesOf(catalog, state)
      const schemas = await loadSchemas(queries)
      knowledge = createKnowledge(catalog, state, schemas, decide)
      tellState(knowledge)
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
      const certificate = id === CERTIFICATE && servingCertificateIn(watches.object(CERTIFICATE))
      if (certificate) useCertificate(certificate)
    },
  })

  const obstacles = () => [
    ...(isEnding ? ['it is shutting down'] : []),
    ...(hasCertificate ? [] : ['there is no serving certificate']),
    ...(knowledge ? [] : ['the leader has published no state']),
    ...(knowledge?.all.some(({ standing, tree }) => standing.kind === 'active' && !tree)
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
      onTrouble: (error) => tell('the certificate files', error),
      signal,
    })
  }
  log.info({ port, opsPort }, 'webhook listening')

  const end = async () => {
    isEnding = true
    await sleep(config.graceMs)
    watches.stop()
    const idle = setInterval(() => app.server.closeIdleConnections(), 50)
    const patience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
    await app.close()
    clearInterval(idle)
    clearTimeout(patience)
    await ops.close()
  }
  return { port, opsPort, ended: afterAbort(signal, end) }
}

const agreement = ({ all }: Knowledge) => {
  const active = all.filter(({ standing }) => standing.kind === 'active')
  return {
    active: active.length,
    disagreeing: active.filter(({ isAgreed }) => !isAgreed).map(({ asset }) => asset.name),
  }
}
