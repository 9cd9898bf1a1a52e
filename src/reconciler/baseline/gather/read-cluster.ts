import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../../shared/baseline/facts/facts.ts'
import { parseState } from '../../../shared/baseline/state.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { Store } from '../../../shared/cluster/store.ts'
import { Ledger, readState } from '../ledger.ts'
import type { Snapshot } from './availability.ts'
import { ClusterView, FOLLOWER } from './cluster-view.ts'
import { CRDS, crdSource, OTHER_AUTOPILOT } from './sources.ts'

export interface ReadClusterOptions {
  readonly client: Client
  readonly catalog: Catalog
  /** The product's own, where a leader may have published its state. */
  readonly namespace: string
  readonly hcoNamespace: string | undefined
  /** Images where no leader has published which it uses. */
  readonly images: Readonly<Record<string, string>>
  /** Whether the catalog's own objects are wanted, or only what facts are made of. */
  readonly wantsObjects: boolean
}

/** A snapshot once everything was read. */
export type CompleteSnapshot = Exclude<Snapshot, { readonly reason: 'NotYet' }>

/** A cluster as it was when it was read. */
export interface ClusterReading {
  readonly snapshot: CompleteSnapshot
  readonly view: ClusterView
  /** What the last leader published; changes to it stay in this process. */
  readonly ledger: Ledger
  /** Why a source could not be read, by its id. */
  readonly troubles: ReadonlyMap<string, Error>
}

// Thousands of nodes take seconds.
const LONGEST_MS = 60_000
// Longer is not waited for discovery to list a new definition.
const LONGEST_LAG_MS = 5_000
const LOOK_AGAIN_MS = 200

/**
 * Reads a cluster once, as a new leader would, and calls `work` with it; writes nothing. Rejects where what facts are
 * made of cannot be read.
 */
export async function withCluster<Result>(
  options: ReadClusterOptions,
  work: (reading: ClusterReading) => Promise<Result>,
): Promise<Result> {
  const { client, catalog, namespace, hcoNamespace } = options
  const data = await readState(client, namespace)
  const ledger = new Ledger(() => undefined)
  ledger.resume(data)
  const troubles = new Map<string, Error>()
  let news = Promise.withResolvers<void>()
  const store = new Store({
    client,
    onChange(source) {
      if (view.noteChange(source)) news.resolve()
    },
    onTrouble(id, error) {
      troubles.set(id, error)
      news.resolve()
    },
  })
  const images = parseState(data)?.facts.images ?? options.images
  const onDoubt = () => news.resolve()
  const view = new ClusterView({ client, catalog, images, hcoNamespace, store, onDoubt })
  const untilNews = async () => {
    const timer = setTimeout(news.resolve, LOOK_AGAIN_MS)
    await news.promise
    clearTimeout(timer)
    news = Promise.withResolvers()
  }
  store.follow(FOLLOWER, [crdSource])
  try {
    const snapshot = await lookUntilComplete(view, { ...options, troubles, untilNews })
    return await work({ snapshot, view, ledger, troubles })
  } finally {
    view.stop()
    store.stop()
  }
}

interface Looking extends Pick<ReadClusterOptions, 'wantsObjects'> {
  readonly troubles: ReadonlyMap<string, Error>
  readonly untilNews: () => Promise<void>
}

async function lookUntilComplete(view: ClusterView, looking: Looking): Promise<CompleteSnapshot> {
  const startedAt = performance.now()
  for (;;) {
    const snapshot = await view.look()
    requireFacts(looking.troubles)
    const tookMs = performance.now() - startedAt
    const isBehind = view.isDiscoveryBehind() && tookMs < LONGEST_LAG_MS
    if (!isBehind && isSeen(snapshot) && isRead(view, looking)) return snapshot
    if (tookMs > LONGEST_MS) throw tooSlow(view.store.unread())
    await looking.untilNews()
  }
}

const FACTS: ReadonlySet<string> = new Set([CRDS, OTHER_AUTOPILOT, ...Object.keys(FACT_SOURCES)])

function requireFacts(troubles: ReadonlyMap<string, Error>): void {
  for (const [id, cause] of troubles) {
    if (FACTS.has(id)) throw new Error(`cannot read ${id}: ${cause.message}`, { cause })
  }
}

const isSeen = (snapshot: Snapshot): snapshot is CompleteSnapshot =>
  snapshot.kind === 'ready' || snapshot.reason !== 'NotYet'

const isRead = ({ store }: ClusterView, { wantsObjects, troubles }: Looking) =>
  !wantsObjects || store.unread().every((id) => troubles.has(id))

const tooSlow = (unread: readonly string[]) =>
  new Error(`the cluster was not read within ${LONGEST_MS / 1000} s: missing ${unread.join(', ')}`)
