import { annotationOf, type KubeObject } from './json/object.ts'
import type { FieldPath, MergeTree } from './merge/merge-tree.ts'
import { nullFields } from './merge/null-fields.ts'
import { unknownFields } from './merge/unknown-fields.ts'
import { voidChanges } from './merge/void-changes.ts'
import { IGNORE_FIELDS, MODE, PATCH, RECONCILE_PAUSED } from './overrides/annotations.ts'
import { releaseFields } from './overrides/ignore-fields.ts'
import { applyPatch } from './overrides/patch.ts'
import type { Problem } from './problem.ts'
import { err, ok, type Result } from './result.ts'
import { showValue } from './show.ts'

/** What ought to become of an object, given its baseline and the overrides that it carries. */
export type Plan =
  | { readonly kind: 'skip'; readonly reason: 'Paused' | 'Unmanaged' }
  /** An override is invalid: nothing is written or corrected until it is mended or gone. */
  | { readonly kind: 'hold'; readonly problems: readonly Problem[] }
  | Enforcement

export interface Enforcement {
  readonly kind: 'enforce'
  readonly desired: KubeObject
  /** Fields that `ignore-fields` gives to whoever sets them. */
  readonly released: readonly FieldPath[]
  readonly isPatched: boolean
  /** What is odd without being wrong: a blocked patch, a pointer to a field that is not managed, a change without effect. */
  readonly remarks: readonly Problem[]
}

export interface PlanInput {
  readonly baseline: KubeObject
  /** The object that carries the overrides: live, or incoming at admission; undefined where none exists. */
  readonly object: KubeObject | undefined
  readonly tree: MergeTree
  readonly isSensitive: boolean
}

/**
 * Decides what an object ought to be. The webhook and the reconciler both ask here and nowhere else:
 * two opinions of the desired state would be an edit war with ourselves.
 */
export function plan(input: PlanInput): Plan {
  const { object } = input
  const problems = switchProblems(object)
  if (problems.length > 0) return { kind: 'hold', problems }
  // Whoever takes the object over has ended the quarrel that paused it.
  if (annotationOf(object, MODE) === 'unmanaged') return { kind: 'skip', reason: 'Unmanaged' }
  if (annotationOf(object, RECONCILE_PAUSED) === 'true') return { kind: 'skip', reason: 'Paused' }

  const patched = withPatch(input)
  const released = patched.ok ? withReleases(patched.value, input) : patched
  return released.ok ? released.value : { kind: 'hold', problems: released.error }
}

type Planned = Result<Enforcement, readonly Problem[]>

function withPatch({ baseline, object, tree, isSensitive }: PlanInput): Planned {
  const unpatched: Enforcement = {
    kind: 'enforce',
    desired: baseline,
    released: [],
    isPatched: false,
    remarks: [],
  }
  const text = annotationOf(object, PATCH)
  if (text === undefined) return ok(unpatched)
  if (isSensitive) return ok({ ...unpatched, remarks: [PATCH_BLOCKED] })
  const patched = patchOnce(baseline, text, tree)
  return patched.ok ? ok({ ...unpatched, desired: patched.value, isPatched: true }) : patched
}

type Patched = Result<KubeObject, readonly Problem[]>

// One write has the same patch applied to the same baseline several times, and most writes come with the patch of the last.
const lastPatched = new WeakMap<
  KubeObject,
  { readonly text: string; readonly tree: MergeTree; readonly patched: Patched }
>()

function patchOnce(baseline: KubeObject, text: string, tree: MergeTree): Patched {
  const last = lastPatched.get(baseline)
  if (last?.text === text && last.tree === tree) return last.patched
  const patched = patch(baseline, text, tree)
  lastPatched.set(baseline, { text, tree, patched })
  return patched
}

function patch(baseline: KubeObject, text: string, tree: MergeTree): Patched {
  const patched = applyPatch(baseline, text)
  if (!patched.ok) return patched
  const { value } = patched
  const misfits = [
    ...unknownFields(tree, value).map(notKnown),
    ...nullFields(tree, value).map(notKept),
  ]
  return misfits.length > 0 ? err(misfits) : patched
}

const notKnown = (pointer: string): Problem => ({
  reason: 'InvalidPatch',
  annotation: PATCH,
  pointer,
  message: `the patch sets ${pointer}, which is unknown to the schema of this kind: correct it or remove it`,
})

const notKept = (pointer: string): Problem => ({
  reason: 'InvalidPatch',
  annotation: PATCH,
  pointer,
  message: `the patch sets ${pointer} to null, which the API server does not keep: remove the field by "op": "remove", or leave it out of the value`,
})

function withReleases(patched: Enforcement, input: PlanInput): Planned {
  const { baseline, object, tree, isSensitive } = input
  const text = annotationOf(object, IGNORE_FIELDS)
  if (text === undefined) return ok(patched)
  const release = releaseFields({ desired: patched.desired, tree, text, isSensitive })
  if (!release.ok) return release
  const { desired, released, unmanaged } = release.value
  const voided = patched.isPatched
    ? voidChanges({ tree, baseline, patched: patched.desired, released })
    : []
  const remarks = [...patched.remarks, ...voided.map(noEffect), ...unmanaged.map(notManaged)]
  // What only an earlier patch had put there is ours until it is released too.
  const leftovers = unmanaged.flatMap(({ path }) => (path ? [path] : []))
  return ok({ ...patched, desired, released: [...released, ...leftovers], remarks })
}

/** What to say of a patch on a sensitive kind. */
export const PATCH_BLOCKED: Problem = {
  reason: 'PatchBlocked',
  annotation: PATCH,
  message: `${PATCH} is refused, since what this kind holds grants power over nodes or access: use ${IGNORE_FIELDS} or ${MODE}`,
}

const noEffect = (pointer: string): Problem => ({
  reason: 'InvalidPatch',
  annotation: PATCH,
  pointer,
  message: `what the patch does at ${pointer} has no effect, since ${IGNORE_FIELDS} releases it: take it out of one of the two`,
})

const notManaged = ({ pointer }: { readonly pointer: string }): Problem => ({
  reason: 'InvalidIgnoreFields',
  annotation: IGNORE_FIELDS,
  pointer,
  message: `${pointer} is not managed: ignoring it changes nothing`,
})

const VALUES: readonly (readonly [annotation: string, values: readonly string[]])[] = [
  [MODE, ['unmanaged', 'managed']],
  [RECONCILE_PAUSED, ['true']],
]

/** What is wrong with the annotations that switch management off: `mode` and `reconcile-paused`. */
export function switchProblems(object: KubeObject | undefined): readonly Problem[] {
  return VALUES.flatMap(([annotation, values]) => {
    const value = annotationOf(object, annotation)
    if (value === undefined || values.includes(value)) return []
    const choices = values.map((choice) => `"${choice}"`).join(' or ')
    const message = `${annotation} must be ${choices}, or absent, not ${showValue('', value)}`
    return [{ reason: 'InvalidMode', annotation, message }]
  })
}
