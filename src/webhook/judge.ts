import type { Asset } from '../shared/catalog/catalog.ts'
import { readSettings, type Settings, unknownNames } from '../shared/catalog/settings.ts'
import type { Digest } from '../shared/catalog/standing.ts'
import { IGNORE_FIELDS, MODE, OVERRIDES, PATCH } from '../shared/engine/annotations.ts'
import { canonicalJson } from '../shared/engine/canonical.ts'
import { type Correction, correct, type Drift } from '../shared/engine/merge.ts'
import { annotationOf, type KubeObject } from '../shared/engine/object.ts'
import { type Enforcement, type Plan, plan } from '../shared/engine/plan.ts'
import type { Problem } from '../shared/engine/problem.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'
import { changedAnnotations, judgeOverrides, unknownKeys } from './overrides.ts'

/** One write to a managed object. */
export interface Write {
  readonly incoming: KubeObject
  readonly old: KubeObject | undefined
}

/** What is to become of a write. Reasons are the metric's label values. */
export type Verdict =
  | { readonly kind: 'allowed'; readonly reason: string; readonly notes: readonly string[] }
  | {
      readonly kind: 'corrected'
      readonly reason: 'Drift' | 'Override'
      readonly corrected: KubeObject
      /** What the writer moved away; what an override moved is not among them. */
      readonly drifts: readonly Drift[]
      readonly plan: Enforcement
      readonly notes: readonly string[]
    }
  | {
      readonly kind: 'denied'
      readonly reason: 'Drift'
      readonly drifts: readonly Drift[]
      readonly plan: Enforcement
    }
  | {
      readonly kind: 'denied'
      readonly reason: 'InvalidOverride' | 'PatchBlocked' | 'InvalidSetting'
      readonly problems: readonly Problem[]
    }

export interface JudgeContext {
  readonly knowledge: Knowledge
  /** The flag, for where neither the asset nor the HyperConverged decides. */
  readonly enforcement: 'correct' | 'deny'
  readonly digest: Digest
}

/** Judges a create or an update of a managed object: the write, not the object. Pure, and in memory only. */
export function judge(write: Write, managed: ManagedObject, context: JudgeContext): Verdict {
  const { knowledge } = context
  const changed = changedAnnotations(write.incoming, write.old)
  const faulty = judgeAnnotations(write, managed, changed, knowledge)
  if (faulty.kind === 'denied') return faulty
  const { notes, settings } = faulty
  const allow = (reason: string): Verdict => ({ kind: 'allowed', reason, notes })

  const { activation } = settings
  if (activation.kind === 'off' || activation.kind === 'observe')
    return allow(activation.kind === 'off' ? 'Off' : 'Observing')
  const { standing, tree, isAgreed } = managed
  if (standing.kind !== 'active' || !tree) return allow('Inactive')
  if (!isAgreed) return allow('Disagreement')

  const planFor = (object: KubeObject) =>
    plan({ baseline: standing.baseline, object, tree, isSensitive: managed.isSensitive })
  const after = planFor(write.incoming)
  if (after.kind !== 'enforce') return allow(after.kind === 'hold' ? 'Held' : after.reason)
  const isOverrideChanged = OVERRIDES.some((key) => changed.has(key))
  const before = write.old && isOverrideChanged ? planFor(write.old) : after
  return settle({ write, managed, context: { ...context, settings }, before, after, notes })
}

interface Case {
  readonly write: Write
  readonly managed: ManagedObject
  readonly context: JudgeContext & { readonly settings: Settings }
  readonly before: Plan
  readonly after: Enforcement
  readonly notes: readonly string[]
}

function settle({ write, managed, context, before, after, notes }: Case): Verdict {
  const { incoming, old } = write
  const { tree } = managed
  if (!tree) throw new Error('an object without a schema is not judged')
  const written = correct({ tree, incoming, old, desired: after.desired })
  const isDenied = refuses(written, after, write, managed, context)
  if (isDenied) return { kind: 'denied', reason: 'Drift', drifts: written.drifts, plan: after }
  // What an override changes on a disruptive asset is the reconciler's: it asks for approval first.
  const whole = managed.isAlwaysDenied ? written : correctAll(tree, write, before, after, written)
  if (whole.drifts.length === 0) return { kind: 'allowed', reason: 'InSync', notes }
  const reason = written.drifts.length > 0 ? 'Drift' : 'Override'
  return {
    kind: 'corrected',
    reason,
    corrected: whole.corrected,
    drifts: written.drifts,
    plan: after,
    notes,
  }
}

