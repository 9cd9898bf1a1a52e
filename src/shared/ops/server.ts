import Fastify, { type FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'

import { type Listen, listenError } from './listen.ts'

/** Why a process is not ready, by name of what is missing; empty when it is. */
export type Obstacles = () => readonly string[]

/** The operations endpoints: `/metrics`, `/healthz`, and `/readyz`, which says what is missing. */
export function createOpsApp(registry: Registry, obstacles: Obstacles): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  app.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType)
    return registry.metrics()
  })
  app.get('/healthz', async () => 'ok')
  app.get('/readyz', async (_request, reply) => {
    const missing = obstacles()
    if (missing.length === 0) return 'ok'
    reply.code(503)
    return `not ready: ${missing.join(', ')}`
  })
  return app
}

/** Starts listening; a failure names the address and the flag that changes it. Returns the port. */
export async function listen(app: FastifyInstance, at: Listen, flag: string): Promise<number> {
  try {
    await app.listen(at)
  } catch (error) {
    throw listenError(error, at, flag)
  }
  const address = app.server.address()
  return typeof address === 'object' && address ? address.port : at.port
}
