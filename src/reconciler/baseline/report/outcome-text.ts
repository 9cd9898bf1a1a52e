import { RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { namePools, type Reach } from '../../../shared/baseline/facts/pools.ts'
import { annotateCommand } from '../../../shared/baseline/kubectl.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { EventInput } from '../../../shared/cluster/events.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { titleOf } from '../../../shared/engine/json/object.ts'
import type { Drift } from '../../../shared/engine/merge/merge.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Cause } from '../decide/cause.ts'
import { CLAIMS, type Outcome, type PendingReason, type Report } from '../decide/outcome.ts'
import { describeEffect } from './disruption-text.ts'

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
  ...events: readonly Event[]
): OutcomeText => ({ level, message, fields, events })

/** Puts the outcome of one asset into words; `reach` is which pools it changes. */
export const describeOutcome = ({
  asset,
  outcome,
  reach,
}: Pick<Report, 'asset' | 'outcome'> & Partial<Pick<Report, 'reach'>>) =>
  (TEXTS[outcome.kind] as (outcome: Outcome, asset: Asset, reach?: Reach) => OutcomeText)(
    outcome,
    asset,
    reach,
  )

/** What a change that is made does to nodes, as the tail of a sentence. */
function effectTail(disruption: Classification | undefined, reach: Reach | undefined): string {
  const effect = disruption && reach && describeEffect({ ...disruption, ...reach })
  return effect ? `; ${effect}` : ''
}

const TEXTS: {
  readonly [Kind in Outcome['kind']]: (
    is: Of<Kind>,
    asset: Asset,
    reach: Reach | undefined,
  ) => OutcomeText
} = {
  unchanged({ plan, hasReleased, patched }) {
    const events = [
      ...plan.remarks.map(({ reason, message }) => warning(reason, message)),
      ...(patched ? [patchApplied(patched)] : []),
    ]
    if (!hasReleased) return text('debug', 'in sync', {}, ...events)
    const released = normal('OwnershipReleased', 'the ignored fields are no longer ours')
    return text('info', 'ownership released', {}, ...events, released)
  },
  created({ plan, disruption }, asset, reach) {
    const note = `created, because ${asset.description}${effectTail(disruption, reach)}`
    const event = normal('AssetApplied', note)
    return text('info', 'created', { object: titleOf(plan.desired) }, event)
  },
  configured({ plan, drifts, cause, disruption }, _asset, reach) {
    const { message, reason, what } = CAUSES[cause]
    const changes = drifts.length > 0 ? listDrifts(drifts) : 'what is no longer wanted is removed'
    const fields = { object: titleOf(plan.desired), pointers: pointersOf(drifts) }
    const note = `${what}: ${changes}${effectTail(disruption, reach)}`
    return text('info', message, fields, normal(reason, note))
  },
  pending({ drifts, reason, isCreation, busyPools = [] }) {
    const note = isCreation ? 'would be created' : `differs: ${listDrifts(drifts)}`
    const fields = { reason, pointers: pointersOf(drifts), isCreation }
    return text('info', 'change not made', fields, ...pendingEvents(reason, note, busyPools))
  },
  held({ problems: found }) {
    const problems = found.map(sentenceOf)
    const note = `held, nothing is written until it is mended: ${problems.join('; ')}`
    const event = warning(found[0]?.reason ?? 'InvalidPatch', note)
    return text('warn', 'held by an invalid override', { problems }, event)
  },
  throttled({ plan, drifts, rivals, isPaused }) {
    const pointers = pointersOf(drifts)
    const by = rivals.length > 0 ? ` by ${rivals.join(', ')}` : ''
    const what = pointers.length > 0 ? listed(pointers) : 'the object, which is deleted'
    const war = `${what} is changed${by} as often as it is put back`
    const fields = { pointers, rivals }
    if (!isPaused) {
      const event = warning('Throttled', `${war}: it is left alone for a while`)
      return text('warn', 'throttled', fields, event)
    }
    const command = annotateCommand(plan.desired, RECONCILE_PAUSED)
    const note = `${war}: management is paused; end the quarrel, then resume with: ${command}`
    const message = 'paused, since somebody else keeps changing the object'
    return text('warn', message, fields, warning('ThrashingDetected', note))
  },
  skipped(outcome, { isTombstone }) {
    const { reason, message } = outcome
    const fields = { reason, ...(message && { because: message }) }
    if (isTombstone) return notDeleted(outcome, fields)
    const level = reason === 'Inactive' || reason === 'Off' ? 'debug' : 'info'
    const event = SKIP_EVENTS[reason]
    const note = message ?? `${reason}: not managed until that changes`
    return text(level, 'skipped', fields, ...(event ? [normal(event, note)] : []))
  },
  gone: () => text('debug', 'gone', {}),
  removed({ was, why, disruption }, { isTombstone }, reach) {
    const told = `deleted: ${why}${effectTail(disruption, reach)}`
    const event = normal(isTombstone ? 'TombstoneDeleted' : 'AssetPruned', told)
    return text('info', 'deleted', { object: titleOf(was) }, event)
  },
  pendingRemoval({ reason, why, busyPools = [] }) {
    const events = pendingEvents(reason, `would be deleted: ${why}`, busyPools)
    return text('info', 'removal not made', { reason, because: why }, ...events)
  },
  stuck({ since, finalizers }) {
    const note = `being deleted since ${since}, and still there: see why whoever set these finalizers does not remove them: ${finalizers.join(', ')}`
    const event = warning('TombstoneFailed', note)
    return text('warn', 'removal is stuck', { since, finalizers }, event)
  },
  leftover: ({ message }) => text('info', 'left over', { because: message }),
  failed: ({ reason, message: error }) =>
    text('error', 'asset failed', { reason, error }, warning(reason, error)),
}

