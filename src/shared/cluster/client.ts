import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConfig } from '@kubernetes/client-node'

import { PRODUCT } from '../engine/identity.ts'
import { isMap } from '../engine/json/object.ts'
import { createCredentials } from './credentials.ts'
import { createTransport, type Outgoing, type Pool } from './transport.ts'

/** The API server answered, and the answer is an error. `details` is its Status object's. */
export class ApiError extends Error {
  override name = 'ApiError' as const
  readonly status: number
  readonly reason: string | undefined

  constructor(operation: string, status: number, body: unknown) {
    const { message, reason } = isMap(body) ? body : {}
    super(`${operation}: ${status} ${typeof message === 'string' ? message : 'no message'}`)
    this.status = status
    this.reason = typeof reason === 'string' ? reason : undefined
  }
}

/** Nobody answered: refused, reset, timed out, or a TLS handshake that failed. */
export class UnreachableError extends Error {
  override name = 'UnreachableError' as const
}

/** Whether the API server said that there is no such thing. */
export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404

/** Whether the user may not do that, by the API server's roles or by somebody's admission. */
export const isForbidden = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 403

/** Whether a precondition failed: what we planned from has changed meanwhile. */
export const isConflict = (error: unknown) => error instanceof ApiError && error.status === 409

/**
 * Whether the server refuses an object for a field that its schema does not know. For a server-side apply that
 * is no status of its own: it says 500, and only its message tells this from a fault.
 */
export const isUnknownField = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  (error.status === 500 || error.status === 400) &&
  /field not declared in schema|unknown field/.test(error.message)

export interface RequestInput {
  readonly method?: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

/** The one way to the API server: kept-alive connections, credentials that are read anew for each request. */
export interface Client {
  readonly server: string
  /** Under which this client applies, patches and tells events. */
  readonly fieldManager: string
  /** Sends one request and parses the JSON answer. Throws ApiError for 4xx and 5xx, UnreachableError for none. */
  readonly send: (path: string, input?: RequestInput) => Promise<Reply>
  /** Opens a stream of JSON lines; its requests have connections of their own. */
  readonly stream: (path: string, input?: RequestInput) => Promise<AsyncIterable<Uint8Array>>
  readonly close: () => Promise<void>
}

const BUSY_RETRIES = 3

/** Connects to the cluster of the kubeconfig's current context. */
export async function connect(kubeConfig: KubeConfig, fieldManager = PRODUCT): Promise<Client> {
  const cluster = kubeConfig.getCurrentCluster()
  if (!cluster)
    throw new Error(
      'the kubeconfig has no current cluster: set one with `kubectl config use-context`',
    )
  const { server, proxyUrl } = cluster
  const credentials = createCredentials(kubeConfig)
  const { tls } = await credentials()
  const transport = createTransport({ server, proxyUrl, tls })

  const open = async (pool: Pool, path: string, input: RequestInput) => {
    const { headers } = await credentials()
    const request = requestOf(server, path, input, headers)
    const reply = await answerTo(() => transport.open(pool, request), request)
    return { reply, request }
  }
  return {
    server,
    fieldManager,
    async send(path, input = {}) {
      const { reply, request } = await open('requests', path, input)
      const body = parseBody(await readText(reply, request))
      return { status: reply.statusCode ?? 0, headers: reply.headers, body }
    },
    async stream(path, input = {}) {
      const { reply, request } = await open('streams', path, input)
      return unlessBroken(reply, request)
    },
    close: async () => transport.close(),
  }
}

/** A request, and how an error names it and the server. */
interface Request extends Outgoing {
  readonly operation: string
  readonly server: string
}

function requestOf(
  server: string,
  path: string,
  { method = 'GET', query, body, contentType, accept, headers, signal }: RequestInput,
  credentials: Readonly<Record<string, string>>,
): Request {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const type = contentType ?? 'application/json'
  return {
    operation: `${method} ${path}`,
    server,
    url: urlOf(server, path, query),
    method,
    headers: {
      accept: accept ?? 'application/json',
      'user-agent': PRODUCT,
      // Without its length Node sends the body of a DELETE, but says that there is none: its preconditions would be lost.
      ...(text !== undefined && {
        'content-type': type,
        'content-length': Buffer.byteLength(text),
      }),
      ...credentials,
      ...headers,
    },
    body: text,
    isRepeatable: method === 'GET' || type === APPLY,
    signal,
  }
}

// An apply that is made twice states the same twice. Of other writes the second answer would be about the first: that
// there is one already, that it changed meanwhile, that there is nothing left to delete.
const APPLY = 'application/apply-patch+yaml'

async function answerTo(
  open: () => Promise<IncomingMessage>,
  request: Request,
): Promise<IncomingMessage> {
  for (let attempt = 0; ; attempt++) {
    const reply = await open().catch((error: Error) => {
      throw failureOf(request, error)
    })
    const { statusCode: status = 0, headers } = reply
    if (status < 400) return reply
    const text = await readText(reply, request)
    if (!isBusy(status) || attempt >= BUSY_RETRIES)
      throw new ApiError(request.operation, status, parseBody(text))
    await sleep(retryAfterMs(headers), undefined, request.signal && { signal: request.signal })
  }
}

const readText = (reply: IncomingMessage, request: Request): Promise<string> =>
  text(reply).catch((error: Error) => {
    throw failureOf(request, error)
  })

async function* unlessBroken(reply: IncomingMessage, request: Request) {
  try {
    yield* reply as AsyncIterable<Uint8Array>
  } catch (error) {
    throw unreachable(request, error as Error)
  }
}

/** What is told of a request that has no answer: why it was given up, where that was asked for. */
const failureOf = (request: Request, error: Error) =>
  request.signal?.aborted ? error : unreachable(request, error)

const unreachable = ({ operation, server }: Request, cause: Error) =>
  new UnreachableError(
    `${operation}: the API server at ${server} does not answer: ${describe(cause)}`,
    { cause },
  )

const LONGEST_RETRY_AFTER_S = 10

function retryAfterMs(headers: Reply['headers']): number {
  const seconds = Number(headers['retry-after'] ?? 1)
  return 1000 * Math.min(Number.isFinite(seconds) ? seconds : 1, LONGEST_RETRY_AFTER_S)
}

const isBusy = (status: number) => status === 429 || status === 503

function urlOf(server: string, path: string, query: RequestInput['query'] = {}): string {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]): [string, string][] =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  ).toString()
  return `${server.replace(/\/$/, '')}${path}${search && (path.includes('?') ? '&' : '?')}${search}`
}

const parseBody = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text.slice(0, 300) }
  }
}

// An AggregateError of both address families has no message of its own.
const describe = (error: Error & { code?: string; errors?: readonly Error[] }) =>
  error.message || error.errors?.[0]?.message || error.code || error.name
