import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { KEEP_ALIVE_MS } from '../harness/network/https-server.ts'

/** What a webhook does wrong. */
export type Manner =
  /** Takes connections, and says nothing, not even hello. */
  | 'silent'
  /** Takes requests, and answers none. */
  | 'hung'
  /** Answers after the API server has given up, and then with a denial. */
  | 'slow'
  | 'error 500'
  | 'garbage'
  /** Answers what was not asked. */
  | 'a stranger’s answer'
  /** Resets each connection once somebody speaks. */
  | 'reset'

/** A server in the webhook's place. */
export interface BadWebhook {
  /** The names of the objects that it was asked about; a silent one, and one that resets, hear none. */
  readonly asked: readonly string[]
  /** How often somebody connected. */
  readonly connections: () => number
  readonly stop: () => Promise<void>
}

/** Where it listens, and with what certificate. */
export interface Place {
  readonly port: number
  readonly key: string
  readonly cert: string
}

// So much more than the API server waits in any test of it that a stall does not let both come at once.
const SLOW_MS = 15_000

interface Exchange {
  readonly uid: string
  readonly outgoing: ServerResponse
}

const review = (response: object) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })

const answerJson = ({ outgoing }: Exchange, text: string) =>
  outgoing.setHeader('content-type', 'application/json').end(text)

/** Those that know no TLS. */
const CURT = {
  silent: () => undefined,
  reset: (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()),
}
type Curt = keyof typeof CURT

const isCurt = (manner: Manner): manner is Curt => manner in CURT

const MANNERS: Readonly<Record<Exclude<Manner, Curt>, (exchange: Exchange) => unknown>> = {
  hung: () => undefined,
  slow: (exchange) =>
    setTimeout(() => answerJson(exchange, review({ uid: exchange.uid, allowed: false })), SLOW_MS),
  'error 500': ({ outgoing }) => outgoing.writeHead(500).end('out of order'),
  garbage: (exchange) => answerJson(exchange, '{"kind":"Garb'),
  'a stranger’s answer': (exchange) =>
    answerJson(exchange, review({ uid: 'another', allowed: false })),
}

/** Listens where the webhook did, in one of these manners. */
export async function startBadWebhook(
  manner: Manner,
  { port, key, cert }: Place,
): Promise<BadWebhook> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const serve = async (
    answer: (exchange: Exchange) => unknown,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ) => {
    const { request } = (await json(incoming)) as { request: { uid: string; name: string } }
    asked.push(request.name)
    answer({ uid: request.uid, outgoing })
  }
  const server: Server = isCurt(manner)
    ? createSocketServer(CURT[manner])
    : createServer(
        { key, cert, keepAliveTimeout: KEEP_ALIVE_MS },
        (...pair) => void serve(MANNERS[manner], ...pair),
      )
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    // Whoever gives up resets.
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    asked,
    connections: () => connections,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
