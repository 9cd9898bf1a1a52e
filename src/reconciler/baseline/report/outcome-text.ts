import { RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { namePools } from '../../../shared/baseline/facts/pools.ts'
import { annotateCommand } from '../../../shared/baseline/kubectl.ts'
import type { EventInput } from '../../../shared/cluster/events.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Outcome, Report } from '../decide/outcome.ts'

/** How an outcome is told: one log line, and its events. Equal texts are not told twice. */
export interface OutcomeText {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly events: readonly Omit<EventInput, 'subject'>[]
}

type Of<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>
type Event = OutcomeText['events'][number]

const normal = (reason: string, note: string): Event => ({ type: 'Normal', reason, note })
const warning = (reason: string, note: string): Event => ({ type: 'Warning', reason, note })

const text = (
  level: OutcomeText['level'],
  message: string,
  fields: OutcomeText['fields'],
  ...events: readonly (Event | undefined)[]
): OutcomeText => ({
  level,
  message,
  fields,
  events: events.filter((event) => event !== undefined),
})

/** Puts the outcome of one asset into words. */
export function describeOutcome({
  asset,
  outcome,
}: Pick<Report, 'asset' | 'outcome'>): OutcomeText {
  switch (outcome.kind) {
    case 'unchanged':
      return unchanged(outcome)
    case 'created': {
      const event = normal('AssetApplied', `created, because ${asset.description}`)
      return text('info', 'created', { object: titleOf(outcome.plan.desired) }, event)
    }
    case 'configured':
      return configured(outcome)
    case 'pending':
      return pending(outcome)
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
      return text('info', 'left over', { because: outcome.message })
    case 'failed': {
      const { reason, message: error } = outcome
      return text('error', 'asset failed', { reason, error }, warning(reason, error))
    }
    default:
      return outcome satisfies never
  }
}

function unchanged({ plan, hasReleased }: Of<'unchanged'>): OutcomeText {
  const events = plan.remarks.map(({ reason, message }) => warning(reason, message))
  if (!hasReleased) return text('debug', 'in sync', {}, ...events)
  const released = normal('OwnershipReleased', 'the ignored fields are no longer ours')
  return text('info', 'ownership released', {}, ...events, released)
}

function configured({ plan, drifts, isAdopted }: Of<'configured'>): OutcomeText {
  const changes = drifts.length > 0 ? listDrifts(drifts) : 'what is no longer wanted is removed'
  const fields = { object: titleOf(plan.desired), pointers: pointersOf(drifts) }
  return isAdopted
    ? text('info', 'adopted', fields, normal('AssetAdopted', `taken over: ${changes}`))
    : text('info', 'drift corrected', fields, normal('DriftCorrected', `put back: ${changes}`))
}

function pending({ drifts, reason, isCreation, busyPools = [] }: Of<'pending'>): OutcomeText {
  const note = isCreation ? 'would be created' : `differs: ${listDrifts(drifts)}`
  const events = {
    Observing: normal('DriftDetected', note),
    PoolBusy: normal('DisruptionPending', untilFree(note, busyPools)),
    // What waits for approval is told as one set, on the HyperConverged.
    Held: undefined,
  }
  const fields = { reason, pointers: pointersOf(drifts), isCreation }
  return text('info', 'change not made', fields, events[reason])
}

const untilFree = (note: string, pools: readonly string[]) =>
  `${note}; waits until ${namePools(pools)} ${pools.length > 1 ? 'are' : 'is'} neither paused nor updating`

function held({ problems: found }: Of<'held'>): OutcomeText {
  const problems = found.map(sentenceOf)
  const note = `held, nothing is written until it is mended: ${problems.join('; ')}`
  const event = warning(found[0]?.reason ?? 'InvalidPatch', note)
  return text('warn', 'held by an invalid override', { problems }, event)
}

// Which event tells that the reconciler leaves an object alone.
const SKIP_EVENTS: Readonly<Record<string, string>> = {
  Unmanaged: 'UnmanagedMode',
  DependencyMissing: 'CRDMissing',
  NamespaceMissing: 'AssetSkipped',
  Waiting: 'AssetSkipped',
}

function skipped({ reason, message }: Of<'skipped'>): OutcomeText {
  const level = reason === 'Inactive' || reason === 'Off' ? 'debug' : 'info'
  const event = SKIP_EVENTS[reason]
  const note = message ?? `${reason}: not managed until that changes`
  return text(level, 'skipped', because(reason, message), event ? normal(event, note) : undefined)
}

function skippedTombstone({ reason, message }: Of<'skipped'>): OutcomeText {
  const fields = because(reason, message)
  if (reason !== 'NotOurs' && reason !== 'Unmanaged' && reason !== 'Paused')
    return text('debug', 'not deleted', fields)
  const note = `not deleted: ${message ?? `the object is annotated as ${reason.toLowerCase()}`}`
  return text('warn', 'not deleted', fields, warning('TombstoneSkipped', note))
}

const because = (reason: string, message: string | undefined) => ({
  reason,
  ...(message && { because: message }),
})

function throttled({ plan, drifts, rivals, isPaused }: Of<'throttled'>): OutcomeText {
  const pointers = pointersOf(drifts)
  const by = rivals.length > 0 ? ` by ${rivals.join(', ')}` : ''
  const what = pointers.length > 0 ? listed(pointers) : 'the object, which is deleted'
  const war = `${what} is changed${by} as often as it is put back`
  const fields = { pointers, rivals }
  if (!isPaused) {
    const event = warning('Throttled', `${war}: it is left alone for a while`)
    return text('warn', 'throttled', fields, event)
  }
  const command = resumeCommand(plan.desired)
  const note = `${war}: management is paused; end the quarrel, then resume with: ${command}`
  const message = 'paused, since somebody else keeps changing the object'
  return text('warn', message, fields, warning('ThrashingDetected', note))
}

const resumeCommand = (object: KubeObject) => annotateCommand(object, RECONCILE_PAUSED)

function removed({ isTombstone, description }: Asset, { was, why }: Of<'removed'>): OutcomeText {
  if (!was) return text('debug', 'gone', {})
  const reason = isTombstone ? description : 'the conditions of its asset hold no more'
  const note = why === undefined ? `deleted, because ${reason}` : `deleted: ${why}`
  const event = normal(isTombstone ? 'TombstoneDeleted' : 'AssetPruned', note)
  return text('info', 'deleted', { object: titleOf(was) }, event)
}

function pendingRemoval({ reason, busyPools = [] }: Of<'pendingRemoval'>): OutcomeText {
  const note = 'would be deleted'
  const events = {
    Observing: normal('DriftDetected', note),
    PoolBusy: normal('DisruptionPending', untilFree(note, busyPools)),
    Held: undefined,
  }
  return text('info', 'removal not made', { reason }, events[reason])
}

function stuck({ since, finalizers }: Of<'stuck'>): OutcomeText {
  const note = `being deleted since ${since}, and still there: see why whoever set these finalizers does not remove them: ${finalizers.join(', ')}`
  return text('warn', 'removal is stuck', { since, finalizers }, warning('TombstoneFailed', note))
}

const pointersOf = (drifts: readonly Drift[]) => drifts.map(({ pointer }) => pointer)

/** The changed pointers with their old and new values, as far as they may be shown and there is room. */
const listDrifts = (drifts: readonly Drift[]) =>
  listed(
    drifts.map(
      ({ pointer, found, wanted }) =>
        `${pointer} ${formatValue(pointer, found)} → ${formatValue(pointer, wanted)}`,
    ),
  )

const SHOWN = 5

const listed = (texts: readonly string[]) => {
  const rest = texts.length - SHOWN
  return [...texts.slice(0, SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}
