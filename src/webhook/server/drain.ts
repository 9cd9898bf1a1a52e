import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Connections } from './connections.ts'

export interface DrainOptions {
  readonly connections: Connections
  /** The clock of the connections' book, in milliseconds. */
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
    for (const { socket } of connections) socket.destroy()
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
  for (const connection of [...connections]) {
    // What has arrived is read before the next one is closed, and makes its connection a busy one.
    await turn()
    if (connection.requests > 0 || now() - connection.lastAt < SWEEP_MS) continue
    // The client cannot write into a reset connection; into one that is only closed it can, and loses the request.
    connection.socket.resetAndDestroy()
  }
}
