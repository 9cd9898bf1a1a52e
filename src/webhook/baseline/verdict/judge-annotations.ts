import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  OVERRIDES,
  PATCH,
} from '../../../shared/baseline/annotations.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import { isHyperConverged, isSensitive } from '../../../shared/baseline/catalog/catalog.ts'
import { PATCH_BLOCKED } from '../../../shared/baseline/planner.ts'
import { emptyOptIns, optInProblems, optIns } from '../../../shared/baseline/settings/opt-ins.ts'
import { tellHowAlone, tellOther } from '../../../shared/baseline/settings/other-autopilot.ts'
import { type Settings, unknownNames } from '../../../shared/baseline/settings/settings.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { type Problem, sentenceOf } from '../../../shared/engine/problem.ts'
import type { Knowledge, ManagedObject } from '../knowledge.ts'
import { keptChanges } from './kept-changes.ts'
import {
  changedAnnotations,
  excessiveAnnotations,
  judgeOverrides,
  knownKeys,
  type OverrideTarget,
  unknownKeys,
} from './overrides.ts'

/** One write to a managed object. */
export interface Write {
  readonly incoming: KubeObject
  readonly old: KubeObject | undefined
  /** Where one of the two is too much to be judged only its names and our annotations are there. */
  readonly oversized?: { readonly incoming: boolean; readonly old: boolean }
}

/** Why a write is refused for its annotations. */
export interface Fault {
  readonly reason: 'InvalidOverride' | 'PatchBlocked' | 'InvalidSetting'
  readonly problems: readonly Problem[]
}

export interface JudgedAnnotations {
  /** The settings in force with this write. */
  readonly settings: Settings
  readonly fault: Fault | undefined
  /** What the writer should know, without being refused for it. */
  readonly notes: readonly string[]
}

/** What is too long or too many to be looked at among the annotations of a write; to be asked before anything else is. */
export function judgeExcess(
  { incoming, old }: Write,
  { isSensitive: isPatchless, isHco }: Pick<ManagedObject, 'isSensitive' | 'isHco'>,
  optInKeys: () => readonly string[],
): Fault | undefined {
  // A patch on a sensitive kind is refused unread.
  const isRead = (key: string) =>
    !(isPatchless && key === PATCH) && knownKeys(isHco, optInKeys()).includes(key)
  const problems = excessiveAnnotations(incoming, old, isRead)
  if (problems.length === 0) return undefined
  const isOverride = problems.some(({ annotation }) => OVERRIDES.some((key) => key === annotation))
  return { reason: isOverride ? 'InvalidOverride' : 'InvalidSetting', problems }
}

/** Judges the annotations that a write adds, changes or removes, and no other. */
export function judgeAnnotations(
  { incoming, old }: Write,
  managed: ManagedObject,
  knowledge: Knowledge,
): JudgedAnnotations {
  const changed = changedAnnotations(incoming, old)
  if (changed.size === 0) return { settings: knowledge.settings, fault: undefined, notes: [] }
  const { status, isHco, tree } = managed
  const baseline = status.kind === 'active' ? status.baseline : undefined
  const target = { baseline, tree, isSensitive: managed.isSensitive }
  const overrides = judgeOverrides(incoming, old, changed, target)
  const stated = isHco ? judgeSettings(incoming, changed, knowledge) : undefined
  return {
    settings: stated?.settings ?? knowledge.settings,
    fault: faultOf(overrides.problems, stated?.problems ?? [], blocked(incoming, changed, target)),
    notes: [
      ...overrides.remarks.map(sentenceOf),
      ...unknownKeys(incoming, changed, isHco, optInsOf(knowledge)),
      ...(stated?.notes ?? []),
    ],
  }
}

/** What can be wrong with the overrides of a write before anything is known but the catalog. */
export function judgeUninformed(write: Write, asset: Asset): Fault | undefined {
  const target = { baseline: undefined, tree: undefined, isSensitive: isSensitive(asset) }
  const excess = judgeExcess(write, { ...target, isHco: isHyperConverged(asset) }, () => [])
  if (excess) return excess
  const { incoming, old } = write
  const changed = changedAnnotations(incoming, old)
  const { problems } = judgeOverrides(incoming, old, changed, target)
  return faultOf(problems, [], blocked(incoming, changed, target))
}

function faultOf(
  overrides: readonly Problem[],
  settings: readonly Problem[],
  blockedPatch: readonly Problem[],
): Fault | undefined {
  if (overrides.length > 0) {
    return { reason: 'InvalidOverride', problems: [...overrides, ...settings] }
  }
  if (settings.length > 0) return { reason: 'InvalidSetting', problems: settings }
  return blockedPatch.length > 0 ? { reason: 'PatchBlocked', problems: blockedPatch } : undefined
}

const blocked = (
  incoming: KubeObject,
  changed: ReadonlySet<string>,
  target: OverrideTarget,
): readonly Problem[] =>
  target.isSensitive && changed.has(PATCH) && annotationOf(incoming, PATCH) !== undefined
    ? [PATCH_BLOCKED]
    : []

// The settings that name assets.
const NAMING = [AUTOPILOT, DISABLED_RESOURCES]

function judgeSettings(hco: KubeObject, changed: ReadonlySet<string>, knowledge: Knowledge) {
  const { annotations = {} } = hco.metadata
  const { settings: before, all } = knowledge
  const catalog = all.map(({ asset }) => asset)
  const stated = knowledge.readSettings(annotations)
  const problems = [...stated.problems, ...optInProblems(catalog, annotations)].filter(
    ({ annotation }) => changed.has(annotation),
  )
  const empty = emptyOptIns(catalog, annotations).filter(({ key }) => changed.has(key))
  const isWaking = changed.has(AUTOPILOT) && knowledge.wakesOther(annotations)
  const isNaming = NAMING.some((key) => changed.has(key))
  return {
    // A setting that is refused is not what the refusal is decided by.
    settings: problems.length > 0 ? before : stated.settings,
    problems,
    notes: [
      ...(isWaking ? [tellOther(hco), tellHowAlone(hco)] : []),
      ...(isNaming ? unknownNames(stated.settings, catalog) : []),
      ...(isNaming ? keptChanges(before, stated.settings, knowledge) : []),
      ...empty.map(({ note }) => note),
    ],
  }
}

/** The annotations by which the catalog's assets are asked for. */
export const optInsOf = ({ all }: Knowledge) => [...optIns(all.map(({ asset }) => asset)).keys()]
