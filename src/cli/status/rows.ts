import type { AssetDiff } from '../../reconciler/baseline/cluster-diff.ts'
import type { Evaluation } from '../../reconciler/baseline/gather/evaluation.ts'
import { approveCommand } from '../../reconciler/baseline/report/disruption-text.ts'
import type { PendingSet } from '../../reconciler/baseline/report/report.ts'
import { MODE, PAUSE_FIELD_MANAGER, RECONCILE_PAUSED } from '../../shared/baseline/annotations.ts'
import { annotateCommand } from '../../shared/baseline/kubectl.ts'
import { type KubeObject, titleOf } from '../../shared/engine/json/object.ts'
import {
  type Change,
  type Finding,
  findingOf,
  type NoChange,
  type Subject,
  type Unknown,
} from '../diff/finding.ts'

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
  const { facts, events } = surroundings
  const finding = findingOf(diff, { hcoNamespace: facts.hco.namespace, facts })
  const { asset: name, kind, namespace } = finding
  const object = titleOf({ kind, metadata: { name: finding.name, namespace } })
  const lastEvent = events.get(name)
  const told = toldOf(finding, diff, surroundings)
  return { name, object, ...told, ...(lastEvent !== undefined && { lastEvent }) }
}

function toldOf(finding: Finding, diff: AssetDiff, surroundings: Surroundings): Told {
  if ('drifts' in finding) return changeRow(finding, surroundings)
  if (finding.action === 'unknown') return unknownRow(finding, diff, surroundings)
  return quietRow(finding, 'error' in diff ? undefined : diff.object, surroundings)
}

type Told = Pick<Row, 'state' | 'health' | 'why' | 'todo'>

const toldAs =
  (health: Row['health']) =>
  (state: string, why: string, todo = ''): Told => ({ state, health, why, todo })
export const ok = toldAs('ok')
export const wrong = toldAs('wrong')
const unknown = toldAs('unknown')

/** What differs is wrong only where the product is to put it right at once. */
function changeRow(change: Change, { activation, pending }: Surroundings): Told {
  const { action, why, waitsFor, busyPools = [] } = change
  const what = action === 'delete' ? `it is to be deleted: ${why}` : whatDiffers(change)
  if (waitsFor === 'approval') {
    const { hco, digest } = pending
    const todo = digest === undefined ? '' : `to approve: ${approveCommand(hco, digest)}`
    return ok('PendingApproval', `${what}; it would reboot nodes`, todo)
  }
  if (waitsFor === 'pool') return ok('PoolBusy', `${what}; it waits for ${busyPools.join(', ')}`)
  const state = STATES[action]
  return activation === 'off' || activation === 'observe'
    ? ok(state, what)
    : wrong(state, what, 'if it stays so, see the log of the reconciler')
}

const STATES = { create: 'Missing', change: 'Drifted', delete: 'Obsolete' } as const
const SHOWN = 3

function whatDiffers({ action, drifts }: Change): string {
  if (action === 'create') return 'it is to be created'
  const pointers = drifts.slice(0, SHOWN).map(({ pointer }) => pointer)
  const more = drifts.length > SHOWN ? ` and ${drifts.length - SHOWN} more` : ''
  return `differs at ${pointers.join(', ')}${more}`
}

/** The row of an asset that cannot be compared: for a fault of its own, or since too little is known. */
function unknownRow({ message }: Unknown, diff: AssetDiff, { statuses }: Surroundings): Told {
  if ('outcome' in diff && diff.outcome.kind === 'failed')
    return wrong(diff.outcome.reason, message, 'mend the asset, or tell its authors')
  const status = statuses.get(diff.asset.name)
  const why = status?.kind === 'inactive' ? status.message : message
  return unknown('Unknown', why, 'look again in a minute; see that you may read it')
}

/** The row of an asset of which nothing would be written. */
function quietRow(
  { asset, reason, message, isObstacle }: NoChange & Subject,
  object: KubeObject | undefined,
  { statuses, events }: Surroundings,
): Told {
  const status = statuses.get(asset)
  if (reason === 'Inactive' && status?.kind === 'inactive') return ok(status.reason, status.message)
  const { why = message, undone } = OPT_OUTS[reason] ?? {}
  const way = object && undone && annotateCommand(object, undone)
  if (reason === 'Paused' && isWar(object)) {
    const war = events.get(asset) ?? 'somebody else kept changing it'
    return wrong(reason, war, `end the quarrel, then: ${way}`)
  }
  const todo = way ? `to have it kept: ${way}` : TODOS[reason]
  return isObstacle ? wrong(reason, why, todo) : ok(reason, why, todo)
}

/** An edit war pauses under a field manager of its own; what somebody paused by hand is as he wants it. */
const isWar = (object: KubeObject | undefined) =>
  object?.metadata.managedFields?.some(({ manager }) => manager === PAUSE_FIELD_MANAGER) ?? false

const OPT_OUTS: Readonly<Record<string, { readonly why: string; readonly undone?: string }>> = {
  Paused: { why: 'somebody paused it', undone: RECONCILE_PAUSED },
  Unmanaged: { why: 'somebody owns it', undone: MODE },
  Off: { why: 'the autopilot is switched off' },
  Deleting: { why: 'it is being deleted' },
  Absent: { why: 'nobody has created it, or it is gone' },
}

const TODOS: Readonly<Record<string, string>> = {
  Held: 'mend or remove that annotation',
  Stuck: 'see why whoever set these finalizers does not remove them',
  Leftover: 'delete it if you do not want it',
  DependencyMissing: 'install what serves that API, or do not ask for the asset',
  NamespaceMissing: 'create the namespace',
  NotOurs: 'delete it, or let its owner have it',
}
