import Fastify, { type FastifyInstance } from 'fastify'

import {
  type AdmissionRequest,
  type AdmissionResponse,
  type AdmissionReview,
  admissionReviewSchema,
  review,
} from './review.ts'

/** What answers a review. A BadReview thrown is 400; anything else thrown is 500, and failurePolicy decides. */
export type Handler = (request: AdmissionRequest) => AdmissionResponse

/** The request is well-formed JSON and no review that can be judged. */
export class BadReview extends Error {
  override name = 'BadReview' as const
  readonly statusCode = 400
}

export interface AppOptions {
  /** A certificate may come later, by setSecureContext; without this member the app speaks plain HTTP. */
  readonly tls?: { readonly key?: string; readonly cert?: string }
  readonly mutate: Handler
  readonly validate: Handler
  readonly onError: (error: Error) => void
}

// Two objects of 3 MiB, which is what the API server stores at most, and the envelope.
const BODY_LIMIT = 7 << 20

/** The admission endpoints, not listening yet. */
export function createApp({ tls, mutate, validate, onError }: AppOptions): FastifyInstance {
  const app = Fastify({
    ...(tls && { https: { ...tls, minVersion: 'TLSv1.2' as const } }),
    bodyLimit: BODY_LIMIT,
    // Longer than the API server keeps an idle connection: it must be the one to close.
    keepAliveTimeout: 120_000,
    requestTimeout: 10_000,
    // `__proto__` is a legal key of a ConfigMap; nothing here assigns by keys from outside.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false } },
  }) as unknown as FastifyInstance
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) onError(error)
    reply
      .code(status)
      .send({ message: status < 500 ? error.message : 'the webhook failed; see its log' })
  })
  const options = { schema: { body: admissionReviewSchema } }
  for (const [path, handler] of [['/mutate', mutate] as const, ['/validate', validate] as const]) {
    app.post<{ Body: AdmissionReview }>(path, options, async ({ body }) =>
      review(body, handler(body.request)),
    )
  }
  return app
}
