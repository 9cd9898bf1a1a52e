import { createBackoff } from '../../shared/ops/backoff.ts'
import type { Controller, Due } from '../manager/manager.ts'
import type { Snapshot } from './gather/availability.ts'
import type { ClusterView } from './gather/cluster-view.ts'
import { assetPrefix, crdSource } from './gather/sources.ts'

export interface ClusterControllerOptions {
  readonly view: ClusterView
  /** Whether what is seen is to be decided about, rather than only kept current. */
  readonly isDeciding: () => boolean
  readonly onSnapshot: (snapshot: Snapshot) => void
  readonly onTrouble: (error: Error) => void
}

/** The controller's name, and its only key. */
export const CLUSTER = 'cluster'
const COALESCE_OTHERS_MS = 10
// Nodes report so often that theirs can wait longer; a HyperConverged is healed like any other object.
const COALESCE_MS: Readonly<Record<string, number>> = { nodes: 1_000, hco: 0 }

/** Looks at the cluster as a whole whenever anything but an asset's own object changed. */
export function createClusterController({
  view,
  isDeciding,
  onSnapshot,
  onTrouble,
}: ClusterControllerOptions): Controller {
  const lag = createBackoff()
  return {
    name: CLUSTER,
    isReader: true,
    sources: [crdSource],
    resync: () => [CLUSTER],
    keysOf({ source }): readonly Due[] {
      if (!view.noteChange(source) || source.startsWith(assetPrefix)) return []
      return [{ key: CLUSTER, afterMs: COALESCE_MS[source] ?? COALESCE_OTHERS_MS }]
    },
    async reconcile() {
      const snapshot = await view.look()
      const isBehind = view.isDiscoveryBehind()
      if (!isBehind) lag.reset()
      if (isDeciding()) onSnapshot(snapshot)
      return isBehind ? lag.next() : undefined
    },
    onError: (_key, error) => onTrouble(error),
  }
}
