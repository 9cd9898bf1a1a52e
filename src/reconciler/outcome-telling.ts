import type { EventInput } from '../shared/cluster/events.ts'
import type { Drift } from '../shared/engine/merge.ts'
import { titleOf } from '../shared/engine/object.ts'
import { sentenceOf } from '../shared/engine/problem.ts'
import { showValue } from '../shared/engine/show.ts'
import type { Outcome, Report } from './outcome.ts'

/** How an outcome is told: one log line, and its events. Equal tellings are the same news. */
export interface Telling {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly events: readonly Omit<EventInput, 'subject'>[]
}

/** Puts the outcome of one asset into words. */
export function describeOutcome({ asset, outcome }: Pick<Report, 'asset' | 'outcome'>): Telling {
  switch (outcome.kind) {
    case 'unchanged':
      return unchanged(outcome)
    case 'created': {
      const events = [normal('AssetApplied', `created, because ${asset.description}`)]
      return {
        level: 'info',
        message: 'created',
        fields: { object: titleOf(outcome.object) },
        events,
      }
    }
    case 'configured':
      return configured(outcome)
    case 'pending':
      return pending(outcome)
    case 'held':
      return held(outcome)
    case 'skipped':
      return skipped(outcome)
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

function unchanged({ plan, hasReleased }: Of<'unchanged'>): Telling {
  const events = plan.remarks.map(({ reason, message }) => warning(reason, message))
  const released = normal('OwnershipReleased', 'the ignored fields are no longer ours')
  return {
    level: hasReleased ? 'info' : 'debug',
    message: hasReleased ? 'ownership released' : 'in sync',
    fields: {},
    events: [...events, ...(hasReleased ? [released] : [])],
  }
}

function configured({ object, drifts, isAdopted }: Of<'configured'>): Telling {
  const note = `${isAdopted ? 'taken over' : 'put back'}: ${listDrifts(drifts)}`
  return {
    level: 'info',
    message: isAdopted ? 'adopted' : 'drift corrected',
    fields: { object: titleOf(object), pointers: pointersOf(drifts) },
    events: [normal(isAdopted ? 'AssetAdopted' : 'DriftCorrected', note)],
  }
}

function pending({ drifts, reason, isCreation }: Of<'pending'>): Telling {
  const note = isCreation ? 'would be created' : `differs: ${listDrifts(drifts)}`
  return {
    level: 'info',
    message: 'change not made',
    fields: { reason, pointers: pointersOf(drifts), isCreation },
    // What waits for approval is told as one set, on the HyperConverged.
    events: reason === 'Observing' ? [normal('DriftDetected', note)] : [],
  }
}

function held({ problems }: Of<'held'>): Telling {
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
}

function skipped({ reason, message }: Of<'skipped'>): Telling {
  const event = SKIP_EVENTS[reason]
  return {
    level: reason === 'Inactive' || reason === 'Off' ? 'debug' : 'info',
    message: 'skipped',
    fields: { reason, ...(message && { because: message }) },
    events: event ? [normal(event, message ?? `${reason}: not managed until that changes`)] : [],
  }
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
