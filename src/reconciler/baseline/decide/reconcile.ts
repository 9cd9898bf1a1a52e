import { FIELD_MANAGER, MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import { type AssetStatus, isCreatable, isObsolete } from '../../../shared/baseline/asset-status.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { FieldPath, MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { released, releaseOperations } from '../../../shared/engine/merge/ownership.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { ObjectPort, ReconcileDeps } from '../gather/ports.ts'
import type { Situation } from '../gather/situation.ts'
import { allowanceFor } from './allowance.ts'
import { type Comparison, compare } from './comparison.ts'
import { foreseeCreation } from './foresight.ts'
import { claim, heal } from './heal.ts'
import { isOurs } from './ours.ts'
import type { Outcome } from './outcome.ts'
import { remove } from './removal.ts'

/** Brings one object to its desired state: gather, decide, act. Throws only when the cluster does. */
export async function reconcile(situation: Situation, deps: ReconcileDeps): Promise<Outcome> {
  if (isUnwanted(situation)) return remove(situation, deps)
  const obstacle = obstacleTo(situation)
  if (obstacle) return obstacle
  const { status, tree } = situation
  if (status.kind !== 'active' || !tree)
    throw new Error('an asset without obstacle is active and has a schema')
  const input = { baseline: status.baseline, tree, isSensitive: situation.isSensitive }

  // A cache that lacks the object may be behind; one read by name decides whether to create it.
  const live = situation.live ?? (await deps.object.read())
  if (!live && !isCreatable(situation.asset)) return { kind: 'skipped', reason: 'Absent' }
  if (live?.metadata.deletionTimestamp) return { kind: 'skipped', reason: 'Deleting' }
  const decision = plan({ ...input, object: live })
  if (decision.kind === 'skip') return { kind: 'skipped', reason: decision.reason }
  if (decision.kind === 'hold') return { kind: 'held', problems: decision.problems }
  return enforce(situation, tree, live, decision, deps)
}

// Off means that nothing is deleted either.
const isUnwanted = (situation: Situation) =>
  !situation.isOff && (situation.status.kind === 'tombstone' || isRelieved(situation))

// What does an asset's work in its place must be there first: until then, better this one than none.
const isRelieved = ({ asset, status, live, isRivalThere }: Situation) =>
  isObsolete(status, asset) &&
  isOurs(live) &&
  (isRivalThere || !(status.kind === 'inactive' && status.reason === 'Superseded'))

function obstacleTo(situation: Situation): Outcome | undefined {
  const { status, live, isOff, isNamespaceMissing, tree } = situation
  if (isOff) return { kind: 'skipped', reason: 'Off' }
  if (status.kind === 'failed') return status
  if (status.kind === 'tombstone') return { kind: 'skipped', reason: 'Inactive' }
  if (status.kind === 'inactive') return idle(status, live)
  if (isNamespaceMissing) {
    const message = `namespace ${status.baseline.metadata.namespace} does not exist`
    return { kind: 'skipped', reason: 'NamespaceMissing', message }
  }
  if (!tree)
    return { kind: 'skipped', reason: 'SchemaMissing', message: 'its schema is not published yet' }
  return live ? undefined : company(situation)
}

/** What must go, or be there, before the object is created. */
function company({ asset, isRivalThere, lacks }: Situation): Outcome | undefined {
  if (isRivalThere) {
    const message = `waits until ${asset.yieldsTo?.name}, which does the same work, is gone`
    return { kind: 'skipped', reason: 'Waiting', message }
  }
  return lacks && { kind: 'skipped', reason: 'Waiting', message: `waits for ${lacks.name}` }
}

/** What is said of an asset that is not active. */
function idle(
  { reason, message, missed, isAwaited }: Extract<AssetStatus, { kind: 'inactive' }>,
  live: KubeObject | undefined,
): Outcome {
  if (reason === 'SchemaMissing') return { kind: 'skipped', reason, message }
  if (isOurs(live)) return { kind: 'leftover', message }
  return missed
    ? { kind: 'skipped', reason: 'DependencyMissing', message, missed }
    : { kind: 'skipped', reason: isAwaited ? 'Waiting' : 'Inactive', message }
}

async function enforce(
  situation: Situation,
  tree: MergeTree,
  stored: KubeObject | undefined,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome> {
  const { isObserving } = situation
  if (!stored) return create(situation, decision, deps)
  const live = isObserving
    ? released(stored, FIELD_MANAGER, decision.released)
    : await release(stored, decision.released, deps.object)
  const isReleased = live !== stored
  const { desired } = decision
  const found = compare({ tree, live, desired, isReleasing: isObserving && isReleased })
  const hasReleased = !isObserving && isReleased
  const unchanged: Outcome = { kind: 'unchanged', plan: decision, hasReleased }
  if (found.drifts.length > 0 || found.outgrown.length > 0)
    return (await heal(situation, found, decision, deps)) ?? unchanged
  if (!isObserving && isOwnershipDue(found, deps)) await claim(found, deps)
  return unchanged
}

// Each write that the webhook corrects takes a field's ownership along: taken back once, it is left until the resync,
// unless something else is desired by then, or nobody owns it.
const isOwnershipDue = (
  { live, wanted, isDisowned, isOrphaned }: Comparison,
  { settled }: ReconcileDeps,
) => isDisowned && !settled.isClaimed(wanted, live, isOrphaned)

async function create(
  { asset, isObserving }: Situation,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome> {
  const { desired } = decision
  const effectsOf = () => deps.classify({ live: undefined, desired })
  const { permission, ...effects } = allowanceFor(asset, desired, effectsOf, deps)
  const pending = { kind: 'pending', plan: decision, isCreation: true, ...effects } as const
  if (permission !== 'yes') return { ...pending, reason: permission, drifts: [] }
  if (isObserving)
    return { ...pending, reason: 'Observing', ...(await foreseeCreation(desired, deps)) }
  // Whoever deletes it again and again is slowed down.
  if (deps.heals.permit(desired, false) !== 'go')
    return { kind: 'throttled', plan: decision, drifts: [], rivals: [] }
  const object = await deps.object.apply(desired, { isDryRun: false })
  deps.heals.spend(desired)
  deps.settled.add(desired, object)
  return { kind: 'created', plan: decision, object }
}

// Leaving a field out of an apply deletes it where nobody else owns it; so ownership is given up first.
async function release(live: KubeObject, paths: readonly FieldPath[], object: ObjectPort) {
  const operations = releaseOperations(live, FIELD_MANAGER, paths, MANAGED_BY)
  return operations ? object.patch(operations) : live
}