const PATCHED = 'the patch is in force'

const patchApplied = (changes: readonly Drift[]) =>
  normal('PatchApplied', changes.length > 0 ? `${PATCHED}: ${listDrifts(changes)}` : PATCHED)

/** How a change is told, by why it is made. */
const CAUSES: Readonly<Record<Cause, Readonly<Record<'message' | 'reason' | 'what', string>>>> = {
  adoption: { message: 'adopted', reason: 'AssetAdopted', what: 'taken over' },
  baseline: { message: 'baseline changed', reason: 'AssetApplied', what: 'its baseline changed' },
  patch: { message: 'patch applied', reason: 'PatchApplied', what: PATCHED },
  annotations: {
    message: 'annotations followed',
    reason: 'AssetApplied',
    what: 'as its annotations now say',
  },
  drift: { message: 'drift corrected', reason: 'DriftCorrected', what: 'put back' },
}

// Which event tells that the reconciler leaves an object alone.
const SKIP_EVENTS: Readonly<Record<string, string>> = {
  Unmanaged: 'UnmanagedMode',
  DependencyMissing: 'CRDMissing',
  NamespaceMissing: 'AssetSkipped',
  Waiting: 'AssetSkipped',
}

/** Of an object that was to be deleted, only a claim that somebody has on it is worth an event. */
function notDeleted(
  { reason, message }: Of<'skipped'>,
  fields: OutcomeText['fields'],
): OutcomeText {
  if (!CLAIMS.has(reason)) return text('debug', 'not deleted', fields)
  const note = `not deleted: ${message ?? `the object is annotated as ${reason.toLowerCase()}`}`
  return text('warn', 'not deleted', fields, warning('TombstoneSkipped', note))
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

/** The first few texts, and how many more there are. */
export const listed = (texts: readonly string[], separator = ', ') => {
  const rest = texts.length - SHOWN
  return [...texts.slice(0, SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator)
}

function pendingEvents(reason: PendingReason, note: string, pools: readonly string[]) {
  if (reason === 'Observing') return [normal('DriftDetected', note)]
  // What waits for approval is told as one set, on the HyperConverged.
  if (reason === 'Held') return []
  const busy = `${namePools(pools)} ${pools.length > 1 ? 'are' : 'is'}`
  return [normal('DisruptionPending', `${note}; waits until ${busy} neither paused nor updating`)]
}
