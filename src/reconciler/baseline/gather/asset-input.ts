import { identityOn } from '../../../shared/baseline/asset-status.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { isManagedByUs } from '../decide/decision.ts'
import type { ClusterView } from './cluster-view.ts'
import type { Evaluation } from './evaluation.ts'

/** Gathers what the cluster says of one asset, as far as it is known; nothing is asked of it. */
export function gatherInput(
  asset: Asset,
  { facts, stated, statuses, policies }: Evaluation,
  view: ClusterView,
  isObserver: boolean,
) {
  const { activation } = stated.settings
  const { yieldsTo, needs } = asset
  const identity = identityOn(asset, facts)
  const status = statuses.get(asset.name)
  if (!status) throw new Error(`asset ${asset.name} was never evaluated`)
  return {
    asset,
    status,
    live: view.live(asset),
    isRead: false,
    hasReleased: false,
    dryRun: undefined,
    tree: identity && view.schemaOf(identity)?.tree,
    isOff: activation.kind === 'off',
    isObserving: isObserver || activation.kind === 'observe',
    isNamespaceMissing: identity?.namespace !== undefined && !view.hasNamespace(identity.namespace),
    isRivalThere: yieldsTo !== undefined && isManagedByUs(view.live(yieldsTo)),
    missingNeed: needs && !view.live(needs) ? needs : undefined,
    nodePolicies: policies,
  }
}
