import { createStatusDecider } from '../shared/baseline/asset-status.ts'
import type { Catalog } from '../shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../shared/baseline/names.ts'
import { parseState } from '../shared/baseline/state.ts'
import type { Client } from '../shared/cluster/client.ts'
import { read } from '../shared/cluster/resource.ts'
import { createSchemas } from '../shared/cluster/schemas.ts'
import { sha256 } from '../shared/ops/digest.ts'
import { createSnapshot, queriesOf, type Snapshot } from '../webhook/baseline/snapshot.ts'

/** What the webhook of a cluster decides by: the state that the leader has published there. Throws where none has. */
export async function readSnapshot(
  client: Client,
  catalog: Catalog,
  namespace: string,
): Promise<Snapshot> {
  const at = { apiVersion: 'v1', resource: 'configmaps', namespace }
  const state = parseState((await read(client, at, BASELINE.stateConfigMap))?.data)
  if (!state) {
    throw new Error(
      `no reconciler has published its state in namespace ${namespace}: is it running there? (--namespace)`,
    )
  }
  return createSnapshot(
    catalog,
    state,
    await createSchemas(client)(queriesOf(catalog, state)),
    createStatusDecider(catalog, sha256),
  )
}
