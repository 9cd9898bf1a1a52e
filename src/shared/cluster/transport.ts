import { Agent, type IncomingMessage, request as requestInClear } from 'node:http'
import { request as requestByTls, Agent as TlsAgent } from 'node:https'

import { KubeconfigError } from './kubeconfig.ts'

/** Where the API server is, and how it is reached. */
export interface Route {
  readonly server: string
  readonly proxyUrl: string | undefined
  readonly tls: Readonly<Record<string, unknown>>
}

/** A request as it is written to a connection. */
export interface Outgoing {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly body?: string | undefined
  /** Whether asking twice does no more than asking once. */
  readonly isRepeatable: boolean
  readonly signal?: AbortSignal | undefined
}

/** Streams have connections of their own: each keeps one for minutes, for which no request waits. */
export type Pool = 'requests' | 'streams'

/** Kept-alive connections to one server. */
export interface Transport {
  /**
   * Sends a request, and gives the answer as soon as its headers are here. Whoever gets it reads its body to the end,
   * or destroys it: until then it keeps its connection. Throws what the connection met, or the signal's reason.
   */
  readonly open: (pool: Pool, outgoing: Outgoing) => Promise<IncomingMessage>
  /** Cuts all connections: what is under way, or waits for one, fails. */
  readonly close: () => void
}

/** After how many milliseconds what is given up, and how many requests have a connection at once. */
export interface Limits {
  readonly connectMs: number
  /** For how long the server may say nothing. */
  readonly requestMs: number
  readonly streamMs: number
  readonly connections: number
}

const LIMITS: Limits = {
  connectMs: 10_000,
  requestMs: 35_000,
  // The server ends a watch after at most six minutes.
  streamMs: 420_000,
  connections: 8,
}
const KEEP_ALIVE_MS = 30_000

/** Prepares connections; the first is made for the first request. */
export function createTransport(
  { server, proxyUrl, tls }: Route,
  limits: Limits = LIMITS,
): Transport {
  const { connectMs, requestMs, streamMs, connections } = limits
  const isClear = server.startsWith('http:')
  const options = {
    keepAlive: true,
    keepAliveMsecs: KEEP_ALIVE_MS,
    // Of an idle connection, too: balancers and servers keep one longer, so that we are the one to close it, and hardly ever
    // write to one that is being closed.
    timeout: connectMs,
    ...(proxyUrl && { proxyEnv: proxyOf(proxyUrl) }),
  }
  const agentWith = (limit: { maxSockets?: number }) =>
    isClear ? new Agent({ ...options, ...limit }) : new TlsAgent({ ...options, ...tls, ...limit })
  const common = {
    ask: isClear ? requestInClear : requestByTls,
    underWay: new Set<(reason: Error) => void>(),
    limits,
  }
  const pools = {
    requests: { ...common, agent: agentWith({ maxSockets: connections }), pauseMs: requestMs },
    streams: { ...common, agent: agentWith({}), pauseMs: streamMs },
  }
  let isClosed = false
  return {
    async open(pool, outgoing) {
      if (isClosed) throw closed()
      return exchange(pools[pool], outgoing)
    },
    close() {
      isClosed = true
      for (const fail of common.underWay) fail(closed())
      for (const { agent } of Object.values(pools)) {
        // In place of those that are cut the agent makes a new one for who waited, and is gone.
        agent.on('free', (socket) => socket.destroy())
        agent.destroy()
      }
    },
  }
}

const closed = () => new Error('the client was closed')

function proxyOf(url: string) {
  if (/^https?:\/\//.test(url)) return { HTTP_PROXY: url, HTTPS_PROXY: url }
  throw new KubeconfigError(`the kubeconfig's proxy-url "${url}" is no http or https URL`)
}

interface Connections {
  readonly ask: typeof requestByTls
  readonly agent: Agent
  readonly limits: Limits
  /** For how long an answer may pause. */
  readonly pauseMs: number
  /** How to fail each request that has no answer yet, or whose answer is still being read. */
  readonly underWay: Set<(reason: Error) => void>
}

function exchange(connections: Connections, outgoing: Outgoing): Promise<IncomingMessage> {
  const { ask, agent, limits, pauseMs, underWay } = connections
  const { url, method, headers, body, isRepeatable, signal } = outgoing
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request = ask(url, { agent, method, headers })
  let reply: IncomingMessage | undefined
  const fail = (reason: Error) => {
    end()
    reject(reason)
    // Who reads an answer learns the reason only if that is destroyed, not its request.
    const open = reply ?? request
    open.destroy(reason)
  }
  const onAbort = () => fail(signal?.reason)
  const onTimeout = () => {
    if (request.socket?.connecting) fail(tooLate('no connection', limits.connectMs))
    else if (reply) fail(tooLate('nothing more', pauseMs))
    else fail(tooLate('no answer', limits.requestMs))
  }
  // Node tells a request that waits for a connection of neither a timeout nor an abort: it would wait on.
  const onWaiting = () => fail(tooLate('no free connection', limits.requestMs))
  const waiting = setTimeout(onWaiting, limits.requestMs)
  const end = () => {
    clearTimeout(waiting)
    signal?.removeEventListener('abort', onAbort)
    underWay.delete(fail)
  }
  underWay.add(fail)
  signal?.addEventListener('abort', onAbort, { once: true })
  // In force once there is a connection; until then the agent's is.
  request.setTimeout(limits.requestMs, onTimeout)
  request.once('socket', () => clearTimeout(waiting))
  request.on('error', (error) => {
    const isGivenUp = !underWay.has(fail)
    end()
    // The server closed a kept-alive connection while we wrote to it. It may have read the request, or not.
    const isStale = request.reusedSocket && !reply && isReset(error)
    if (isStale && isRepeatable && !isGivenUp)
      resolve(exchange(connections, { ...outgoing, isRepeatable: false }))
    else reject(error)
  })
  request.once('response', (incoming) => {
    reply = incoming
    // Without a listener Node drops the reason, and who reads later only hears of a premature end.
    incoming.on('error', () => undefined)
    incoming.setTimeout(pauseMs)
    resolve(incoming)
  })
  request.once('close', end)
  request.end(body)
  return promise
}

const tooLate = (what: string, ms: number) => new Error(`${what} within ${ms / 1000} s`)

const isReset = ({ code }: NodeJS.ErrnoException) => code === 'ECONNRESET' || code === 'EPIPE'
