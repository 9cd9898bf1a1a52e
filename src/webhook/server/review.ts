import { type Static, Type } from '@sinclair/typebox'
import type { Operation } from 'fast-json-patch'

const TEXT = Type.String()

/**
 * What the webhook reads of an AdmissionReview, and what every one must have. Objects are judged by code, which names what is
 * wrong. See https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request
 */
export const REVIEW = Type.Object({
  apiVersion: Type.Unsafe<string>({ const: 'admission.k8s.io/v1' }),
  kind: Type.Unsafe<string>({ const: 'AdmissionReview' }),
  request: Type.Object({
    uid: Type.String({ minLength: 1, maxLength: 256 }),
    operation: Type.Unsafe<'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'>({
      enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    }),
    kind: Type.Object({ group: TEXT, version: TEXT, kind: TEXT }),
    subResource: Type.Optional(TEXT),
    name: Type.Optional(TEXT),
    namespace: Type.Optional(TEXT),
    dryRun: Type.Optional(Type.Boolean()),
    userInfo: Type.Object({ username: TEXT }),
    object: Type.Optional(Type.Unknown()),
    oldObject: Type.Optional(Type.Unknown()),
    /** Which of the two have more values than can be judged; of these only names and our annotations are there. */
    oversized: Type.Optional(Type.Unsafe<readonly ('object' | 'oldObject')[]>({})),
    /** How the client asked for it; the field manager in it is the client's own word. */
    options: Type.Optional(Type.Unknown()),
  }),
})
export type AdmissionReview = Readonly<Static<typeof REVIEW>>
export type AdmissionRequest = Readonly<AdmissionReview['request']>

/** The request is not taken in, or is no review that can be judged: a status and a message of HTTP's. */
export class Refused extends Error {
  override name = 'Refused' as const
  readonly statusCode: 400 | 413 | 415 | 429

  constructor(statusCode: Refused['statusCode'], message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** One fault, as a Status object lists it: the field is a JSON pointer, or written as the API server writes it. */
export interface Cause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

export interface AdmissionResponse {
  readonly allowed: boolean
  readonly status?: {
    readonly code: number
    readonly reason?: string
    readonly message: string
    readonly details?: { readonly causes: readonly Cause[] }
  }
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export const allowed = (): AdmissionResponse => ({ allowed: true })

/**
 * A refusal. 403, as 422 makes `kubectl apply --force` and Flux's `force: true` delete the object to create it anew. No
 * `reason` in the status: with `Invalid`, kubectl would print the causes and lose the message.
 */
export const denied = (message: string, causes: readonly Cause[] = []): AdmissionResponse => ({
  allowed: false,
  status: { code: 403, message, ...(causes.length > 0 && { details: { causes } }) },
})

/**
 * A refusal of what can never be right, which tools may tell from a lack of rights. Its reason is one that clients know: without
 * any, or with `Invalid`, `kubectl apply --force` would take the 422 for one to delete the object for.
 */
export const invalid = (message: string, causes: readonly Cause[]): AdmissionResponse => ({
  allowed: false,
  status: { code: 422, reason: 'BadRequest', message, details: { causes } },
})

export const patched = (operations: readonly Operation[]): AdmissionResponse => ({
  allowed: true,
  ...(operations.length > 0 && {
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  }),
})

/** The answer to one review, in the version that it was asked in. */
export const review = (
  { apiVersion, kind, request: { uid } }: AdmissionReview,
  response: AdmissionResponse,
) => ({ apiVersion, kind, response: { uid, ...response } })
