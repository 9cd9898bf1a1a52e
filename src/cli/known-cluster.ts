import { readState } from '../reconciler/manager/state-controller.ts'
import { createStatusDecider, identityOn } from '../shared/baseline/asset-status.ts'
import { BASELINE } from '../shared/baseline/names.ts'
import { parseState } from '../shared/baseline/state.ts'
import type { Client } from '../shared/cluster/client.ts'
import { read } from '../shared/cluster/resource.ts'
import { createSchemas } from '../shared/cluster/schemas.ts'
import type { KubeObject } from '../shared/engine/json/object.ts'
import { sha256 } from '../shared/ops/digest.ts'
import {
  createSnapshot,
  type ManagedObject,
  queriesOf,
  type Snapshot,
} from '../webhook/baseline/snapshot.ts'
import { type CatalogOptions, loadCatalogWith } from './assets.ts'
import { type ClusterOptions, withClient } from './with-client.ts'

/** A cluster, as far as the verdicts of its webhook depend on it. */
export interface KnownCluster {
  /** What the webhook knows. */
  readonly snapshot: Snapshot
  /** The object as it is stored; undefined where there is none. */
  readonly read: (managed: ManagedObject) => Promise<KubeObject | undefined>
}

/** Calls `work` with what the webhook of a cluster knows: the state that the leader has published there. Throws where none has. */
export async function withKnownCluster<Result>(
  options: ClusterOptions,
  work: (cluster: KnownCluster) => Promise<Result>,
): Promise<Result> {
  return withClient(options, async (client) => {
    const snapshot = await readSnapshot(client, options)
    return work({
      snapshot,
      read: async ({ asset }) => {
        const at = identityOn(asset, snapshot.facts)
        const { resource, name } = asset.object
        return at && read(client, { ...at, resource }, name)
      },
    })
  })
}

async function readSnapshot(client: Client, options: CatalogOptions): Promise<Snapshot> {
  const { namespace } = options
  const catalog = loadCatalogWith(options)
  const state = parseState(await readState(client, BASELINE, namespace))
  if (!state)
    throw new Error(
      `no reconciler has published its state in namespace ${namespace}: is it running there? (--namespace)`,
    )
  const schemas = await createSchemas(client)(queriesOf(catalog, state))
  return createSnapshot(catalog, state, schemas, createStatusDecider(catalog, sha256))
}
