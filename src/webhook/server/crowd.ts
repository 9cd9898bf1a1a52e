import type { Server } from 'node:net'
import type { Connection, Connections } from './connections.ts'

/** How many connections there may be. */
export interface CrowdLimits {
  /** From how many on those are closed that can be spared. */
  readonly soft: number
  /** How many there are at most, whether one can be spared or not. */
  readonly hard: number
  /** How long a connection must have been quiet to be spared, milliseconds: a handshake takes less. */
  readonly quietMs: number
}

// An API server has one for each call under way and keeps the idle ones for a while. What it opens in the moment in
// which none can be spared fits in between; a quiet TLS connection takes some 50 KiB.
const LIMITS: CrowdLimits = { soft: 500, hard: 2_000, quietMs: 1_000 }

/**
 * Keeps the connections of a server few. Beyond the soft limit those leave that were quiet for long: first the idle
 * ones that asked before, whose client opens another, then those that never asked. Never one with a request in hand,
 * nor one that may be in its handshake: that would be the very newcomer that room is made for.
 */
export function boundConnections(
  server: Server,
  connections: Connections,
  now: () => number,
  { soft, hard, quietMs }: CrowdLimits = LIMITS,
): void {
  const makeRoom = () => {
    if (connections.size <= soft) return
    const quiet = [...connections].filter(
      ({ requests, lastAt }) => requests === 0 && now() - lastAt >= quietMs,
    )
    for (const { socket } of quiet.sort(sparedFirst).slice(0, connections.size - soft)) {
      // The client cannot write into a reset connection; into one that is only closed it can, and loses the request.
      socket.resetAndDestroy()
    }
  }
  server.maxConnections = hard
  server.on('connection', makeRoom)
  server.on('drop', makeRoom)
}

const sparedFirst = (a: Connection, b: Connection) =>
  Number(b.isHeard) - Number(a.isHeard) || a.lastAt - b.lastAt
