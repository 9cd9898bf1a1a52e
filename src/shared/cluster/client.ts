import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConfig } from '@kubernetes/client-node'
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'

import { PRODUCT } from '../engine/identity.ts'
import { isMap } from '../engine/json/object.ts'
import { createCredentials } from './credentials.ts'
import { KubeconfigError } from './kubeconfig.ts'

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

/** Whether it is not an object that is missing, but the kind, or this version of it. */
export const isNotServed = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.status === 404 &&
  (error.reason === undefined || /could not find the requested resource/.test(error.message))

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
  readonly method?: Dispatcher.HttpMethod
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

/** The one way to the API server: kept-alive connections, and a token that is read anew for each request. */
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

const REQUEST_TIMEOUT_MS = 35_000
// The server ends a watch after at most six minutes.
const STREAM_TIMEOUT_MS = 420_000
const BUSY_RETRIES = 3

/** Connects to the cluster of the kubeconfig's current context. */
export async function connect(kubeConfig: KubeConfig, fieldManager = PRODUCT): Promise<Client> {
  const cluster = kubeConfig.getCurrentCluster()
  if (!cluster)
    throw new Error(
      'the kubeconfig has no current cluster: set one with `kubectl config use-context`',
    )
  const credentials = createCredentials(kubeConfig)
  const { tls } = await credentials()
  const agentWith = (timeout: number, connections?: number) =>
    createAgent(cluster.proxyUrl, tls, {
      ...(connections !== undefined && { connections }),
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: timeout,
    })
  const requests = agentWith(REQUEST_TIMEOUT_MS, 8)
  const streams = agentWith(STREAM_TIMEOUT_MS)

  const open = async (dispatcher: Dispatcher, path: string, input: RequestInput) => {
    const { headers } = await credentials()
    return openOnce(cluster.server, dispatcher, path, {
      ...input,
      headers: { ...headers, ...input.headers },
    })
  }
  return {
    server: cluster.server,
    fieldManager,
    async send(path, input = {}) {
      const { statusCode, headers, body } = await open(requests, path, input)
      const text = await body.text().catch((error: Error) => {
        throw input.signal?.aborted ? error : unreachable(`reading ${path}`, cluster.server, error)
      })
      return { status: statusCode, headers, body: parseBody(text) }
    },
    async stream(path, input = {}) {
      const { body } = await open(streams, path, input)
      return unlessBroken(body, `reading ${path}`, cluster.server)
    },
    close: async () => {
      await Promise.all([requests.destroy(), streams.destroy()])
    },
  }
}

function createAgent(
  proxyUrl: string | undefined,
  tls: object,
  options: Agent.Options,
): Dispatcher {
  const connection = { keepAlive: true, keepAliveInitialDelay: 30_000 }
  if (!proxyUrl) return new Agent({ ...options, connect: { ...tls, ...connection } })
  if (!/^https?:\/\//.test(proxyUrl))
    throw new KubeconfigError(`the kubeconfig's proxy-url "${proxyUrl}" is no http or https URL`)
  return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: tls, proxyTls: connection })
}

async function openOnce(server: string, dispatcher: Dispatcher, path: string, input: RequestInput) {
  const { method = 'GET', signal } = input
  const operation = `${method} ${path}`
  const url = urlOf(server, path, input.query)
  const options = { method, dispatcher, ...(signal && { signal }), ...contentOf(input) }
  for (let attempt = 0; ; attempt++) {
    const reply = await request(url, options).catch((error: Error) => {
      throw signal?.aborted ? error : unreachable(operation, server, error)
    })
    if (reply.statusCode < 400) return reply
    const text = await reply.body.text()
    if (!isBusy(reply.statusCode) || attempt >= BUSY_RETRIES) {
      throw new ApiError(operation, reply.statusCode, parseBody(text))
    }
    await sleep(retryAfterMs(reply.headers), undefined, { ...(signal && { signal }) })
  }
}

const contentOf = ({ accept, body, contentType, headers }: RequestInput) => ({
  headers: {
    accept: accept ?? 'application/json',
    'user-agent': PRODUCT,
    ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
    ...headers,
  },
  ...(body !== undefined && { body: JSON.stringify(body) }),
})

async function* unlessBroken(body: AsyncIterable<Uint8Array>, operation: string, server: string) {
  try {
    yield* body
  } catch (error) {
    throw unreachable(operation, server, error as Error)
  }
}

const unreachable = (operation: string, server: string, cause: Error) =>
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
