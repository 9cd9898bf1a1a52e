import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { EventInput } from '../../../shared/cluster/events.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { RECONCILE_PAUSED } from '../../../shared/engine/overrides/annotations.ts'
import { annotateCommand } from '../../../shared/engine/overrides/kubectl.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import { showValue } from '../../../shared/engine/show.ts'
import type { Outcome, Report } from '../decide/outcome.ts'

/** How an outcome is told: one log line, and its events. Equal texts are not told twice. */
export interface OutcomeText {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly events: readonly Omit<EventInput, 'subject'>[]
}

/** Puts the outcome of one asset into words. */
export function describeOutcome({
  asset,
  outcome,
}: Pick<Report, 'asset' | 'outcome'>): OutcomeText {
  switch (outcome.kind) {
    case 'unchanged':
      return unchanged(outcome)
    case 'created':
      return {
        level: 'info',
        message: 'created',
        fields: { object: titleOf(outcome.plan.desired) },
        events: [normal('AssetApplied', `created, because ${asset.description}`)],
      }
    case 'configured':
      return configured(outcome)
    case 'pending':
      return pending(asset, outcome)
    case 'held':
      return held(outcome)
    case 'throttled':
      return throttled(outcome)
    case 'skipped':
      return asset.isTombstone ? skippedTombstone(outcome) : skipped(outcome)
    case 'removed':
      return removed(asset, outcome)
    case 'pendingRemoval':
      return pendingRemoval(outcome)
    case 'stuck':
      return stuck(outcome)
    case 'leftover':
      return {
        level: 'info',
        message: 'left over',
        fields: { because: outcome.message },
        events: [],
      }
    case 'failed':
      return {
        level: 'error',
        message: 'asset failed',
        fields: { reason: outcome.reason, error: outcome.message },
        events: [warning(outcome.reason, outcome.message)],
      }
    default:
      return outcome satisfies never
  }
}

type Of<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>

const normal = (reason: string, note: string) => ({ type: 'Normal', reason, note }) as const
const warning = (reason: string, note: string) => ({ type: 'Warning', reason, note }) as const

function unchanged({ plan, hasReleased }: Of<'unchanged'>): OutcomeText {
  const events = plan.remarks.map(({ reason, message }) => warning(reason, message))
  const released = normal('OwnershipReleased', 'the ignored fields are no longer ours')
  return {
    level: hasReleased ? 'info' : 'debug',
    message: hasReleased ? 'ownership released' : 'in sync',
    fields: {},
    events: [...events, ...(hasReleased ? [released] : [])],
  }
}

function configured({ plan, drifts, isAdopted }: Of<'configured'>): OutcomeText {
  const changes = drifts.length > 0 ? listDrifts(drifts) : 'what is no longer wanted is removed'
  const note = `${isAdopted ? 'taken over' : 'put back'}: ${changes}`
  return {
    level: 'info',
    message: isAdopted ? 'adopted' : 'drift corrected',
    fields: { object: titleOf(plan.desired), pointers: pointersOf(drifts) },
    events: [normal(isAdopted ? 'AssetAdopted' : 'DriftCorrected', note)],
  }
}

function pending(asset: Asset, { drifts, reason, isCreation }: Of<'pending'>): OutcomeText {
  const note = isCreation ? 'would be created' : `differs: ${listDrifts(drifts)}`
  return {
    level: 'info',
    message: 'change not made',
    fields: { reason, pointers: pointersOf(drifts), isCreation },
    // What waits for approval is told as one set, on the HyperConverged.
    events: [
      ...(reason === 'Observing' ? [normal('DriftDetected', note)] : []),
      ...(reason === 'PoolBusy' ? [poolBusy(asset, note)] : []),
    ],
  }
}

const poolBusy = ({ pool }: Asset, note: string) =>
  normal('DisruptionPending', `${note}; waits until pool ${pool} is neither paused nor updating`)

function held({ problems }: Of<'held'>): OutcomeText {
  const messages = problems.map(sentenceOf)
  const note = `held, nothing is written until it is mended: ${messages.join('; ')}`
  return {
    level: 'warn',
    message: 'held by an invalid override',
    fields: { problems: messages },
    events: [warning(problems[0]?.reason ?? 'InvalidPatch', note)],
  }
}

