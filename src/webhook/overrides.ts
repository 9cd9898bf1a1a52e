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
import { plan, switchProblems } from '../shared/engine/plan.ts'
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

const NONE: OverrideFaults = { problems: [], remarks: [] }

/**
 * Judges the overrides that a write touches, and only these: one that was invalid before is left out of
 * the judgement, and one on a paused or unmanaged object is judged as if it were in force.
 */
export function judgeOverrides(
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  managed: {
    readonly baseline: KubeObject | undefined
    readonly tree: MergeTree | undefined
    readonly isSensitive: boolean
  },
): OverrideFaults {
  if (!OVERRIDES.some((key) => changed.has(key))) return NONE
  const isChanged = ({ annotation }: Problem) => changed.has(annotation)
  const switches = switchProblems(incoming).filter(isChanged)
  const { baseline, tree, isSensitive } = managed
  if (switches.length > 0 || !baseline || !tree) return { problems: switches, remarks: [] }
  let object = without(incoming, [MODE, RECONCILE_PAUSED])
  for (const _attempt of OVERRIDES) {
    const decision = plan({ baseline, object, tree, isSensitive })
    if (decision.kind === 'enforce')
      return { problems: [], remarks: decision.remarks.filter(isChanged) }
    const problems = decision.kind === 'hold' ? decision.problems : []
    if (problems.some(isChanged)) return { problems: problems.filter(isChanged), remarks: [] }
    object = without(
      object,
      problems.map(({ annotation }) => annotation),
    )
  }
  return NONE
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

/** A sentence for each key under our prefix that this write adds and nobody reads, with the nearest that somebody does. */
export function unknownKeys(
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  isHco: boolean,
  optIns: readonly string[],
): readonly string[] {
  const known = [...OVERRIDES, MANAGED_BY, ...(isHco ? [...SETTINGS, ...optIns] : [])]
  return [...changed]
    .filter((key) => !known.includes(key) && annotationOf(incoming, key) !== undefined)
    .map((key) => `annotation ${key} means nothing here: did you mean ${closest(key, known)}?`)
}
