import { identityOn } from '../../shared/baseline/asset-status.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { connect } from '../../shared/cluster/client.ts'
import { loadKubeconfig } from '../../shared/cluster/kubeconfig.ts'
import { read } from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import type { ManagedObject, Snapshot } from '../../webhook/baseline/snapshot.ts'
import { readSnapshot } from '../read-snapshot.ts'

export interface StoredOptions {
  readonly catalog: Catalog
  readonly kubeconfig: string
  readonly namespace: string
}

/** A cluster, as far as verdicts depend on it. */
export interface Stored {
  /** What its webhook knows. */
  readonly snapshot: Snapshot
  /** The object as it is stored there; undefined where there is none. */
  readonly read: (managed: ManagedObject) => Promise<KubeObject | undefined>
}

/** Calls `work` with what the webhook of a cluster knows and what is stored there; writes nothing. */
export async function withStored<Result>(
  { catalog, kubeconfig, namespace }: StoredOptions,
  work: (stored: Stored) => Promise<Result>,
): Promise<Result> {
  const client = await connect(loadKubeconfig(kubeconfig))
  try {
    const snapshot = await readSnapshot(client, catalog, namespace)
    return await work({
      snapshot,
      read: async ({ asset }) => {
        const at = identityOn(asset, snapshot.facts)
        const { resource, name } = asset.object
        return at && read(client, { ...at, resource }, name)
      },
    })
  } finally {
    await client.close()
  }
}