// Which event tells that the reconciler leaves an object alone.
const SKIP_EVENTS: Readonly<Record<string, string>> = {
  Unmanaged: 'UnmanagedMode',
  DependencyMissing: 'CRDMissing',
  NamespaceMissing: 'AssetSkipped',
  Waiting: 'AssetSkipped',
}

function skipped({ reason, message }: Of<'skipped'>): OutcomeText {
  const event = SKIP_EVENTS[reason]
  return {
    level: reason === 'Inactive' || reason === 'Off' ? 'debug' : 'info',
    message: 'skipped',
    fields: { reason, ...(message && { because: message }) },
    events: event ? [normal(event, message ?? `${reason}: not managed until that changes`)] : [],
  }
}

function throttled({ plan, drifts, rivals, isPaused }: Of<'throttled'>): OutcomeText {
  const pointers = pointersOf(drifts)
  const by = rivals.length > 0 ? ` by ${rivals.join(', ')}` : ''
  const what = pointers.length > 0 ? listPointers(pointers) : 'the object, which is deleted'
  const war = `${what} is changed${by} as often as it is put back`
  const note = isPaused
    ? `${war}: management is paused; end the quarrel, then resume with: ${resumeCommand(plan.desired)}`
    : `${war}: it is left alone for a while`
  return {
    level: 'warn',
    message: isPaused ? 'paused, since somebody else keeps changing the object' : 'throttled',
    fields: { pointers, rivals },
    events: [warning(isPaused ? 'ThrashingDetected' : 'Throttled', note)],
  }
}

const resumeCommand = (object: KubeObject) => annotateCommand(object, RECONCILE_PAUSED)

function skippedTombstone({ reason, message }: Of<'skipped'>): OutcomeText {
  const isClaimed = reason === 'NotOurs' || reason === 'Unmanaged' || reason === 'Paused'
  const note = `not deleted: ${message ?? `the object is annotated as ${reason.toLowerCase()}`}`
  return {
    level: isClaimed ? 'warn' : 'debug',
    message: 'not deleted',
    fields: { reason, ...(message && { because: message }) },
    events: isClaimed ? [warning('TombstoneSkipped', note)] : [],
  }
}

function removed({ isTombstone, description }: Asset, { was, why }: Of<'removed'>): OutcomeText {
  if (!was) return { level: 'debug', message: 'gone', fields: {}, events: [] }
  const reason = isTombstone ? description : 'the conditions of its asset hold no more'
  const note = why === undefined ? `deleted, because ${reason}` : `deleted: ${why}`
  const event = normal(isTombstone ? 'TombstoneDeleted' : 'AssetPruned', note)
  return { level: 'info', message: 'deleted', fields: { object: titleOf(was) }, events: [event] }
}

const pendingRemoval = ({ reason }: Of<'pendingRemoval'>): OutcomeText => ({
  level: 'info',
  message: 'removal not made',
  fields: { reason },
  events: reason === 'Observing' ? [normal('DriftDetected', 'would be deleted')] : [],
})

const stuck = ({ since, finalizers }: Of<'stuck'>): OutcomeText => ({
  level: 'warn',
  message: 'removal is stuck',
  fields: { since, finalizers },
  events: [
    warning(
      'TombstoneFailed',
      `being deleted since ${since}, and still there: see why whoever set these finalizers does not remove them: ${finalizers.join(', ')}`,
    ),
  ],
})

const listPointers = (pointers: readonly string[]) => {
  const rest = pointers.length - SHOWN
  return [...pointers.slice(0, SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}

const pointersOf = (drifts: readonly Drift[]) => drifts.map(({ pointer }) => pointer)

const SHOWN = 5

/** The changed pointers with their old and new values, as far as they may be shown and there is room. */
function listDrifts(drifts: readonly Drift[]): string {
  const shown = drifts
    .slice(0, SHOWN)
    .map(
      ({ pointer, found, wanted }) =>
        `${pointer} ${showValue(pointer, found)} → ${showValue(pointer, wanted)}`,
    )
  const rest = drifts.length - SHOWN
  return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}