function correctAll(
  tree: NonNullable<ManagedObject['tree']>,
  { incoming, old }: Write,
  before: Plan,
  { desired }: Enforcement,
  written: Correction,
): Correction {
  if (before.kind === 'enforce') {
    if (before.desired === desired) return written
    return correct({ tree, incoming, old, desired, desiredBefore: before.desired })
  }
  // The object was nobody's until this write put it under management again.
  return correct({ tree, incoming, old: undefined, desired })
}

function refuses(
  { drifts }: Correction,
  { desired }: Enforcement,
  { incoming, old }: Write,
  { isAlwaysDenied, asset, appliedDigest }: ManagedObject,
  { settings, enforcement, digest }: Case['context'],
): boolean {
  if (drifts.length === 0 || !old || incoming.metadata.deletionTimestamp) return false
  const mode = isAlwaysDenied ? 'deny' : (settings.enforcement ?? enforcement)
  if (mode !== 'deny') return false
  // Our label is put back, never fought over.
  const content = drifts.filter(isContent)
  // Putting back what is not in force yet would be the very change that waits for approval.
  const isPending = asset.disruption !== 'none' && appliedDigest !== digest(canonicalJson(desired))
  return content.some(({ kind }) => kind === 'different' || isPending)
}

/** Whether a drift is in the object's content; our label is put back, never fought over. */
export const isContent = ({ path: [first] }: Drift) =>
  !(first && 'field' in first && first.field === 'metadata')

type Annotated =
  | Extract<Verdict, { readonly problems: readonly Problem[] }>
  | { readonly kind: 'sound'; readonly notes: readonly string[]; readonly settings: Settings }

function judgeAnnotations(
  { incoming }: Write,
  managed: ManagedObject,
  changed: ReadonlySet<string>,
  knowledge: Knowledge,
): Annotated {
  if (changed.size === 0) return { kind: 'sound', notes: [], settings: knowledge.settings }
  const baseline = managed.standing.kind === 'active' ? managed.standing.baseline : undefined
  const { problems, remarks } = judgeOverrides(incoming, changed, { ...managed, baseline })
  if (problems.length > 0) return { kind: 'denied', reason: 'InvalidOverride', problems }
  const blocked =
    managed.isSensitive && changed.has(PATCH) && annotationOf(incoming, PATCH) !== undefined
  if (blocked)
    return { kind: 'denied', reason: 'PatchBlocked', problems: [blockedOn(managed.asset)] }
  const notes = [
    ...remarks.map(({ message }) => message),
    ...unknownKeys(incoming, changed, managed.isHco, optInsOf(knowledge)),
  ]
  if (!managed.isHco) return { kind: 'sound', notes, settings: knowledge.settings }
  const stated = readSettings(incoming.metadata.annotations ?? {}, knowledge.validSettings)
  const faults = stated.problems.filter(({ annotation }) => changed.has(annotation))
  if (faults.length > 0) return { kind: 'denied', reason: 'InvalidSetting', problems: faults }
  const catalog = knowledge.all.map(({ asset }) => asset)
  return {
    kind: 'sound',
    notes: [...notes, ...unknownNames(stated.settings, catalog)],
    settings: stated.settings,
  }
}

const blockedOn = ({ object }: Asset): Problem => ({
  reason: 'PatchBlocked',
  annotation: PATCH,
  message: `${object.kind} takes no ${PATCH}: use ${IGNORE_FIELDS} or ${MODE}`,
})

const optInsOf = ({ all }: Knowledge) =>
  all.flatMap(({ asset }) =>
    asset.conditions.flatMap((c) =>
      c.type === 'annotation' ? [`platform.kubevirt.io/${c.key}`] : [],
    ),
  )
