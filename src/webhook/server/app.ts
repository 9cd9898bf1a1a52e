import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'

import { BodyBudget, isLeftUnread, readBody } from './body.ts'
import {
  type AdmissionRequest,
  type AdmissionResponse,
  type AdmissionReview,
  REVIEW,
  review,
} from './review.ts'

/** What answers a review, at once or later. Refused thrown is 400; anything else thrown is 500, and failurePolicy decides. */
export type Handler = (request: AdmissionRequest) => AdmissionResponse | Promise<AdmissionResponse>
/** A handler that knows all it needs. */
export type PromptHandler = (request: AdmissionRequest) => AdmissionResponse

export interface AppOptions {
  /** A certificate may come later, by setSecureContext; without this member the app speaks plain HTTP. */
  readonly tls?: {
    readonly key?: string
    readonly cert?: string
    /** PEM of the authorities that callers must have a certificate of; by default anybody may call. */
    readonly clientCa?: string | undefined
  }
  /** What our annotations begin with: of a large object these are always read. */
  readonly prefix: string
  /** What answers the reviews that are posted to each path. */
  readonly routes: Readonly<Record<string, Handler>>
  readonly onError: (error: Error) => void
  /** What bounds the requests under way; by default as in production. */
  readonly budget?: BodyBudget
}

// Node's own limits are enough against callers who hold connections: there are so many at most, and the timeouts below close
// each on which nothing is said, or only slowly, or nothing more. An API server that is kept out meanwhile goes by failurePolicy.
const MAX_CONNECTIONS = 2_000
// The API server waits one second, unless it is told otherwise: what takes so much longer to say what it wants is another caller.
const PATIENCE_MS = 5_000
const PATIENCE = {
  headersTimeout: PATIENCE_MS,
  // By default these are looked after every 30 seconds only.
  connectionsCheckingInterval: 1_000,
}
// The API server asks again so much later, where it has the time; else it would wait for nothing until it gives up.
const RETRY_AFTER_S = 1

/** The admission endpoints, not listening yet. */
export function createApp({
  tls,
  prefix,
  routes,
  onError,
  budget = new BodyBudget(),
}: AppOptions): FastifyInstance {
  const app = Fastify({
    ...(tls ? { https: httpsOptions(tls) } : { http: PATIENCE }),
    // Longer than the API server keeps an idle connection: it must be the one to close.
    keepAliveTimeout: 120_000,
    requestTimeout: PATIENCE_MS,
    // A request that arrives while we end is one that we have time for: a 503 would let its write pass unjudged.
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false } },
  }) as unknown as FastifyInstance
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const { statusCode: status = 500 } = error
    if (status >= 500) onError(error)
    if (status === 429 && patienceS(request) > RETRY_AFTER_S)
      reply.header('retry-after', RETRY_AFTER_S)
    if (status === 429 && isLeftUnread(request.raw)) reply.header('connection', 'close')
    reply
      .code(status)
      .send({ message: status < 500 ? error.message : 'the webhook failed; see its log' })
  })
  app.server.maxConnections = MAX_CONNECTIONS
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', ({ raw }: FastifyRequest) =>
    readBody(raw, budget, prefix),
  )
  for (const [path, handler] of Object.entries(routes)) {
    app.post<{ Body: AdmissionReview }>(path, { schema: { body: REVIEW } }, ({ body }, reply) => {
      const response = handler(body.request)
      if (response instanceof Promise) return response.then((later) => review(body, later))
      // Who answers at once is sent at once: what is returned, a reply too, is waited for.
      reply.send(review(body, response))
      return undefined
    })
  }
  return app
}

/** For how many seconds the API server waits, as it says in its request; where nobody says, as long as it takes. */
const patienceS = ({ query }: FastifyRequest): number => {
  const [, seconds = Infinity] =
    /^(\d+)s$/.exec(`${(query as { timeout?: unknown }).timeout}`) ?? []
  return Number(seconds)
}

const httpsOptions = ({ clientCa, ...pair }: NonNullable<AppOptions['tls']>) => ({
  ...pair,
  ...PATIENCE,
  ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  handshakeTimeout: PATIENCE_MS,
  minVersion: 'TLSv1.2' as const,
})
