import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

/** A connection, from its first byte on. */
export interface Connection {
  readonly socket: Socket
  /** How many requests on it are in hand. */
  requests: number
  /** When it was opened, or a request on it last came or was answered, in milliseconds. */
  lastAt: number
}

/** The open connections of a server, by peer. */
export type Connections = ReadonlyMap<string, Connection>

/**
 * Follows a server's connections, for the drain alone: Node takes one that has yet to make its first request for a busy
 * one, and does not know of one in its TLS handshake.
 */
export function followConnections(server: Server, now: () => number): Connections {
  const open = new Map<string, Connection>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    const connection = { socket, requests: 0, lastAt: now() }
    open.set(peer, connection)
    socket.once('close', () => {
      // Its successor may have come from the same port before we heard of the end.
      if (open.get(peer) === connection) open.delete(peer)
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(peerOf(socket))
    if (!connection) return
    connection.requests += 1
    connection.lastAt = now()
    response.once('close', () => {
      connection.requests -= 1
      connection.lastAt = now()
    })
  })
  return open
}

// The TLS socket of a request is not the one that was connected; both name the same peer.
const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

export interface DrainOptions {
  readonly connections: Connections
  /** The clock that the connections were followed by. */
  readonly now: () => number
  /** Stops listening; resolves when no connection is left. */
  readonly close: () => Promise<void>
  /** How long requests in hand have, milliseconds. */
  readonly patienceMs: number
}

const SWEEP_MS = 250

/** Ends a server without taking an answer away from anybody, as far as HTTP/1.1 lets a server do so. */
export async function drain({ connections, now, close, patienceMs }: DrainOptions): Promise<void> {
  const patience = setTimeout(() => {
    for (const { socket } of connections.values()) socket.destroy()
  }, patienceMs)
  // Twice while there is still somebody to take a request: closing the server closes all idle ones at once.
  await closeQuiet(connections, now)
  await sleep(SWEEP_MS)
  await closeQuiet(connections, now)
  let isClosed = false
  const closed = close().finally(() => {
    isClosed = true
    clearTimeout(patience)
  })
  while (!isClosed) {
    await closeQuiet(connections, now)
    await Promise.race([closed, sleep(SWEEP_MS)])
  }
  await closed
}

/** Closes every connection on which nothing was going on for the time between two sweeps. */
export async function closeQuiet(connections: Connections, now: () => number): Promise<void> {
  for (const connection of [...connections.values()]) {
    // What has arrived is read before the next one is closed, and makes its connection a busy one.
    await turn()
    if (connection.requests > 0 || now() - connection.lastAt < SWEEP_MS) continue
    // The client cannot write into a reset connection; into one that is only closed it can, and loses the request.
    connection.socket.resetAndDestroy()
  }
}
