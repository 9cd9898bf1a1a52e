import { isCreatable } from '../../../shared/baseline/asset-status.ts'
import { isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import { decideChange } from './change.ts'
import {
  type AssetInput,
  type Check,
  type Decision,
  final,
  firstOf,
  isManagedByUs,
  skip,
} from './decision.ts'
import { removal } from './removal.ts'

/**
 * Decides what becomes of one asset: a chain of checks, of which the first that answers wins, and the plan where none
 * does. Nothing is asked of the cluster and nothing is written here.
 */
export const decide = (input: AssetInput): Decision => firstOf(CHECKS, input) ?? planned(input)

const off: Check<AssetInput> = ({ isOff }) => (isOff ? skip('Off') : undefined)

const renderFailed: Check<AssetInput> = ({ status }) =>
  status.kind === 'failed' ? final(status) : undefined

const undecided: Check<AssetInput> = ({ status }) =>
  status.kind === 'inactive' && status.reason === 'SchemaMissing'
    ? skip('SchemaMissing', status.message)
    : undefined

const leftover: Check<AssetInput> = ({ status, live }) =>
  status.kind === 'inactive' && isManagedByUs(live)
    ? final({ kind: 'leftover', message: status.message })
    : undefined

const dependencyMissing: Check<AssetInput> = ({ status }) => {
  if (status.kind !== 'inactive' || !status.missed) return undefined
  const { message, missed } = status
  return final({ kind: 'skipped', reason: 'DependencyMissing', message, missed })
}

const inactive: Check<AssetInput> = ({ status }) =>
  status.kind === 'inactive'
    ? skip(status.isAwaited ? 'Waiting' : 'Inactive', status.message)
    : undefined

const namespaceMissing: Check<AssetInput> = ({ status, isNamespaceMissing }) =>
  isNamespaceMissing && status.kind === 'active'
    ? skip('NamespaceMissing', `namespace ${status.baseline.metadata.namespace} does not exist`)
    : undefined

const schemaMissing: Check<AssetInput> = ({ tree }) =>
  tree ? undefined : skip('SchemaMissing', 'its schema is not published yet')

const rivalThere: Check<AssetInput> = ({ asset, live, isRivalThere }) =>
  !live && isRivalThere
    ? skip('Waiting', `waits until ${asset.yieldsTo?.name}, which does the same work, is gone`)
    : undefined

const needMissing: Check<AssetInput> = ({ live, missingNeed }) =>
  !live && missingNeed ? skip('Waiting', `waits for ${missingNeed.name}`) : undefined

// A cache that lacks the object may be behind; one read by name decides whether to create it.
const unread: Check<AssetInput> = ({ live, isRead }) =>
  live || isRead ? undefined : { kind: 'read' }

const absent: Check<AssetInput> = ({ asset, live }) =>
  live || isCreatable(asset) ? undefined : skip('Absent')

const deleting: Check<AssetInput> = ({ live }) =>
  live?.metadata.deletionTimestamp ? skip('Deleting') : undefined

const CHECKS = [
  removal,
  off,
  renderFailed,
  undecided,
  leftover,
  dependencyMissing,
  inactive,
  namespaceMissing,
  schemaMissing,
  rivalThere,
  needMissing,
  unread,
  absent,
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
