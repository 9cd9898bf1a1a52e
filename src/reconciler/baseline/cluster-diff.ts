import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import type { DefaultActivation } from '../../shared/baseline/settings/settings.ts'
import { createControllerQueue } from '../manager/manager.ts'
import { AssetsController } from './assets-controller.ts'
import type { Report } from './decide/outcome.ts'
import type { Evaluation } from './gather/evaluation.ts'
import { type ClusterReading, type ReadClusterOptions, withCluster } from './gather/read-cluster.ts'
import { assetSource } from './gather/sources.ts'
import type { PendingSet } from './report/report.ts'

export interface ClusterDiffOptions extends Omit<ReadClusterOptions, 'wantsObjects'> {
  /** As if this were the flag of the reconciler; undefined: as the leader has it. */
  readonly disruptiveChanges: 'apply' | 'hold' | undefined
  /** Likewise. */
  readonly activation?: DefaultActivation
}

/** What came of looking at one asset: an outcome of which nothing was written, or why there is none. */
export type AssetDiff = Pick<Report, 'asset'> &
  (
    | { readonly outcome: Report['outcome']; readonly object?: Report['object'] }
    | { readonly error: Error }
  )

export type ClusterDiff =
  /** There is nothing to compare; the message says what is missing. */
  { readonly kind: 'unavailable'; readonly message: string } | ComparedCluster

export interface ComparedCluster {
  readonly kind: 'compared'
  readonly evaluation: Evaluation
  /** Of every asset, in the catalog's order. */
  readonly assets: readonly AssetDiff[]
  /** What would wait for approval, as one set. */
  readonly pending: PendingSet
}

const LONGEST_MS = 60_000

/**
 * Looks at a cluster once as the reconciler does, from what is stored to the server's dry run, and says what it would
 * make of every asset. Nothing is written: no Lease, no state, no event. Rejects where facts cannot be read.
 */
export const diffCluster = (options: ClusterDiffOptions): Promise<ClusterDiff> =>
  withCluster({ ...options, wantsObjects: true }, async (reading) => {
    const { snapshot } = reading
    if (snapshot.kind === 'unavailable') return { kind: 'unavailable', message: snapshot.message }
    const assets = unreadIn(options.catalog, reading)
    const { promise: pending, resolve, reject } = Promise.withResolvers<PendingSet>()
    const missing = () => options.catalog.filter(({ name }) => !assets.has(name))
    const controller = new AssetsController({
      enqueue: (name) => queue.add(name),
      ...options,
      ...reading,
      disruptiveChanges: options.disruptiveChanges ?? flagOf(reading),
      reporter: {
        report: ({ asset, outcome, object }) => assets.set(asset.name, { asset, outcome, object }),
        failed: (asset, _hco, error) => assets.set(asset.name, { asset, error }),
        // Told when nothing is being looked at; something may be about to be.
        pending: (set) => missing().length === 0 && resolve(set),
        unavailable: () => undefined,
        settings: () => undefined,
        reset: () => undefined,
      },
      isObserver: true,
      isLeader: () => false,
      now: Date.now,
      uptime: () => performance.now(),
      // Whoever only looks heals nothing.
      healLimits: { capacity: 1, windowMs: 60_000 },
    })
    const queue = createControllerQueue(controller, () => false)
    const timer = setTimeout(() => reject(tooSlow(missing())), LONGEST_MS)
    try {
      controller.evaluate(snapshot)
      const set = await pending
      const { evaluation } = controller
      if (!evaluation) throw new Error('what was seen of the cluster is gone')
      const inOrder = options.catalog.flatMap(({ name }) => assets.get(name) ?? [])
      return { kind: 'compared', evaluation, assets: inOrder, pending: set }
    } finally {
      clearTimeout(timer)
      await queue.stop()
    }
  })

// One that leads does not say so in an earlier version; it holds by default.
const flagOf = ({ ledger: { memory } }: ClusterReading) =>
  memory.disruptiveChanges === 'apply' ? 'apply' : 'hold'

/** The assets whose objects could not be read: nothing can be said of them. */
function unreadIn(catalog: Catalog, { view, troubles }: ClusterReading): Map<string, AssetDiff> {
  const unread = catalog.flatMap((asset) => {
    const error = troubles.get(assetSource(asset))
    return error && !view.isObjectKnown(asset) ? [[asset.name, { asset, error }] as const] : []
  })
  return new Map(unread)
}

const tooSlow = (missing: Catalog) => {
  const names = missing.map(({ name }) => name).join(', ')
  return new Error(`not everything was compared within ${LONGEST_MS / 1000} s: missing ${names}`)
}
