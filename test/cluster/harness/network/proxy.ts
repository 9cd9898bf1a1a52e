import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import type { Scope } from '../fixture.ts'
import { startHttpsServer } from './https-server.ts'

/** The API server that a proxy stands in front of. */
export interface Behind {
  readonly url: string
  readonly ca: string
}

/** A request that came by. */
export interface Passed {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly isWatch: boolean
  readonly isDryRun: boolean
  /** The last part of the account's name: reconciler, webhook. */
  readonly account: string
  /** What it was answered; undefined until then. */
  status?: number
  /** Under which the API server wrote it down; undefined where it never saw it. */
  auditId?: string
  /** By performance.now(). */
  readonly at: number
}

export type Which = (request: Passed) => boolean

/** A request that is kept waiting. */
export interface Held {
  /** Resolves when the request, or its answer, is here. */
  readonly reached: Promise<Passed>
  /** Lets it go on, if its connection is still there. */
  readonly release: () => void
  /** Cuts its connection: what was not forwarded never is. */
  readonly drop: () => void
}

/** An answer that the API server never gave. */
export interface Refusal {
  readonly status: number
  readonly retryAfterS?: number
}

/** Stands between our processes and the real API server, and does to their requests what a network does. */
export interface ApiProxy extends Behind {
  /** Everything that came by, oldest first. */
  readonly passed: readonly Passed[]
  /** Cuts the connections of these open watches, and says how many. */
  readonly cutWatches: (which?: Which) => number
  /** Answers the next of these requests itself; returns how many of them are still to come. */
  readonly refuse: (which: Which, times: number, refusal: Refusal) => () => number
  /** Tells the next of these watches, by their first event, that their place is forgotten. */
  readonly forget: (which: Which, times: number) => () => number
  /** Keeps the next of these requests waiting before it is forwarded, or before it is answered. */
  readonly hold: (which: Which, what: 'request' | 'answer') => Held
}

interface Exchange {
  readonly passed: Passed
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

interface Fault {
  readonly which: Which
  remaining: number
  /** Answers in the API server's place, where that is the fault. */
  readonly answer?: (exchange: Exchange) => void
  readonly beforeAnswer?: (exchange: Exchange) => Promise<unknown>
  readonly beforeRequest?: (exchange: Exchange) => Promise<unknown>
}

/** Starts a proxy with a certificate of its own; it ends with the test. */
export async function startProxy(t: Scope, behind: Behind): Promise<ApiProxy> {
  const upstream = new Agent({ keepAlive: true, ca: behind.ca })
  const passed: Passed[] = []
  const faults: Fault[] = []
  const open = new Set<Exchange>()

  const serve = async (exchange: Exchange) => {
    passed.push(exchange.passed)
    open.add(exchange)
    exchange.outgoing.once('close', () => open.delete(exchange))
    const fault = faults.find(({ which, remaining }) => remaining > 0 && which(exchange.passed))
    if (fault) fault.remaining--
    if (fault?.answer) return fault.answer(exchange)
    await fault?.beforeRequest?.(exchange)
    if (exchange.incoming.socket.destroyed) return
    forward(exchange, { behind, upstream, ...(fault && { fault }) })
  }
  const { url, bundle } = await startHttpsServer(t, (incoming, outgoing) => {
    void serve({ passed: describe(incoming), incoming, outgoing })
  })
  t.teardown(async () => upstream.destroy())
  const add = (fault: Fault) => {
    faults.push(fault)
    return () => fault.remaining
  }
  return {
    url,
    ca: bundle,
    passed,
    cutWatches(which = () => true) {
      const watches = [...open].filter((exchange) => exchange.passed.isWatch)
      const cut = watches.filter((exchange) => which(exchange.passed))
      for (const { incoming } of cut) incoming.socket.destroy()
      return cut.length
    },
    refuse: (which, times, refusal) =>
      add({ which, remaining: times, answer: (exchange) => refuse(exchange, refusal) }),
    forget: (which, times) =>
      add({ which: (one) => one.isWatch && which(one), remaining: times, answer: forget }),
    hold(which, what) {
      const reached = Promise.withResolvers<Passed>()
      const going = Promise.withResolvers<void>()
      let held: Exchange | undefined
      const wait = (exchange: Exchange) => {
        held = exchange
        reached.resolve(exchange.passed)
        return going.promise
      }
      const when = what === 'request' ? { beforeRequest: wait } : { beforeAnswer: wait }
      add({ which, remaining: 1, ...when })
      return {
        reached: reached.promise,
        release: going.resolve,
        drop() {
          held?.incoming.socket.destroy()
          going.resolve()
        },
      }
    },
  }
}

function describe({ method = '', url = '', headers }: IncomingMessage): Passed {
  const { pathname, searchParams } = new URL(url, 'https://proxy')
  return {
    method,
    path: pathname,
    query: searchParams,
    isWatch: searchParams.get('watch') === '1',
    isDryRun: searchParams.has('dryRun'),
    account: accountOf(headers.authorization ?? ''),
    at: performance.now(),
  }
}

// From the claims of a ServiceAccount's token; the token itself is kept nowhere.
function accountOf(authorization: string): string {
  const claims = authorization.split('.')[1]
  if (claims === undefined) return ''
  const { sub = '' } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub?: string }
  return sub.slice(sub.lastIndexOf('-') + 1)
}

interface Route {
  readonly behind: Behind
  readonly upstream: Agent
  readonly fault?: Fault
}

/** Byte for byte, as it comes. */
function forward(exchange: Exchange, { behind, upstream, fault }: Route): void {
  const { incoming, outgoing, passed } = exchange
  const { hostname, port } = new URL(behind.url)
  const asked = request({
    hostname,
    port,
    method: passed.method,
    path: incoming.url,
    headers: incoming.rawHeaders,
    agent: upstream,
  })
  outgoing.once('close', () => asked.destroy())
  // To the one who asks it is all the same whether the server or the network is away.
  asked.once('error', () => incoming.socket.destroy())
  asked.once('response', async (answer) => {
    passed.status = answer.statusCode ?? 0
    passed.auditId = String(answer.headers['audit-id'])
    await fault?.beforeAnswer?.(exchange)
    answer.once('error', () => incoming.socket.destroy())
    outgoing.writeHead(passed.status, answer.rawHeaders)
    outgoing.flushHeaders()
    answer.pipe(outgoing)
  })
  incoming.pipe(asked)
}

const JSON_TYPE = { 'content-type': 'application/json' }

function refuse({ outgoing, passed }: Exchange, { status, retryAfterS }: Refusal): void {
  passed.status = status
  const wait = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
  outgoing.writeHead(status, { ...JSON_TYPE, ...wait })
  outgoing.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', code: status, message: 'fault' }))
}

function forget({ outgoing, passed }: Exchange): void {
  passed.status = 200
  outgoing.writeHead(200, JSON_TYPE)
  const message = 'too old resource version: 1 (2)'
  const object = { kind: 'Status', apiVersion: 'v1', code: 410, reason: 'Expired', message }
  outgoing.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
}

/** The kubeconfig of whoever goes through a proxy. Credentials are not in it: the processes get tokens. */
export function kubeconfigFor({ url, ca }: Behind): KubeConfig {
  const name = 'proxy'
  const caData = Buffer.from(ca).toString('base64')
  const cluster = { name, server: url, caData, skipTLSVerify: false }
  const kubeconfig = new KubeConfig()
  kubeconfig.loadFromClusterAndUser(cluster, { name })
  return kubeconfig
}
