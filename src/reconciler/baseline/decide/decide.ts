import { type AssetStatus, isCreatable } from '../../../shared/baseline/asset-status.ts'
import { isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { decideChange } from './change.ts'
import { type AssetInput, type Decision, final, isManagedByUs, skip } from './decision.ts'
import { isUnwanted, removal } from './removal.ts'

type Status<Kind> = Extract<AssetStatus, { kind: Kind }>

/**
 * Decides what becomes of one asset: the first thing in the way, and the plan where there is none. Nothing is asked of
 * the cluster and nothing is written here.
 */
export function decide(input: AssetInput): Decision {
  const { status, live, isOff } = input
  if (isOff) return skip('Off')
  if (isUnwanted(input)) return removal(input)
  if (status.kind === 'failed') return final(status)
  if (status.kind === 'inactive') return inactive(status, live)
  if (status.kind === 'tombstone') throw new Error('a tombstone is always unwanted')
  return obstacle(input, status.baseline) ?? planned(input, status.baseline)
}

function inactive(status: Status<'inactive'>, live: KubeObject | undefined): Decision {
  const { reason, message, missed, isAwaited } = status
  if (reason === 'SchemaMissing') return skip(reason, message)
  if (isManagedByUs(live)) return final({ kind: 'leftover', message })
  if (missed) return final({ kind: 'skipped', reason: 'DependencyMissing', message, missed })
  return skip(isAwaited ? 'Waiting' : 'Inactive', message)
}

/** What keeps us from an active asset's object, or must be found out about it first. */
function obstacle(input: AssetInput, { metadata }: KubeObject): Decision | undefined {
  const { live, tree } = input
  if (input.isNamespaceMissing)
    return skip('NamespaceMissing', `namespace ${metadata.namespace} does not exist`)
  if (!tree) return skip('SchemaMissing', 'its schema is not published yet')
  if (!live) return obstacleToCreation(input)
  return live.metadata.deletionTimestamp ? skip('Deleting') : undefined
}

function obstacleToCreation(input: AssetInput): Decision | undefined {
  const { asset, missingNeed } = input
  if (input.isRivalThere)
    return skip('Waiting', `waits until ${asset.yieldsTo?.name}, which does the same work, is gone`)
  if (missingNeed) return skip('Waiting', `waits for ${missingNeed.name}`)
  // A cache that lacks the object may be behind; one read by name decides whether to create it.
  if (!input.isRead) return { kind: 'read' }
  return isCreatable(asset) ? undefined : skip('Absent')
}

/** What the engine's plan makes of an active asset: its overrides may keep us from it. */
function planned(input: AssetInput, baseline: KubeObject): Decision {
  const { asset, tree, live: object } = input
  if (!tree) throw new Error('an asset that nothing is in the way of has a schema')
  const made = plan({ baseline, object, tree, isSensitive: isSensitive(asset) })
  if (made.kind === 'skip') return skip(made.reason)
  if (made.kind === 'hold') return final({ kind: 'held', problems: made.problems })
  return decideChange({ ...input, tree, plan: made })
}
