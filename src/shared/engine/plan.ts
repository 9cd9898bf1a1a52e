import { IGNORE_FIELDS, MODE, PATCH, RECONCILE_PAUSED } from './annotations.ts'
import { releaseFields } from './ignore-fields.ts'
import type { FieldPath, MergeTree } from './merge-tree.ts'
import { annotationOf, type KubeObject } from './object.ts'
import { applyPatch } from './patch.ts'
import type { Problem } from './problem.ts'
import { err, ok, type Result } from './result.ts'
import { showValue } from './show.ts'
import { unknownFields } from './unknown-fields.ts'

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
  /** What is odd without being wrong: a blocked patch, a pointer to a field that is not managed. */
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
  if (annotationOf(object, RECONCILE_PAUSED) === 'true') return { kind: 'skip', reason: 'Paused' }
  if (annotationOf(object, MODE) === 'unmanaged') return { kind: 'skip', reason: 'Unmanaged' }

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
  if (isSensitive) return ok({ ...unpatched, remarks: [BLOCKED] })
  const patched = applyPatch(baseline, text)
  if (!patched.ok) return patched
  const unknown = unknownFields(tree, patched.value).map(notKnown)
  if (unknown.length > 0) return err(unknown)
  return ok({ ...unpatched, desired: patched.value, isPatched: true })
}

const notKnown = (pointer: string): Problem => ({
  reason: 'InvalidPatch',
  annotation: PATCH,
  pointer,
  message: `the patch sets ${pointer}, which is unknown to the schema of this kind: correct it or remove it`,
})

function withReleases(patched: Enforcement, { object, tree, isSensitive }: PlanInput): Planned {
  const text = annotationOf(object, IGNORE_FIELDS)
  if (text === undefined) return ok(patched)
  const release = releaseFields({ desired: patched.desired, tree, text, isSensitive })
  if (!release.ok) return release
  const { desired, released, unmanaged } = release.value
  return ok({
    ...patched,
    desired,
    released,
    remarks: [...patched.remarks, ...unmanaged.map(notManaged)],
  })
}

const BLOCKED: Problem = {
  reason: 'PatchBlocked',
  annotation: PATCH,
  message: `this kind takes no ${PATCH}: what it holds grants power over nodes or access; use ${IGNORE_FIELDS} or ${MODE}`,
}

const notManaged = (pointer: string): Problem => ({
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
