import type { AssetDiff } from '../../reconciler/baseline/cluster-diff.ts'
import type { Outcome } from '../../reconciler/baseline/decide/outcome.ts'
import type { Evaluation } from '../../reconciler/baseline/gather/evaluation.ts'
import { approveCommand } from '../../reconciler/baseline/report/disruption-text.ts'
import type { PendingSet } from '../../reconciler/baseline/report/report.ts'
import { MODE, PAUSE_FIELD_MANAGER, RECONCILE_PAUSED } from '../../shared/baseline/annotations.ts'
import { annotateCommand } from '../../shared/baseline/kubectl.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'
import { sentenceOf } from '../../shared/engine/problem.ts'
import { findingOf, headOf } from '../diff/finding.ts'

/** How one asset, or a part of the product, is doing. */
export interface Row {
  readonly name: string
  readonly state: string
  readonly health: 'ok' | 'wrong' | 'unknown'
  readonly why: string
  /** What a person may do about it; empty where there is nothing. */
  readonly todo: string
  /** Of an asset: its object. */
  readonly object?: string
  /** The last warning that an event gives of it. */
  readonly lastEvent?: string
}

/** What the row of an asset depends on beside what `diff` found. */
export interface Surroundings extends Pick<Evaluation, 'facts' | 'statuses'> {
  readonly activation: Evaluation['stated']['settings']['activation']['kind']
  readonly pending: Pick<PendingSet, 'hco' | 'digest'>
  /** The last warning for an asset, by its name. */
  readonly events: ReadonlyMap<string, string>
}

/** The row of one asset: what `diff` would do about it, told as how it is doing. */
export function assetRow(diff: AssetDiff, surroundings: Surroundings): Row {
  const { name } = diff.asset
  const lastEvent = surroundings.events.get(name)
  const { facts } = surroundings
  const head = headOf(findingOf(diff, { hcoNamespace: facts.hco.namespace, facts }))
  return {
    name,
    object: head.slice(0, -` (${name})`.length),
    ...rowOf(diff, surroundings),
    ...(lastEvent !== undefined && { lastEvent }),
  }
}

type Told = Pick<Row, 'state' | 'health' | 'why' | 'todo'>

function rowOf(diff: AssetDiff, surroundings: Surroundings): Told {
  if ('error' in diff) return unknown('Unread', diff.error.message, 'see that you may read it')
  const { asset, outcome, object } = diff
  switch (outcome.kind) {
    case 'pending':
    case 'pendingRemoval':
      return pendingRow(outcome, surroundings)
    case 'held':
      return wrong(
        'Held',
        outcome.problems.map(sentenceOf).join('; '),
        'mend or remove that annotation',
      )
    case 'failed':
      return wrong(outcome.reason, outcome.message, 'mend the asset, or tell its authors')
    case 'throttled':
      return wrong('Throttled', 'somebody changes it as often as it is put back', 'end the quarrel')
    case 'stuck':
      return wrong(
        'Stuck',
        `being deleted since ${outcome.since}, held by ${outcome.finalizers.join(', ')}`,
        'see why whoever set these finalizers does not remove them',
      )
    case 'skipped':
      return skippedRow(outcome, asset.name, object, surroundings)
    case 'leftover':
      return ok('Leftover', outcome.message, 'delete it if you do not want it')
    case 'removed':
      return ok('Absent', outcome.why ?? 'not wanted, and gone')
    default:
      return ok('InSync', asset.description)
  }
}

type Of<Kind extends Outcome['kind']> = Extract<Outcome, { kind: Kind }>

/** What differs is wrong only where the product is to put it right at once. */
function pendingRow(outcome: Of<'pending' | 'pendingRemoval'>, at: Surroundings): Told {
  const { activation, pending } = at
  const why = whyPending(outcome)
  if (outcome.reason === 'Held')
    return ok(
      'PendingApproval',
      `${why}; it would reboot nodes`,
      pending.digest === undefined
        ? ''
        : `to approve: ${approveCommand(pending.hco, pending.digest)}`,
    )
  if (outcome.reason === 'PoolBusy')
    return ok('PoolBusy', `${why}; it waits for ${(outcome.busyPools ?? []).join(', ')}`)
  const state = stateOfDrift(outcome)
  return activation === 'off' || activation === 'observe'
    ? ok(state, why)
    : wrong(state, why, 'if it stays so, see the log of the reconciler')
}

const stateOfDrift = (outcome: Of<'pending' | 'pendingRemoval'>) => {
  if (outcome.kind === 'pendingRemoval') return 'Obsolete'
  return outcome.isCreation ? 'Missing' : 'Drifted'
}

function whyPending(outcome: Of<'pending' | 'pendingRemoval'>): string {
  if (outcome.kind === 'pendingRemoval') return `it is to be deleted: ${outcome.why}`
  if (outcome.isCreation) return 'it is to be created'
  const pointers = outcome.drifts.slice(0, SHOWN).map(({ pointer }) => pointer)
  const more = outcome.drifts.length - pointers.length
  return `differs at ${pointers.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const SHOWN = 3

function skippedRow(
  { reason, message }: Of<'skipped'>,
  name: string,
  object: KubeObject | undefined,
  { events, statuses }: Surroundings,
): Told {
  if (reason === 'Paused') return pausedRow(object, events.get(name))
  if (reason === 'Unmanaged')
    return ok('Unmanaged', 'somebody owns it', undo('to have it managed', object, MODE))
  const status = statuses.get(name)
  if (status?.kind === 'inactive') return inactiveRow(reason, status)
  const why = message ?? WHYS[reason] ?? 'not managed until that changes'
  if (reason === 'SchemaMissing') return unknown(reason, why, 'look again in a minute')
  return OBSTACLES.has(reason) ? wrong(reason, why, 'see what is missing') : ok(reason, why)
}

/** A person who asked for the asset wants to know what is in its way; nobody else has anything to do. */
function inactiveRow(
  skipped: string,
  { reason, message }: { readonly reason: string; readonly message: string },
): Told {
  return skipped === 'DependencyMissing'
    ? wrong(skipped, message, 'install what serves that API, or do not ask for the asset')
    : ok(reason, message)
}

const WHYS: Readonly<Record<string, string>> = {
  Off: 'the autopilot is switched off',
  Deleting: 'it is being deleted',
  Absent: 'nobody has created it',
}

/** What keeps an asset from being kept although nobody has opted out of it. */
const OBSTACLES: ReadonlySet<string> = new Set(['NamespaceMissing', 'DependencyMissing', 'NotOurs'])

/** An edit war pauses under a field manager of its own; what somebody paused by hand is as he wants it. */
function pausedRow(object: KubeObject | undefined, event: string | undefined): Told {
  const isWar = object?.metadata.managedFields?.some(
    ({ manager }) => manager === PAUSE_FIELD_MANAGER,
  )
  return isWar
    ? wrong(
        'Paused',
        event ?? 'somebody else kept changing it',
        undo('end the quarrel, then', object, RECONCILE_PAUSED),
      )
    : ok('Paused', 'somebody paused it', undo('to resume', object, RECONCILE_PAUSED))
}

const undo = (what: string, object: KubeObject | undefined, key: string) =>
  object ? `${what}: ${annotateCommand(object, key)}` : ''

export const ok = (state: string, why: string, todo = ''): Told => ({
  state,
  health: 'ok',
  why,
  todo,
})
export const wrong = (state: string, why: string, todo: string): Told => ({
  state,
  health: 'wrong',
  why,
  todo,
})
const unknown = (state: string, why: string, todo: string): Told => ({
  state,
  health: 'unknown',
  why,
  todo,
})
