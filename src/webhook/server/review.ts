import type { Operation } from 'fast-json-patch'

/** What the webhook reads of an AdmissionReview; see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request */
export interface AdmissionReview {
  readonly apiVersion: string
  readonly kind: string
  readonly request: AdmissionRequest
}

export interface AdmissionRequest {
  readonly uid: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly dryRun?: boolean
  readonly userInfo: { readonly username: string }
  readonly object?: unknown
  readonly oldObject?: unknown
  /** Which of the two have more values than can be judged; of these only names and our annotations are there. */
  readonly oversized?: readonly ('object' | 'oldObject')[]
  /** How the client asked for it; the field manager in it is the client's own word. */
  readonly options?: unknown
}

/** The envelope that every request must have. Objects are judged by code, which names what is wrong. */
export const admissionReviewSchema = {
  type: 'object',
  required: ['apiVersion', 'kind', 'request'],
  properties: {
    apiVersion: { const: 'admission.k8s.io/v1' },
    kind: { const: 'AdmissionReview' },
    request: {
      type: 'object',
      required: ['uid', 'operation', 'kind', 'userInfo'],
      properties: {
        uid: { type: 'string', minLength: 1, maxLength: 256 },
        operation: { enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] },
        kind: {
          type: 'object',
          required: ['group', 'version', 'kind'],
          properties: {
            group: { type: 'string' },
            version: { type: 'string' },
            kind: { type: 'string' },
          },
        },
        subResource: { type: 'string' },
        name: { type: 'string' },
        namespace: { type: 'string' },
        dryRun: { type: 'boolean' },
        userInfo: {
          type: 'object',
          required: ['username'],
          properties: { username: { type: 'string' } },
        },
      },
    },
  },
} as const

/** One fault, as a Status object lists it: the field is a JSON pointer. */
export interface Cause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

export interface AdmissionResponse {
  readonly allowed: boolean
  readonly status?: {
    readonly code: number
    readonly message: string
    readonly details?: { readonly causes: readonly Cause[] }
  }
  readonly patchType?: 'JSONPatch'
  readonly patch?: string
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export const allowed = (): AdmissionResponse => ({ allowed: true })

/** A refusal. No `reason` in the status: with `Invalid`, kubectl would print the causes and lose the message. */
export const denied = (
  code: 403 | 422,
  message: string,
  causes: readonly Cause[] = [],
): AdmissionResponse => ({
  allowed: false,
  status: { code, message, ...(causes.length > 0 && { details: { causes } }) },
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
  { apiVersion, kind, request }: AdmissionReview,
  response: AdmissionResponse,
) => ({
  apiVersion,
  kind,
  response: { uid: request.uid, ...response },
})
