import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection, from its first byte on. */
export interface Connection {
  readonly socket: Socket
  /** How many requests on it are in hand. */
  readonly requests: number
  /** Whether it ever asked anything. */
  readonly isHeard: boolean
  /** When it was opened, or a request on it last came or was answered, in milliseconds of the book's clock. */
  readonly lastAt: number
}

/** Every connection of a server that is open now, oldest first. */
export interface Connections extends Iterable<Connection> {
  readonly size: number
}

/**
 * Keeps a server's connections in a book. Node itself takes one that has yet to make its first request for a busy
 * one, and does not know of one in its TLS handshake.
 */
export function followConnections(server: Server, now: () => number): Connections {
  const open = new Set<Connection>()
  const byPeer = new Map<
    string,
    Connection & { requests: number; isHeard: boolean; lastAt: number }
  >()
  // A newcomer is in the book before anybody makes room for it.
  server.prependListener('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    const connection = { socket, requests: 0, isHeard: false, lastAt: now() }
    open.add(connection)
    byPeer.set(peer, connection)
    socket.once('close', () => {
      open.delete(connection)
      // Its successor may have come from the same port before we heard of the end.
      if (byPeer.get(peer) === connection) byPeer.delete(peer)
    })
  })
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = byPeer.get(peerOf(socket))
    if (!connection) return
    connection.requests += 1
    connection.isHeard = true
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
