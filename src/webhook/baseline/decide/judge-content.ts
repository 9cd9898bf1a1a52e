import { MANAGED_BY } from '../../../shared/baseline/annotations.ts'
import { withLivePayloads } from '../../../shared/baseline/machine-config/live-payloads.ts'
import type { Settings } from '../../../shared/baseline/settings/settings.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { MAX_VALUES } from '../../../shared/engine/json/json.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { type Correction, correct, type Drift } from '../../../shared/engine/merge/merge.ts'
import type { Enforcement, Plan } from '../../../shared/engine/plan.ts'
import { contentDigest } from '../../../shared/ops/digest.ts'
import { withEdits } from './edit-operations.ts'
import type { Gathered, Write } from './gathered.ts'
import { isSelectedBy } from './selection-changes.ts'
import { allow, deny, type Judgement, type Target } from './verdict.ts'

/** Judges what a write whose annotations are in order makes of the fields that are managed. */
export function judgeContent(
  gathered: Gathered,
  settings: Settings,
  notes: readonly string[],
): Judgement {
  const { write, after, before = after } = gathered
  const target = targetFor(gathered, settings)
  if (typeof target === 'string') return allow(target, notes)
  if (after?.kind !== 'enforce') return allow(after?.kind === 'skip' ? after.reason : 'Held', notes)
  if (write.oversized?.incoming) return judgeOversized(gathered, notes)
  return settle({ gathered, write: comparable(write), settings, target, before, after, notes })
}

/** What the object is held against, or the reason why against nothing. */
function targetFor(
  { write: { incoming }, managed, snapshot }: Gathered,
  settings: Settings,
): Target | string {
  const { status, tree, isAgreed, isHco } = managed
  // The HyperConverged may deselect or exclude itself with this very write.
  if (status.kind !== 'active' || (isHco && !isSelectedBy(settings, managed, snapshot)))
    return 'Inactive'
  if (!tree) return 'SchemaUnknown'
  if (!isAgreed) return 'Disagreement'
  const { baseline } = status
  // A baseline says how one version looks.
  return incoming.apiVersion === baseline.apiVersion ? { baseline, tree } : 'OtherVersion'
}

/** The write as one of an object that was not there, where what was there is too much to be compared with. */
export const comparable = (write: Write): Write =>
  write.oversized?.old ? { ...write, old: undefined } : write

/**
 * Whoever has to do with an object that is too much already, and was managed as such, is let be: the reconciler looks after
 * what he writes. But where a wrong value would reboot nodes or grant access before that, none may be stored.
 */
function judgeOversized({ write, managed, before }: Gathered, notes: readonly string[]): Judgement {
  const { incoming, oversized } = write
  const isAsBefore = oversized?.old && before?.kind === 'enforce' && !managed.isAlwaysDenied
  return isAsBefore || incoming.metadata.deletionTimestamp
    ? allow('Oversized', [...notes, OVERSIZED_STAYS])
    : { kind: 'denied', reason: 'Oversized' }
}

const OVERSIZED_STAYS = `it has more than ${MAX_VALUES} values, too many to be judged: what is managed is put back afterwards`

interface Context {
  readonly gathered: Gathered
  readonly write: Write
  /** The settings in force with this write. */
  readonly settings: Settings
  readonly target: Target
  readonly before: Plan | undefined
  readonly after: Enforcement
  readonly notes: readonly string[]
}

function settle(context: Context): Judgement {
  const { incoming, old } = context.write
  const wanted = wantedFor(old ?? incoming, context.after)
  const moved = correct({ tree: context.target.tree, incoming, old, desired: wanted })
  const isContested = moved.drifts.some(isContent)
  if (isContested && isChangePending(context)) return settlePending(context, moved, wanted)
  return isContested && isRefused(context, moved, wanted)
    ? deny('Drift', moved.drifts, context.target)
    : store(context, moved)
}

/** What was there before is put back, since desired is the very change that waits. */
function settlePending(context: Context, moved: Correction, wanted: KubeObject): Judgement {
  const { write, target, notes } = context
  const { incoming, old } = write
  if (!old) return allow('Pending', notes)
  const desired = withEdits(target.tree, wanted, old)
  if (isRefused(context, moved, desired)) return deny('Drift', moved.drifts, target)
  if (!desired) return allow('Terminating', notes)
  return store(context, correct({ tree: target.tree, incoming, old, desired }))
}

function store(context: Context, written: Correction): Judgement {
  const { target, after, notes } = context
  const { managed } = context.gathered
  // What an override changes on a disruptive asset is the reconciler's: it asks for approval first.
  const whole = managed.isAlwaysDenied ? written : withOverrides(context, written)
  if (whole.drifts.length === 0) return allow('InSync', notes)
  return {
    kind: 'corrected',
    reason: written.drifts.length > 0 ? 'Drift' : 'Override',
    ...whole,
    drifts: written.drifts,
    putBack: whole.drifts,
    plan: after,
    target,
    notes,
  }
}

/** Desired, but for payloads that say the same in other bytes: to put ours back would be a change that nobody wants. */
export const wantedFor = (live: KubeObject, { desired }: Enforcement): KubeObject =>
  withLivePayloads(desired, live, contentDigest)

/** Whether the field is anything but our label, which is put back and never fought over. */
export const isContent = ({ path: [first, , third] }: Drift) =>
  !(first && 'field' in first && first.field === 'metadata') ||
  !(third && 'field' in third && third.field === MANAGED_BY)

/** Whether desired is not in force yet, so that putting it back would be the very change that waits for approval. */
function isChangePending({ gathered: { managed, digest }, target, after }: Context): boolean {
  const { status, asset, appliedDigest } = managed
  if (asset.disruption === 'none' || status.kind !== 'active') return false
  // A baseline without overrides has its digest already; that of a MachineConfig takes a while.
  const isBaseline = after.desired === target.baseline
  return appliedDigest !== (isBaseline ? status.digest : digest(canonicalJson(after.desired)))
}

function isRefused(
  { write: { incoming, old }, gathered: { managed, enforcement: flag }, settings }: Context,
  { drifts }: Correction,
  desired: KubeObject | undefined,
): boolean {
  if (!old || incoming.metadata.deletionTimestamp) return false
  const enforcement = managed.isAlwaysDenied
    ? 'deny'
    : (settings.enforcement ?? flag ?? managed.asset.enforcement)
  const isSetOtherwise = drifts.some((drift) => drift.kind === 'different' && isContent(drift))
  return enforcement === 'deny' && (isSetOtherwise || !desired)
}

/** The correction with what this write's change of an override asks for. */
function withOverrides(
  { write, target: { tree }, before, after }: Context,
  written: Correction,
): Correction {
  const { incoming, old } = write
  const { desired } = after
  // The object was nobody's until this write put it under management again.
  if (before?.kind !== 'enforce') return correct({ tree, incoming, old: undefined, desired })
  if (before.desired === desired) return written
  return correct({ tree, incoming, old, desired, desiredBefore: before.desired })
}
