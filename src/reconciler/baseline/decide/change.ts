import { FIELD_MANAGER, MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import { classifyChange } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { managersOf, released, releaseOperations } from '../../../shared/engine/merge/ownership.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import { type Allowance, allowanceFor } from './approval.ts'
import { causeOf, changesBy, isPatchNew } from './cause.ts'
import {
  type Comparison,
  compare,
  differs,
  effectsOf,
  removedFields,
  withPreconditions,
} from './comparison.ts'
import { type AssetInput, type Decision, type Final, final } from './decision.ts'
import { answerOn, isClaimed, permitIn, withAnswer } from './memory.ts'
import type { ExpectedChange, PendingReason } from './outcome.ts'

/** An asset that is to be kept, with what its object ought to be. */
interface Planned extends AssetInput {
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
  const { tree, plan, isObserving, hasReleased, nodePolicies, memory } = input
  const operations = releaseOperations(stored, FIELD_MANAGER, plan.released, MANAGED_BY)
  if (operations && !isObserving && !hasReleased) return { kind: 'release', operations }
  // While observing nothing is released: compare with the object as the release would leave it.
  const live = isObserving ? released(stored, FIELD_MANAGER, plan.released) : stored
  const found = compare(tree, live, plan.desired)
  const { wanted, drifts, extra } = found
  if (drifts.length === 0 && extra.length === 0)
    return unchanged(input, isClaimDue(input, found) ? { write: writeOf({ wanted, live }) } : {})
  if (answerOn(memory, wanted, live) === 'nothing') return unchanged(input)
  const allowance = allowanceFor(input, plan.desired, () => effectsOf(found, nodePolicies))
  return changed({ ...input, live, found, wanted, isReleasing: live !== stored, allowance })
}

// A write that the webhook corrects moves ownership to its writer. It is taken back once per resync, or when something
// else is desired, or when nobody owns a field.
const isClaimDue = (input: Planned, { wanted, live, isDisowned, isOrphaned }: Comparison) =>
  !input.isObserving && isDisowned && !isClaimed(input, wanted, live, isOrphaned)

function unchanged(input: Planned, more: Pick<Final, 'write' | 'memory'> = {}): Final {
  const { plan, hasReleased, live, status, tree, memory } = input
  const isNew = live && status.kind === 'active' && isPatchNew(live, plan, memory.grounds)
  const patched = isNew && { patched: changesBy(tree, status.baseline, plan) }
  return final({ kind: 'unchanged', plan, hasReleased, ...patched }, more)
}

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

const writeOf = ({ wanted, live }: Pick<Change, 'wanted' | 'live'>) =>
  ({ kind: 'apply', desired: wanted, live }) as const

function changed(change: Change): Decision {
  const { allowance, isObserving, plan, found, memory } = change
  if (allowance.permission !== 'yes') return pending(change, allowance.permission)
  if (isObserving) return expected(change)
  const { permit, budget } = permitIn(memory.heals, plan.desired, found !== undefined, change)
  const counted = { ...change, memory: { ...memory, heals: budget } }
  return permit === 'go' ? enforced(counted) : throttled(counted, permit === 'pause')
}

/** What would be written, which is asked of the server once for each pair of states. */
function expected(change: Change): Decision {
  const { dryRun, found, memory, wanted, live } = change
  // No dry run: the server would remove the fields, since our ownership of them is not released yet.
  if (change.isReleasing) return pending(change, 'Observing')
  const known = answerOn(memory, wanted, live)
  if (known && known !== 'nothing') return pending(change, 'Observing', known)
  if (!dryRun) return asked(change, expected)
  const drifts = driftsOf(change)
  if ('forbidden' in dryRun)
    return pending(change, 'Observing', { drifts, unconfirmed: dryRun.forbidden })
  if (isNothing(change)) return unchanged(change, { memory: nothingIn(change) })
  const removed = found ? removedFields(found, dryRun.answer) : []
  const expectation = { drifts: [...drifts, ...removed] }
  const learnt = withAnswer(memory, wanted, live, expectation)
  return pending(change, 'Observing', expectation, learnt)
}

/** Makes the change where the server, too, sees a difference; a creation without asking. */
function enforced(change: Change): Decision {
  const { plan, found, memory } = change
  const write = writeOf(change)
  const { disruption } = change.allowance
  const effect = disruption && { disruption }
  if (!found) return final({ kind: 'created', plan, ...effect }, { write, memory })
  if (!change.dryRun) return asked(change, enforced)
  const { drifts, extra } = found
  if (!isNothing(change))
    return final(
      { kind: 'configured', plan, drifts, cause: causeOf(change, found), ...effect },
      { write, memory },
    )
  // What is not wanted any more has another owner by now: ours is given up.
  return unchanged(change, extra.length > 0 ? { write, memory } : { memory: nothingIn(change) })
}

// What was compared stays true while the server is asked, so that nothing is compared twice.
const asked = (change: Change, decide: (change: Change) => Decision): Decision => ({
  kind: 'dryRun',
  object: withPreconditions(change.wanted, change.live),
  resume: ({ dryRun }) => decide({ ...change, dryRun }),
})

/** Whether the server's answer is that the write would change nothing of an object that is there. */
const isNothing = ({ found, dryRun }: Change) =>
  found && dryRun && 'answer' in dryRun && !differs(found.live, dryRun.answer)

const nothingIn = ({ memory, wanted, live }: Change) => withAnswer(memory, wanted, live, 'nothing')

function throttled(change: Change, isPaused: boolean): Final {
  const { plan, found, memory } = change
  const drifts = driftsOf(change)
  const paths = drifts.map(({ path }) => path)
  const rivals = found ? managersOf(found.live, paths, FIELD_MANAGER) : []
  const write = isPaused && { write: { kind: 'pause' } as const }
  return final({ kind: 'throttled', plan, drifts, rivals, isPaused }, { memory, ...write })
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
