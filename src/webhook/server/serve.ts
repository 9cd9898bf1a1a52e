import type { Server } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { Client } from '../../shared/cluster/client.ts'
import type { Listen } from '../../shared/ops/listen.ts'
import type { Log, TroubleTeller } from '../../shared/ops/log.ts'
import { createOpsApp, listen, type Obstacles } from '../../shared/ops/server.ts'
import { createApp, type Handler } from './app.ts'
import { type CertificateSource, followCertificate } from './certificate.ts'
import { drain, followConnections } from './drain.ts'
import { createLineLimit } from './rate-limits.ts'

export interface ServeConfig {
  readonly listen: Listen
  readonly opsListen: Listen
  readonly certificate: CertificateSource
  /** PEM of the authorities that callers must have a certificate of; by default anybody may call. */
  readonly clientCa?: string | undefined
  /** How long to go on serving, not ready, after the end was asked for: load balancers learn slowly. */
  readonly graceMs: number
}

export interface ServeDeps {
  /** What our annotations begin with. */
  readonly prefix: string
  /** What answers the reviews that are posted to each path. */
  readonly routes: Readonly<Record<string, Handler>>
  /** What keeps the process from being ready, beside what the server knows itself. */
  readonly obstacles: Obstacles
  readonly registry: Registry
  readonly certificateExpiry: { set(seconds: number): void }
  readonly client: Client
  readonly log: Log
  readonly tell: TroubleTeller
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number
}

export interface Serving {
  readonly port: number
  readonly opsPort: number
  /** Ends it without taking an answer away from anybody. */
  readonly end: () => Promise<void>
}

// No request of the API server lives longer than one second, unless it is told otherwise. With the grace by default this is
// less than the 30 s after which a pod is killed.
const DRAIN_MS = 10_000
const FAILURES = { capacity: 10, refillMs: 6_000 }

/** Serves admission reviews and the operations endpoints. Rejects where it cannot listen; a certificate is waited for. */
export async function serve(config: ServeConfig, deps: ServeDeps): Promise<Serving> {
  const { client, log, tell, now } = deps
  const tellFailure = createLineLimit(FAILURES, (line) => log.error(line, 'admission failed'), now)
  const { clientCa, certificate: source, graceMs } = config
  const onError = (err: Error) => tellFailure({ err })
  const app = createApp({ tls: { clientCa }, prefix: deps.prefix, routes: deps.routes, onError })
  let isEnding = false
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isEnding) reply.header('connection', 'close')
    done()
  })
  const connections = followConnections(app.server, now)
  let hasCertificate = () => false
  const ops = createOpsApp(deps.registry, () => [
    ...(isEnding ? ['it is shutting down'] : []),
    ...(hasCertificate() ? [] : ['there is no serving certificate']),
    ...deps.obstacles(),
  ])
  const opsPort = await listen(ops, config.opsListen, '--ops-listen')
  const port = await listen(app, config.listen, '--listen')
  const served = new AbortController()
  hasCertificate = followCertificate({
    server: app.server as unknown as Server,
    source,
    clientCa,
    client,
    log,
    tell,
    onExpiry: (seconds) => deps.certificateExpiry.set(seconds),
    signal: served.signal,
  })
  const end = async () => {
    isEnding = true
    await sleep(graceMs)
    await drain({ connections, now, close: () => app.close(), patienceMs: DRAIN_MS })
    served.abort()
    await ops.close()
  }
  return { port, opsPort, end }
}
