import { isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import { isCreatable } from '../../../shared/baseline/standing.ts'
import { plan } from '../../../shared/engine/plan.ts'
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

const renderFailed: Check<AssetInput> = ({ standing }) =>
  standing.kind === 'failed' ? final(standing) : undefined

const undecided: Check<AssetInput> = ({ standing }) =>
  standing.kind === 'inactive' && standing.reason === 'SchemaMissing'
    ? skip('SchemaMissing', standing.message)
    : undefined

const leftover: Check<AssetInput> = ({ standing, live }) =>
  standing.kind === 'inactive' && isManagedByUs(live)
    ? final({ kind: 'leftover', message: standing.message })
    : undefined

const dependencyMissing: Check<AssetInput> = ({ standing }) => {
  if (standing.kind !== 'inactive' || !standing.missed) return undefined
  const { message, missed } = standing
  return final({ kind: 'skipped', reason: 'DependencyMissing', message, missed })
}

const inactive: Check<AssetInput> = ({ standing }) =>
  standing.kind === 'inactive'
    ? skip(standing.isAwaited ? 'Waiting' : 'Inactive', standing.message)
    : undefined

const namespaceMissing: Check<AssetInput> = ({ standing, isNamespaceMissing }) =>
  isNamespaceMissing && standing.kind === 'active'
    ? skip('NamespaceMissing', `namespace ${standing.baseline.metadata.namespace} does not exist`)
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
  const { asset, standing, tree, live: object } = input
  if (standing.kind !== 'active' || !tree)
    throw new Error('an asset that no check answers for is active and has a schema')
  const { baseline } = standing
  const made = plan({ baseline, object, tree, isSensitive: isSensitive(asset) })
  if (made.kind === 'skip') return skip(made.reason)
  if (made.kind === 'hold') return final({ kind: 'held', problems: made.problems })
  return decideChange({ ...input, tree, plan: made })
}
