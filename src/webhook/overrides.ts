import { closest } from 'fastest-levenshtein'

import {
  APPROVE,
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  MANAGED_BY,
  MODE,
  OVERRIDES,
  PREFIX,
  RECONCILE_PAUSED,
} from '../shared/engine/annotations.ts'
import type { MergeTree } from '../shared/engine/merge-tree.ts'
import { annotationOf, type KubeObject } from '../shared/engine/object.ts'
import { type Enforcement, plan, switchProblems } from '../shared/engine/plan.ts'
import type { Problem } from '../shared/engine/problem.ts'

/** Which annotations under our prefix a write adds, changes or removes. */
export function changedAnnotations(
  incoming: KubeObject,
  old: KubeObject | undefined,
): ReadonlySet<string> {
  const keys = [incoming, old].flatMap((object) => Object.keys(object?.metadata.annotations ?? {}))
  return new Set(
    keys.filter(
      (key) => key.startsWith(PREFIX) && annotationOf(incoming, key) !== annotationOf(old, key),
    ),
  )
}

export interface OverrideFaults {
  /** What is wrong with an override that this write adds or changes. */
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
 * Judges the overrides that a write touches, and only these: one that was invalid before is left out of
 * the judgement, and one on a paused or unmanaged object is judged as if it were in force.
 */
export function judgeOverrides(
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  { baseline, tree, isSensitive }: OverrideTarget,
): OverrideFaults {
  if (!OVERRIDES.some((key) => changed.has(key))) return { problems: [], remarks: [] }
  const isChanged = ({ annotation }: Problem) => changed.has(annotation)
  const switches = switchProblems(incoming).filter(isChanged)
  if (!baseline || !tree) return { problems: switches, remarks: [] }

  const planFor = (object: KubeObject) => plan({ baseline, object, tree, isSensitive })
  let object = without(incoming, [MODE, RECONCILE_PAUSED])
  let decision = planFor(object)
  while (decision.kind === 'hold') {
    const problems = decision.problems.filter(isChanged)
    if (problems.length > 0) return { problems: [...switches, ...problems], remarks: [] }
    object = without(
      object,
      decision.problems.map(({ annotation }) => annotation),
    )
    decision = planFor(object)
  }
  // What is neither paused nor unmanaged any more is enforced.
  const { remarks } = decision as Enforcement
  return { problems: switches, remarks: remarks.filter(isChanged) }
}

function without(object: KubeObject, keys: readonly string[]): KubeObject {
  const annotations = Object.entries(object.metadata.annotations ?? {}).filter(
    ([key]) => !keys.includes(key),
  )
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

/** A sentence for each key under our prefix that this write adds and nobody reads, with the nearest that somebody does. */
export function unknownKeys(
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  isHco: boolean,
  optIns: readonly string[],
): readonly string[] {
  const known = [...OVERRIDES, ...(isHco ? [...SETTINGS, ...optIns] : [])]
  return [...changed]
    .filter(
      (key) => ![...known, MANAGED_BY].includes(key) && annotationOf(incoming, key) !== undefined,
    )
    .slice(0, MAX_UNKNOWN)
    .map((key) => key.slice(0, MAX_KEY))
    .map((key) => `annotation ${key} means nothing here: did you mean ${closest(key, known)}?`)
}
