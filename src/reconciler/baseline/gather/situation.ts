import { type AssetStatus, identityOn } from '../../../shared/baseline/asset-status.ts'
import { type Asset, isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { isOurs } from '../decide/ours.ts'
import type { ClusterView } from './cluster-view.ts'
import type { Outlook } from './outlook.ts'

/** What reconciling one asset starts from. */
export interface Situation {
  readonly asset: Asset
  readonly status: AssetStatus
  readonly live: KubeObject | undefined
  readonly tree: MergeTree | undefined
  readonly isSensitive: boolean
  readonly isOff: boolean
  readonly isObserving: boolean
  readonly isNamespaceMissing: boolean
  /** Whether the object of the asset that this one yields to is there. */
  readonly isRivalThere: boolean
  /** The asset that this one needs and whose object is not there. */
  readonly lacks: Asset | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/** Gathers what is known of one asset; nothing is asked of the cluster. */
export function situationOf(
  asset: Asset,
  { facts, stated, statuses }: Outlook,
  view: ClusterView,
  { isObserver, now }: { readonly isObserver: boolean; readonly now: number },
): Situation {
  const { activation } = stated.settings
  const identity = identityOn(asset, facts)
  const status = statuses.get(asset.name)
  if (!status) throw new Error(`asset ${asset.name} was never evaluated`)
  return {
    asset,
    status,
    live: view.live(asset),
    tree: identity && view.schemaOf(identity)?.tree,
    isSensitive: isSensitive(asset),
    isOff: activation.kind === 'off',
    isObserving: isObserver || activation.kind === 'observe',
    isNamespaceMissing: identity?.namespace !== undefined && !view.hasNamespace(identity.namespace),
    isRivalThere: asset.yieldsTo !== undefined && isOurs(view.live(asset.yieldsTo)),
    lacks: asset.needs && !view.live(asset.needs) ? asset.needs : undefined,
    now,
  }
}
