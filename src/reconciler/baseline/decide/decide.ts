import { isCreatable } from '../../../shared/baseline/asset-status.ts'
import { isHyperConverged, isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import { titleOf } from '../../../shared/engine/json/object.ts'
import { decideChange } from './change.ts'
import { type AssetInput, type Decision, final, isManagedByUs, skip } from './decision.ts'
import { isUnwanted, removal } from './removal.ts'

/** Decides what becomes of one asset: the first check that answers wins, and else the plan. Nothing is asked of the cluster or written here. */
export function decide(input: AssetInput): Decision {
  for (const check of CHECKS) {
    const decision = check(input)
    if (decision) return decision
  }
  return planned(input)
}

type Check = (input: AssetInput) => Decision | undefined

const off: Check = ({ isOff }) => (isOff ? skip('Off') : undefined)

const unwanted: Check = (input) => (isUnwanted(input) ? removal(input) : undefined)

const renderFailed: Check = ({ status }) => (status.kind === 'failed' ? final(status) : undefined)

const inactive: Check = ({ status, live }) => {
  if (status.kind !== 'inactive') return undefined
  const { reason, message, missed, isAwaited } = status
  if (reason === 'SchemaMissing') return skip(reason, message)
  if (isManagedByUs(live)) return final({ kind: 'leftover', message })
  if (missed) return final({ kind: 'skipped', reason: 'DependencyMissing', message, missed })
  return skip(isAwaited ? 'Waiting' : 'Inactive', message)
}

const namespaceMissing: Check = ({ status, isNamespaceMissing }) =>
  isNamespaceMissing && status.kind === 'active'
    ? skip('NamespaceMissing', `namespace ${status.baseline.metadata.namespace} does not exist`)
    : undefined

const schemaMissing: Check = ({ tree }) =>
  tree ? undefined : skip('SchemaMissing', 'its schema is not published yet')

const rivalThere: Check = ({ asset, live, isRivalThere }) =>
  !live && isRivalThere
    ? skip('Waiting', `waits until ${asset.yieldsTo?.name}, which does the same work, is gone`)
    : undefined

const needMissing: Check = ({ live, missingNeed }) =>
  !live && missingNeed ? skip('Waiting', `waits for ${missingNeed.name}`) : undefined

const absent: Check = ({ asset, status, live }) => {
  if (live || isCreatable(asset)) return undefined
  if (isHyperConverged(asset) || status.kind !== 'active') return skip('Absent')
  return skip('Waiting', `waits until somebody creates ${titleOf(status.baseline)}`)
}

// A cache that lacks the object may be behind; one read by name decides whether to create it.
const unread: Check = ({ live, isRead }) => (live || isRead ? undefined : { kind: 'read' })

const deleting: Check = ({ live }) =>
  live?.metadata.deletionTimestamp ? skip('Deleting') : undefined

const CHECKS: readonly Check[] = [
  off,
  unwanted,
  renderFailed,
  inactive,
  namespaceMissing,
  schemaMissing,
  rivalThere,
  needMissing,
  absent,
  unread,
  deleting,
]

/** What the engine's plan makes of an active asset: its overrides may keep us from it. */
function planned(input: AssetInput): Decision {
  const { asset, status, tree, live: object } = input
  if (status.kind !== 'active' || !tree)
    throw new Error('an asset that no check answers for is active and has a schema')
  const { baseline } = status
  const made = plan({ baseline, object, tree, isSensitive: isSensitive(asset) })
  if (made.kind === 'skip') return skip(made.reason)
  if (made.kind === 'hold') return final({ kind: 'held', problems: made.problems })
  return decideChange({ ...input, tree, plan: made })
}
