import {
  APPROVE,
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  IGNORE_FIELDS,
  lengthProblem,
  MANAGED_BY,
  MODE,
  OVERRIDES,
  PATCH,
  PREFIX,
  RECONCILE_PAUSED,
} from '../../../shared/baseline/annotations.ts'
import { plan, switchProblems } from '../../../shared/baseline/planner.ts'
import { nearest, suggesting } from '../../../shared/baseline/settings/match-names.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import { MAX_ANNOTATIONS } from '../../../shared/engine/overrides/override-names.ts'
import type { Enforcement, Plan } from '../../../shared/engine/plan.ts'
import type { Problem } from '../../../shared/engine/problem.ts'

/** Which annotations under our prefix a write adds, changes or removes. */
export function changedAnnotations(
  incoming: KubeObject,
  old: KubeObject | undefined,
): ReadonlySet<string> {
  const keys = [incoming, old].flatMap(ownKeys)
  return new Set(keys.filter((key) => annotationOf(incoming, key) !== annotationOf(old, key)))
}

const ownKeys = (object: KubeObject | undefined) =>
  Object.keys(object?.metadata.annotations ?? {}).filter((key) => key.startsWith(PREFIX))

/**
 * What is too long of what somebody reads, or too many, among the annotations that a write adds or changes: found before
 * anything else looks at them, and nothing else does then.
 */
export function excessiveAnnotations(
  incoming: KubeObject,
  old: KubeObject | undefined,
  isRead: (key: string) => boolean,
): readonly Problem[] {
  const keys = ownKeys(incoming)
  const isStated = (key: string) => annotationOf(incoming, key) !== annotationOf(old, key)
  if (keys.length > MAX_ANNOTATIONS) {
    const message = `must not start more than ${MAX_ANNOTATIONS} annotations of one object`
    return keys.some(isStated) ? [{ reason: 'InvalidSetting', annotation: PREFIX, message }] : []
  }
  return keys.filter(isStated).flatMap((annotation) => {
    const message = lengthProblem(annotation, annotationOf(incoming, annotation) ?? '')
    if (message === undefined || !isRead(annotation)) return []
    return [{ reason: 'InvalidSetting', annotation, message }]
  })
}

/** The annotations that mean something on an object. */
export const knownKeys = (isHco: boolean, optIns: readonly string[]): readonly string[] => [
  ...OVERRIDES,
  ...(isHco ? [...SETTINGS, ...optIns] : []),
]

export interface OverrideFaults {
  /** What is wrong with an override that this write adds or changes, or is so only since this write. */
  readonly problems: readonly Problem[]
  /** What is odd about one without being wrong. */
  readonly remarks: readonly Problem[]
}

/** What overrides of an object are judged by; without baseline or tree only those that need neither. */
export interface OverrideTarget {
  readonly baseline: KubeObject | undefined
  readonly tree: MergeTree | undefined
  readonly isSensitive: boolean
}

/**
 * Judges the overrides that a write touches: one that was invalid before is left out of the judgement,
 * and one on a paused or unmanaged object is judged as if it were in force.
 */
export function judgeOverrides(
  incoming: KubeObject,
  old: KubeObject | undefined,
  changed: ReadonlySet<string>,
  { baseline, tree, isSensitive }: OverrideTarget,
): OverrideFaults {
  if (!OVERRIDES.some((key) => changed.has(key))) return { problems: [], remarks: [] }
  const switches = switchProblems(incoming).filter(({ annotation }) => changed.has(annotation))
  if (!baseline || !tree) return { problems: switches, remarks: [] }

  const planFor = (object: KubeObject) => plan({ baseline, object, tree, isSensitive })
  const { problems, remarks } = faultsIn(incoming, planFor)
  // A patch says what there is to ignore: with another one, an annotation that nobody touched may be wrong.
  const before = new Set(old && faultsIn(old, planFor).problems.map(({ message }) => message))
  const isNew = ({ annotation, message }: Problem) =>
    changed.has(annotation) || (CONTENT.some((key) => changed.has(key)) && !before.has(message))
  const isTold = (remark: Problem) =>
    CONTENT.some((key) => changed.has(key)) && remark.reason !== 'PatchBlocked'
  const news = problems.filter(isNew)
  // What there is to ignore is known only once the patch is right.
  const ofPatch = news.filter(({ annotation }) => annotation === PATCH)
  const faults = [...switches, ...(ofPatch.length > 0 ? ofPatch : news)]
  return { problems: faults, remarks: faults.length > 0 ? [] : remarks.filter(isTold) }
}

/** The overrides that say what is desired; each changes what the other means. */
const CONTENT = [PATCH, IGNORE_FIELDS]

/** All that is wrong with the overrides of content: what is behind the first invalid one too, as if that were gone. */
function faultsIn(subject: KubeObject, planFor: (object: KubeObject) => Plan): OverrideFaults {
  const problems: Problem[] = []
  let object = without(subject, [MODE, RECONCILE_PAUSED])
  let decision = planFor(object)
  while (decision.kind === 'hold') {
    problems.push(...decision.problems)
    object = without(
      object,
      decision.problems.map(({ annotation }) => annotation),
    )
    decision = planFor(object)
  }
  // What is neither paused nor unmanaged any more is enforced.
  return { problems, remarks: (decision as Enforcement).remarks }
}

/** The object with no annotations but its overrides, and without some of these. */
function without(object: KubeObject, keys: readonly string[]): KubeObject {
  const annotations = OVERRIDES.flatMap((key) => {
    const value = keys.includes(key) ? undefined : annotationOf(object, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(annotations) },
  }
}

const SETTINGS = [AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES, ENFORCEMENT, APPROVE]

/** How many unknown names of one sort are told; looking for the nearest known one takes its time. */
export const MAX_UNKNOWN = 5
// No name is longer, and neither is the search for one like it.
const MAX_KEY = 317

/** A sentence for each key under our prefix that this write adds and nobody reads, with the one that was meant, if it is near. */
export function unknownKeys(
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  isHco: boolean,
  optIns: readonly string[],
): readonly string[] {
  const known = knownKeys(isHco, optIns)
  const read = new Set([...known, MANAGED_BY])
  return [...changed]
    .filter((key) => !read.has(key) && annotationOf(incoming, key) !== undefined)
    .slice(0, MAX_UNKNOWN)
    .map((key) => key.slice(0, MAX_KEY))
    .map((key) => {
      // The prefix alone makes no key like another.
      const names = known.map((name) => name.slice(PREFIX.length))
      const near = nearest(key.slice(PREFIX.length), names)
      const meant = near === undefined ? undefined : `${PREFIX}${near}`
      return suggesting(`annotation ${key} means nothing here`, meant, 'remove it')
    })
}
