import { loadCatalogWith } from '../../src/cli/assets.ts'
import { FIELD_MANAGER, MANAGED_BY } from '../../src/shared/baseline/annotations.ts'
import { identityOn, isCreatable } from '../../src/shared/baseline/asset-status.ts'
import { isHyperConverged } from '../../src/shared/baseline/catalog/catalog.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { parseState } from '../../src/shared/baseline/state.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import { NAMESPACE } from '../chart/helm.ts'
import type { Loose } from '../chart/pods.ts'
import type { Rehearsal } from './rehearsal.ts'

const CATALOG = loadCatalogWith({ namespace: NAMESPACE })
const STATE = `/api/v1/namespaces/${NAMESPACE}/configmaps/${BASELINE.stateConfigMap}`

/**
 * The objects of the assets that the leader says are active, in the order of the catalog; undefined for one that is not there. None
 * as long as it has not said anything.
 */
export async function keptObjects({ read, isBare }: Rehearsal): Promise<readonly Loose[]> {
  const state = parseState((await read(STATE))?.data)
  const active = CATALOG.filter(({ name }) => state?.baselines[name] !== undefined)
  // Elsewhere than on a cluster of its own it makes no change that reboots nodes.
  const expected = active.filter(
    (asset) =>
      isHyperConverged(asset) || (isCreatable(asset) && (isBare || asset.disruption === 'none')),
  )
  return Promise.all(
    expected.map((asset) => {
      const identity = state && identityOn(asset, state.facts)
      const { resource, name } = asset.object
      return identity && read(pathOf({ ...identity, resource }, name))
    }),
  )
}

/** Whether an object is there, and labelled as ours. */
export const isManaged = (object: Loose) => object?.metadata.labels?.[MANAGED_BY] === FIELD_MANAGER
