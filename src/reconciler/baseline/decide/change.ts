import { FIELD_MANAGER, MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import { classifyChange } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { managersOf, released, releaseOperations } from '../../../shared/engine/merge/ownership.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Permit } from '../../../shared/engine/throttle.ts'
import { type Allowance, allowanceFor } from './approval.ts'
import {
  type Comparison,
  compare,
  differs,
  effectsOf,
  removedFields,
  withPreconditions,
} from './comparison.ts'
import {
  type AssetInput,
  type Check,
  type Decision,
  type Final,
  final,
  firstOf,
  isManagedByUs,
} from './decision.ts'
import { answerOn, isClaimed, permitIn, withAnswer } from './memory.ts'
import type { ExpectedChange, PendingReason } from './outcome.ts'

/** An asset that is to be kept, with what its object ought to be. */
export interface Planned extends AssetInput {
  readonly tree: MergeTree
  readonly plan: Enforcement
}

/** Decides how the object becomes what is planned. */
export function decideChange(input: Planned): Decision {
  const { live, plan, nodePolicies: policies } = input
  if (live) return decideStored(input, live)
  const { desired } = plan
  const effectsOf = () => classifyChange({ live: undefined, desired, policies })
  const allowance = allowanceFor(input, desired, effectsOf)
  return changed({ ...input, found: undefined, wanted: desired, isReleasing: false, allowance })
}

function decideStored(input: Planned, stored: KubeObject): Decision {
  const { tree, plan, isObserving, hasReleased, nodePolicies } = input
  const operations = releaseOperations(stored, FIELD_MANAGER, plan.released, MANAGED_BY)
  if (operations && !isObserving && !hasReleased) return { kind: 'release', operations }
  // While observing nothing is released: compare with the object as the release would leave it.
  const live = isObserving ? released(stored, FIELD_MANAGER, plan.released) : stored
  const found = compare(tree, live, plan.desired)
  const answer = firstOf(COMPARED, { ...input, ...found })
  if (answer) return answer
  const allowance = allowanceFor(input, plan.desired, () => effectsOf(found, nodePolicies))
  const { wanted } = found
  return changed({ ...input, live, found, wanted, isReleasing: live !== stored, allowance })
}

type Compared = Planned & Comparison

// A write that the webhook corrects moves ownership to its writer. It is taken back once per resync, or when something
// else is desired, or when nobody owns a field.
const disowned: Check<Compared> = (input) =>
  isInSync(input) &&
  !input.isObserving &&
  input.isDisowned &&
  !isClaimed(input, input.wanted, input.live, input.isOrphaned)
    ? unchanged(input, claimOf(input))
    : undefined

const inSync: Check<Compared> = (input) => (isInSync(input) ? unchanged(input) : undefined)

const knownSame: Check<Compared> = (input) =>
  answerOn(input.memory, input.wanted, input.live) === 'nothing' ? unchanged(input) : undefined

const COMPARED = [disowned, inSync, knownSame]

const isInSync = ({ drifts, extra }: Comparison) => drifts.length === 0 && extra.length === 0

/** Takes back, or gives up, the ownership of fields whose values are as desired. */
const claimOf = ({ wanted, live }: Pick<Comparison, 'wanted' | 'live'>) =>
  ({ write: { kind: 'apply', desired: wanted, live } }) as const

const unchanged = ({ plan, hasReleased }: Planned, more: Pick<Final, 'write' | 'memory'> = {}) =>
  final({ kind: 'unchanged', plan, hasReleased }, more)

/** A change that is due: the object is to be created, or differs from what it ought to be. */
interface Change extends Planned {
  /** Undefined where the object is to be created. */
  readonly found: Comparison | undefined
  /** What is to be applied. */
  readonly wanted: KubeObject
  /** Whether live is as it will be once fields are released, which the server does not know yet. */
  readonly isReleasing: boolean
  readonly allowance: Allowance
}

function changed(change: Change): Decision {
  const { allowance, isObserving, plan, found, memory } = change
  if (allowance.permission !== 'yes') return pending(change, allowance.permission)
  if (isObserving) return firstOf(OBSERVED, change) ?? confirmed(change)
  const { permit, budget } = permitIn(memory.heals, plan.desired, found !== undefined, change)
  const counted = { ...change, permit, memory: { ...memory, heals: budget } }
  return firstOf(ENFORCED, counted) ?? applied(counted)
}

// No dry run: the server would remove the fields, since our ownership of them is not released yet.
const releasing: Check<Change> = (change) =>
  change.isReleasing ? pending(change, 'Observing') : undefined

const knownExpected: Check<Change> = (change) => {
  const known = answerOn(change.memory, change.wanted, change.live)
  return known && known !== 'nothing' ? pending(change, 'Observing', known) : undefined
}

const throttled: Check<Change & { readonly permit: Permit['kind'] }> = (change) => {
  const { plan, found, memory, permit } = change
  if (permit === 'go') return undefined
  const drifts = driftsOf(change)
  const paths = drifts.map(({ path }) => path)
  const rivals = found ? managersOf(found.live, paths, FIELD_MANAGER) : []
  const isPaused = permit === 'pause'
  const write = isPaused && { write: { kind: 'pause' } as const }
  return final({ kind: 'throttled', plan, drifts, rivals, isPaused }, { memory, ...write })
}

// A creation is made without a dry run.
const unasked: Check<Change> = ({ dryRun, isObserving, wanted, live }) =>
  dryRun || !(live || isObserving)
    ? undefined
    : { kind: 'dryRun', object: withPreconditions(wanted, live) }

const forbidden: Check<Change> = (change) => {
  const { dryRun } = change
  if (!dryRun || 'answer' in dryRun) return undefined
  return pending(change, 'Observing', { drifts: driftsOf(change), unconfirmed: dryRun.forbidden })
}

const sameOnServer: Check<Change> = (change) => {
  const { dryRun, found, memory, isObserving } = change
  if (!found || !dryRun || !('answer' in dryRun)) return undefined
  const { live, wanted, extra } = found
  if (differs(live, dryRun.answer)) return undefined
  if (!isObserving && extra.length > 0) return unchanged(change, { memory, ...claimOf(found) })
  return unchanged(change, { memory: withAnswer(memory, wanted, live, 'nothing') })
}

const OBSERVED = [releasing, knownExpected, unasked, forbidden, sameOnServer]
const ENFORCED = [throttled, unasked, sameOnServer]

/** The server would make the change too; it is remembered, not made. */
function confirmed(change: Change): Decision {
  const { dryRun, found, memory, wanted, live } = change
  const removed = found && dryRun && 'answer' in dryRun ? removedFields(found, dryRun.answer) : []
  const expected = { drifts: [...driftsOf(change), ...removed] }
  return pending(change, 'Observing', expected, withAnswer(memory, wanted, live, expected))
}

/** Makes the change. */
function applied({ plan, found, wanted, live, memory }: Change): Decision {
  const write = { kind: 'apply', desired: wanted, live } as const
  if (!found) return final({ kind: 'created', plan }, { write, memory })
  const { drifts } = found
  const isAdopted = !isManagedByUs(live)
  return final({ kind: 'configured', plan, drifts, isAdopted }, { write, memory })
}

const driftsOf = ({ found }: Change) => found?.drifts ?? []

function pending(
  change: Change,
  reason: PendingReason,
  expected: ExpectedChange = { drifts: driftsOf(change) },
  memory = change.memory,
): Final {
  const { plan, found, allowance } = change
  const { permission: _permission, ...disruption } = allowance
  const isCreation = !found
  return final(
    { kind: 'pending', reason, plan, isCreation, ...disruption, ...expected },
    { memory },
  )
}
