import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { identityOn } from '../../../shared/baseline/standing.ts'
import { type AssetInput, isManagedByUs } from '../decide/decision.ts'
import type { ClusterView } from './cluster-view.ts'
import type { Evaluation } from './evaluation.ts'

/** What the controller itself knows of an asset. */
export type OwnInput = Pick<
  AssetInput,
  'approval' | 'memory' | 'healLimits' | 'resyncs' | 'now' | 'uptime'
>

/** Gathers what is known of one asset; nothing is asked of the cluster. */
export function gatherInput(
  asset: Asset,
  { facts, stated, standings, policies }: Evaluation,
  view: ClusterView,
  isObserver: boolean,
  own: OwnInput,
): AssetInput {
  const { activation } = stated.settings
  const { yieldsTo, needs } = asset
  const identity = identityOn(asset, facts)
  const standing = standings.get(asset.name)
  if (!standing) throw new Error(`asset ${asset.name} was never evaluated`)
  return {
    ...own,
    asset,
    standing,
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
