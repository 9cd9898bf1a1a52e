import { formatValue } from './format-value.ts'
import { annotationOf, type KubeObject } from './json/object.ts'
import { ineffectiveChanges } from './merge/ineffective-changes.ts'
import type { FieldPath, MergeTree } from './merge/merge-tree.ts'
import { nullFields, unknownFields } from './merge/schema-misfits.ts'
import { releaseFields } from './overrides/ignore-fields.ts'
import type { OverrideNames } from './overrides/override-names.ts'
import { applyPatch } from './overrides/patch.ts'
import type { Problem } from './problem.ts'
import { err, ok, type Result } from './result.ts'

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
export function plan(input: PlanInput, names: OverrideNames): Plan {
  const { object } = input
  const problems = switchProblems(object, names)
  if (problems.length > 0) return { kind: 'hold', problems }
  // Whoever takes the object over has ended the quarrel that paused it.
  if (annotationOf(object, names.mode) === 'unmanaged') return { kind: 'skip', reason: 'Unmanaged' }
  if (annotationOf(object, names.reconcilePaused) === 'true')
    return { kind: 'skip', reason: 'Paused' }

  const patched = withPatch(input, names)
  const released = patched.ok ? withReleases(patched.value, input, names) : patched
  return released.ok ? released.value : { kind: 'hold', problems: released.error }
}

type Planned = Result<Enforcement, readonly Problem[]>

function withPatch(
  { baseline, object, tree, isSensitive }: PlanInput,
  names: OverrideNames,
): Planned {
  const unpatched: Enforcement = {
    kind: 'enforce',
    desired: baseline,
    released: [],
    isPatched: false,
    remarks: [],
  }
  const text = annotationOf(object, names.patch)
  if (text === undefined) return ok(unpatched)
  if (isSensitive) return ok({ ...unpatched, remarks: [patchBlocked(names)] })
  const patched = patchOnce(baseline, text, tree, names)
  return patched.ok ? ok({ ...unpatched, desired: patched.value, isPatched: true }) : patched
}

type Patched = Result<KubeObject, readonly Problem[]>

// One write has the same patch applied to the same baseline several times, and most writes come with the patch of the last.
const lastPatched = new WeakMap<
  KubeObject,
  { readonly text: string; readonly tree: MergeTree; readonly patched: Patched }
>()

function patchOnce(
  baseline: KubeObject,
  text: string,
  tree: MergeTree,
  names: OverrideNames,
): Patched {
  const last = lastPatched.get(baseline)
  if (last?.text === text && last.tree === tree) return last.patched
  const patched = patch(baseline, text, tree, names)
  lastPatched.set(baseline, { text, tree, patched })
  return patched
}

function patch(baseline: KubeObject, text: string, tree: MergeTree, names: OverrideNames): Patched {
  const patched = applyPatch(baseline, text, names)
  if (!patched.ok) return patched
  const { value } = patched
  const misfit = (pointer: string, what: string): Problem => ({
    reason: 'InvalidPatch',
    annotation: names.patch,
    pointer,
    message: `the patch sets ${pointer}${what}`,
  })
  const misfits = [
    ...unknownFields(tree, value).map((pointer) =>
      misfit(pointer, ', which is unknown to the schema of this kind: correct it or remove it'),
    ),
    ...nullFields(tree, value).map((pointer) =>
      misfit(
        pointer,
        ' to null, which the API server does not keep: remove the field by "op": "remove", or leave it out of the value',
      ),
    ),
  ]
  return misfits.length > 0 ? err(misfits) : patched
}

function withReleases(patched: Enforcement, input: PlanInput, names: OverrideNames): Planned {
  const { baseline, object, tree, isSensitive } = input
  const text = annotationOf(object, names.ignoreFields)
  if (text === undefined) return ok(patched)
  const release = releaseFields({ desired: patched.desired, tree, text, isSensitive }, names)
  if (!release.ok) return release
  const { desired, released, unmanaged } = release.value
  const ineffective = patched.isPatched
    ? ineffectiveChanges({ tree, baseline, patched: patched.desired, released })
    : []
  const remarks: readonly Problem[] = [
    ...patched.remarks,
    ...ineffective.map((pointer) => ({
      reason: 'PatchShadowed' as const,
      annotation: names.patch,
      pointer,
      message: `what the patch does at ${pointer} has no effect, since ${names.ignoreFields} releases it: take it out of one of the two`,
    })),
    ...unmanaged.map(({ pointer }) => ({
      reason: 'InvalidIgnoreFields' as const,
      annotation: names.ignoreFields,
      pointer,
      message: `${pointer} is not managed: ignoring it only leaves there what was managed before`,
    })),
  ]
  // What only an earlier patch had put there is ours until it is released too.
  const leftovers = unmanaged.flatMap(({ path }) => (path ? [path] : []))
  return ok({ ...patched, desired, released: [...released, ...leftovers], remarks })
}

/** What to say of a patch on a sensitive kind. */
export const patchBlocked = ({
  patch: annotation,
  ignoreFields,
  mode,
}: OverrideNames): Problem => ({
  reason: 'PatchBlocked',
  annotation,
  message: `${annotation} is refused, since what this kind holds grants power over nodes or access: use ${ignoreFields} or ${mode}`,
})

/** What is wrong with the annotations that switch management off: `mode` and `reconcile-paused`. */
export function switchProblems(
  object: KubeObject | undefined,
  { mode, reconcilePaused }: OverrideNames,
): readonly Problem[] {
  const switches = [
    [mode, ['unmanaged', 'managed']],
    [reconcilePaused, ['true']],
  ] as const
  return switches.flatMap(([annotation, values]) => {
    const value = annotationOf(object, annotation)
    if (value === undefined || values.some((known) => known === value)) return []
    const choices = values.map((choice) => `"${choice}"`).join(' or ')
    const message = `${annotation} must be ${choices}, or absent, not ${formatValue('', value)}`
    return [{ reason: 'InvalidMode', annotation, message }]
  })
}
