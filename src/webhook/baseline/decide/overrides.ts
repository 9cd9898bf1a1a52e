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
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { nearest, suggesting } from '../../../shared/engine/nearest.ts'
import { MAX_ANNOTATIONS } from '../../../shared/engine/overrides/override-names.ts'
import type { Plan } from '../../../shared/engine/plan.ts'
import type { Problem } from '../../../shared/engine/problem.ts'
import type { ManagedObject } from '../snapshot.ts'
import type { Gathered, Write } from './gathered.ts'
import type { Fault } from './verdict.ts'

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
export function judgeExcess(
  { incoming, old }: Write,
  { isSensitive, isHco }: Pick<ManagedObject, 'isSensitive' | 'isHco'>,
  optIns: () => readonly string[],
): Fault | undefined {
  const keys = ownKeys(incoming)
  const stated = keys.filter((key) => annotationOf(incoming, key) !== annotationOf(old, key))
  if (stated.length === 0) return undefined
  const reason = 'InvalidSetting'
  if (keys.length > MAX_ANNOTATIONS) {
    const message = `must not start more than ${MAX_ANNOTATIONS} annotations of one object`
    return { reason, problems: [{ reason, annotation: PREFIX, message }] }
  }
  const read = new Set(knownKeys(isHco, isHco ? optIns() : []))
  // A patch on a sensitive kind is refused unread.
  if (isSensitive) read.delete(PATCH)
  const problems = stated.flatMap((annotation): Problem[] => {
    const message = lengthProblem(annotation, annotationOf(incoming, annotation) ?? '')
    return message !== undefined && read.has(annotation) ? [{ reason, annotation, message }] : []
  })
  if (problems.length === 0) return undefined
  const isOverride = problems.some(({ annotation }) => OVERRIDES.includes(annotation))
  return { reason: isOverride ? 'InvalidOverride' : reason, problems }
}

/** The annotations that mean something on an object. */
const knownKeys = (isHco: boolean, optIns: readonly string[]): readonly string[] => [
  ...OVERRIDES,
  ...(isHco ? [...SETTINGS, ...optIns] : []),
]

export interface OverrideFaults {
  /** What is wrong with an override that this write adds or changes, or is so only since this write. */
  readonly problems: readonly Problem[]
  /** What is odd about one without being wrong. */
  readonly remarks: readonly Problem[]
}

/** What overrides are judged by: those of content need the plans, and what they were made with. */
export type OverrideInput = Pick<Gathered, 'write' | 'changed' | 'before' | 'after'> & {
  readonly managed: Pick<ManagedObject, 'status' | 'tree' | 'isSensitive'>
}

/**
 * Judges the overrides that a write touches: one that was invalid before is left out of the judgement,
 * and one on a paused or unmanaged object is judged as if it were in force.
 */
export function judgeOverrides(input: OverrideInput): OverrideFaults {
  const { write, changed, before, after } = input
  if (!OVERRIDES.some((key) => changed.has(key))) return { problems: [], remarks: [] }
  const switches = changedSwitchProblems(write.incoming, changed)
  const isContentChanged = CONTENT.some((key) => changed.has(key))
  if (!after) return { problems: switches, remarks: [] }
  const { problems, remarks } = faultsIn(write.incoming, after, input)
  // A patch says what there is to ignore: with another one, an annotation that nobody touched may be wrong.
  const known = isContentChanged && write.old && before && faultsIn(write.old, before, input)
  const messages = new Set(known ? known.problems.map(({ message }) => message) : [])
  const news = problems.filter(
    ({ annotation, message }) =>
      changed.has(annotation) || (isContentChanged && !messages.has(message)),
  )
  // What there is to ignore is known only once the patch is right.
  const ofPatch = news.filter(({ annotation }) => annotation === PATCH)
  const faults = [...switches, ...(ofPatch.length > 0 ? ofPatch : news)]
  const isTold = (remark: Problem) => isContentChanged && remark.reason !== 'PatchBlocked'
  return { problems: faults, remarks: faults.length > 0 ? [] : remarks.filter(isTold) }
}

/** What is wrong with those annotations that the write changes which switch management off. */
export const changedSwitchProblems = (incoming: KubeObject, changed: ReadonlySet<string>) =>
  switchProblems(incoming).filter(({ annotation }) => changed.has(annotation))

/** The overrides that say what is desired; each changes what the other means. */
const CONTENT = [PATCH, IGNORE_FIELDS]
const SWITCHES = [MODE, RECONCILE_PAUSED]

/**
 * All that is wrong with the overrides of content. Where the plan stops at a switch, or at an invalid override, what is
 * behind it is seen as if that were gone.
 */
function faultsIn(subject: KubeObject, planned: Plan, { managed }: OverrideInput): OverrideFaults {
  const { status, tree, isSensitive } = managed
  const problems: Problem[] = []
  const gone = new Set<string>(SWITCHES)
  let decision = planned
  while (decision.kind !== 'enforce') {
    const found = decision.kind === 'hold' ? decision.problems : []
    const ofContent = found.filter(({ annotation }) => CONTENT.includes(annotation))
    problems.push(...ofContent)
    for (const { annotation } of ofContent) gone.add(annotation)
    if (status.kind !== 'active' || !tree) break
    const object = without(subject, gone)
    decision = plan({ baseline: status.baseline, tree, object, isSensitive })
  }
  return { problems, remarks: decision.kind === 'enforce' ? decision.remarks : [] }
}

/** The object with no annotations but its overrides, and without some of these. */
function without(object: KubeObject, gone: ReadonlySet<string>): KubeObject {
  const kept = OVERRIDES.filter((key) => !gone.has(key) && annotationOf(object, key) !== undefined)
  const annotations = Object.fromEntries(kept.map((key) => [key, annotationOf(object, key)]))
  return { ...object, metadata: { ...object.metadata, annotations } } as KubeObject
}

const SETTINGS = [AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES, ENFORCEMENT, APPROVE]

/** How many unknown names of one sort are told; looking for the nearest known one takes its time. */
const MAX_UNKNOWN = 5
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
  return [...changed]
    .filter((key) => !known.includes(key) && key !== MANAGED_BY)
    .filter((key) => annotationOf(incoming, key) !== undefined)
    .slice(0, MAX_UNKNOWN)
    .map((unknown) => {
      const key = unknown.slice(0, MAX_KEY)
      // The prefix alone makes no key like another.
      const names = known.map((name) => name.slice(PREFIX.length))
      const near = nearest(key.slice(PREFIX.length), names)
      const meant = near === undefined ? undefined : `${PREFIX}${near}`
      return suggesting(`annotation ${key} means nothing here`, meant, 'remove it')
    })
}
