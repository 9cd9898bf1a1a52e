import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

import type { KubeObject } from '../engine/json/object.ts'
import { createBackoff } from '../ops/backoff.ts'
import { ApiError, type Client, UnreachableError } from './client.ts'
import { pathOf, type Resource } from './resource.ts'

export interface WatchInput {
  readonly client: Client
  readonly at: Resource
  /** Only the object of this name, which least-privilege roles can permit. */
  readonly name?: string
  /** Only objects with these labels, as a label selector says it. */
  readonly labelSelector?: string
  /** Metadata alone, for kinds whose content nobody reads. */
  readonly metadataOnly?: boolean
  /** Called once for each object that appeared or changed, and with `undefined` for one that went away. */
  readonly onChange: (key: string, object: KubeObject | undefined) => void
  /** Called after each complete list. */
  readonly onSync: () => void
  /** Called when the watch starts to fail, once until it works again. */
  readonly onTrouble: (error: Error) => void
  /** Called when a watch that was in trouble works again. */
  readonly onRecovery?: () => void
  readonly signal: AbortSignal
}

// A page is held as text and as objects: with 100 nodes in one, a start with many of them peaks 10 MB higher.
const PAGE = 50
const PARTIAL = 'g=meta.k8s.io;v=v1,application/json'
/** What a list of metadata alone is asked for by. */
export const METADATA_LIST = `application/json;as=PartialObjectMetadataList;${PARTIAL}`
const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 10_000

/** The key of an object in a watched collection: its namespace, if any, and its name. */
export const keyOf = ({ metadata }: KubeObject) =>
  metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name

/**
 * Follows a collection until the signal aborts: lists, then watches from there, also when the connection
 * was cut; lists again when the server forgot where we were (410 Gone), and waits with backoff and jitter
 * when it does not answer.
 */
export async function watch(input: WatchInput): Promise<void> {
  const { signal } = input
  const known = new Map<string, string>()
  const patience = createPatience(input)
  while (!signal.aborted) {
    try {
      await listAndFollow(input, known, patience.reset)
    } catch (error) {
      await patience.wait(error as Error)
    }
  }
}

/** Waits ever longer from one trouble to the next, and tells only the first. */
function createPatience({ signal, onTrouble, onRecovery }: WatchInput) {
  const backoff = createBackoff({ firstMs: FIRST_BACKOFF_MS, longestMs: LONGEST_BACKOFF_MS })
  let isInTrouble = false
  let isForgotten = false
  return {
    reset() {
      backoff.reset()
      isForgotten = false
      if (isInTrouble) onRecovery?.()
      isInTrouble = false
    },
    async wait(error: Error) {
      if (signal.aborted) return
      // To be forgotten once is no trouble, the list tells where to go on; again and again it is.
      const isFirst = isGone(error) && !isForgotten && !isInTrouble
      isForgotten = true
      if (isFirst) return
      if (!isInTrouble) onTrouble(error)
      isInTrouble = true
      await sleep(backoff.next(), undefined, { signal }).catch(() => undefined)
    },
  }
}

// A watch that ends in peace, or is cut, goes on from where it was; after trouble the list is the truth.
async function listAndFollow(input: WatchInput, known: Map<string, string>, onWorks: () => void) {
  let resourceVersion = await list(input, known)
  const onEvent = (event: WatchEvent) => {
    resourceVersion = take(input, known, event) ?? resourceVersion
    onWorks()
  }
  while (!input.signal.aborted) await follow(input, resourceVersion, onEvent, onWorks)
}

/** Watches until the server, or whatever is between it and us, ends the connection. */
async function follow(
  input: WatchInput,
  resourceVersion: string,
  onEvent: (event: WatchEvent) => void,
  onWorks: () => void,
) {
  const body = await open(input, resourceVersion)
  const startedAt = performance.now()
  const lasting = setTimeout(onWorks, SHORTEST_WATCH_MS)
  try {
    for await (const event of events(body)) onEvent(event)
  } catch (error) {
    if (!(error instanceof UnreachableError) || isTooShort(startedAt)) throw error
    return
  } finally {
    clearTimeout(lasting)
  }
  if (isTooShort(startedAt)) throw new Error('the watch was ended at once')
}

// A proxy that ends every watch at once must not make us ask in a tight loop.
const SHORTEST_WATCH_MS = 500
const isTooShort = (startedAt: number) => performance.now() - startedAt < SHORTEST_WATCH_MS

const isGone = (error: unknown) => error instanceof ApiError && error.status === 410

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
}

const selectorsOf = ({ name, labelSelector }: WatchInput) => ({
  fieldSelector: name === undefined ? undefined : `metadata.name=${name}`,
  labelSelector,
})

async function list(input: WatchInput, known: Map<string, string>): Promise<string> {
  const { client, at, metadataOnly, onChange, onSync, signal } = input
  const seen = new Set<string>()
  let next: string | undefined
  let resourceVersion = ''
  do {
    const { body } = await client.send(pathOf(at), {
      query: { ...selectorsOf(input), limit: PAGE, continue: next },
      signal,
      ...(metadataOnly && { accept: METADATA_LIST }),
    })
    const page = body as ListPage
    for (const item of page.items ?? []) {
      // Items of a list do not repeat what the list says of all of them.
      const object = { ...item, apiVersion: at.apiVersion, kind: page.kind.replace(/List$/, '') }
      seen.add(keyOf(object))
      announce(object, known, onChange)
    }
    next = page.metadata.continue || undefined
    resourceVersion = page.metadata.resourceVersion
  } while (next !== undefined)
  for (const key of known.keys()) {
    if (seen.has(key)) continue
    known.delete(key)
    onChange(key, undefined)
  }
  onSync()
  return resourceVersion
}

/** One page of a list, as the API server has it. */
export interface ListPage {
  readonly kind: string
  /** Null in an empty list of metadata only. */
  readonly items: readonly KubeObject[] | null
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
}

function announce(
  object: KubeObject,
  known: Map<string, string>,
  onChange: WatchInput['onChange'],
) {
  const key = keyOf(object)
  const version = `${object.metadata.uid}/${object.metadata.resourceVersion}`
  if (known.get(key) === version) return
  known.set(key, version)
  onChange(key, object)
}

function open(input: WatchInput, resourceVersion: string) {
  const { client, at, metadataOnly, signal } = input
  return client.stream(pathOf(at), {
    query: {
      watch: 1,
      allowWatchBookmarks: true,
      resourceVersion,
      ...selectorsOf(input),
      timeoutSeconds: 240 + Math.floor(Math.random() * 120),
    },
    signal,
    ...(metadataOnly && { accept: `application/json;as=PartialObjectMetadata;${PARTIAL}` }),
  })
}

async function* events(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  const lines = createInterface({ input: Readable.from(body), crlfDelay: Infinity })
  for await (const line of lines) yield JSON.parse(line) as WatchEvent
}

function take(
  input: WatchInput,
  known: Map<string, string>,
  { type, object }: WatchEvent,
): string | undefined {
  if (type === 'ERROR') throw new ApiError(`WATCH ${pathOf(input.at)}`, Number(object.code), object)
  if (type === 'DELETED') {
    if (known.delete(keyOf(object))) input.onChange(keyOf(object), undefined)
  } else if (type !== 'BOOKMARK') {
    announce(object, known, input.onChange)
  }
  return object.metadata.resourceVersion
}
