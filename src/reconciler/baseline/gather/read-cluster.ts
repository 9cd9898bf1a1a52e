import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../../shared/baseline/facts/facts.ts'
import { BASELINE } from '../../../shared/baseline/names.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { Store } from '../../../shared/cluster/store.ts'
import { readState } from '../../manager/state-controller.ts'
import { Ledger } from '../ledger.ts'
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
const LOOK_AGAIN_MS = 50

const FACTS: ReadonlySet<string> = new Set([CRDS, OTHER_AUTOPILOT, ...Object.keys(FACT_SOURCES)])

/** Reads a cluster once, as a new leader would, for `work`; writes nothing. Rejects where what facts are made of cannot be read. */
export async function withCluster<Result>(
  options: ReadClusterOptions,
  work: (reading: ClusterReading) => Promise<Result>,
): Promise<Result> {
  const { client, namespace, wantsObjects } = options
  const ledger = new Ledger(() => undefined)
  ledger.resume(await readState(client, BASELINE, namespace))
  const troubles = new Map<string, Error>()
  const store = new Store({
    client,
    onChange: (source) => view.noteChange(source),
    onTrouble: (id, error) => troubles.set(id, error),
  })
  const images = ledger.state?.facts.images ?? options.images
  const view = new ClusterView({ ...options, images, store, onDoubt: () => undefined })
  store.follow(FOLLOWER, [crdSource])
  try {
    const isRead = () => !wantsObjects || store.unread().every((id) => troubles.has(id))
    const snapshot = await lookUntilComplete(view, troubles, isRead)
    return await work({ snapshot, view, ledger, troubles })
  } finally {
    view.stop()
    store.stop()
  }
}

async function lookUntilComplete(
  view: ClusterView,
  troubles: ReadonlyMap<string, Error>,
  isRead: () => boolean,
): Promise<CompleteSnapshot> {
  const startedAt = performance.now()
  for (;;) {
    const snapshot = await view.look()
    const [id, cause] = [...troubles].find(([source]) => FACTS.has(source)) ?? []
    if (cause) throw new Error(`cannot read ${id}: ${cause.message}`, { cause })
    const tookMs = performance.now() - startedAt
    const isBehind = view.isDiscoveryBehind() && tookMs < LONGEST_LAG_MS
    if (!isBehind && isSeen(snapshot) && isRead()) return snapshot
    if (tookMs > LONGEST_MS) throw tooSlow(view.store.unread())
    await sleep(LOOK_AGAIN_MS)
  }
}

const isSeen = (snapshot: Snapshot): snapshot is CompleteSnapshot =>
  snapshot.kind === 'ready' || snapshot.reason !== 'NotYet'

const tooSlow = (unread: readonly string[]) =>
  new Error(`the cluster was not read within ${LONGEST_MS / 1000} s: missing ${unread.join(', ')}`)
