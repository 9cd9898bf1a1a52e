import {
  APPROVAL_LENGTH,
  APPROVE,
  AUTOPILOT,
  DISABLED_RESOURCES,
  isApproval,
  PATCH,
} from '../../../shared/baseline/annotations.ts'
import {
  type Asset,
  isHyperConverged,
  isSensitive,
} from '../../../shared/baseline/catalog/catalog.ts'
import { PATCH_BLOCKED } from '../../../shared/baseline/planner.ts'
import { emptyOptIns, optInProblems, optIns } from '../../../shared/baseline/settings/opt-ins.ts'
import { tellHowAlone, tellOther } from '../../../shared/baseline/settings/other-autopilot.ts'
import { type Settings, unknownNames } from '../../../shared/baseline/settings/settings.ts'
import { formatValue } from '../../../shared/engine/format-value.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { type Problem, sentenceOf } from '../../../shared/engine/problem.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Gathered, Write } from './gathered.ts'
import {
  changedAnnotations,
  changedSwitchProblems,
  judgeExcess,
  judgeOverrides,
  unknownKeys,
} from './overrides.ts'
import { selectionChanges } from './selection-changes.ts'
import type { Fault } from './verdict.ts'

export interface JudgedAnnotations {
  /** The settings in force with this write. */
  readonly settings: Settings
  readonly fault: Fault | undefined
  /** What the writer should know, without being refused for it. */
  readonly notes: readonly string[]
}

/** Judges the annotations that a write adds, changes or removes, and no other. */
export function judgeAnnotations(gathered: Gathered): JudgedAnnotations {
  const { write, managed, snapshot, changed, excess } = gathered
  const { incoming } = write
  const { isHco, isSensitive } = managed
  // What is too much to be looked at is told, and not looked at.
  if (excess) {
    const stated = isHco && snapshot.readSettings(incoming.metadata.annotations ?? {})
    return { settings: (stated || snapshot).settings, fault: excess, notes: [] }
  }
  if (changed.size === 0) return { settings: snapshot.settings, fault: undefined, notes: [] }
  const overrides = judgeOverrides(gathered)
  const stated = isHco ? judgeSettings(incoming, changed, snapshot) : undefined
  const blockedPatch = blocked(incoming, changed, isSensitive)
  return {
    settings: stated?.settings ?? snapshot.settings,
    fault: faultOf(overrides.problems, stated?.problems ?? [], blockedPatch),
    notes: [
      ...overrides.remarks.map(sentenceOf),
      ...unknownKeys(incoming, changed, isHco, optInsOf(snapshot)),
      ...(stated?.notes ?? []),
    ],
  }
}

/** What can be wrong with the overrides of a write before anything is known but the catalog. */
export function judgeUninformed(write: Write, asset: Asset): Fault | undefined {
  const known = { isSensitive: isSensitive(asset), isHco: isHyperConverged(asset) }
  const excess = judgeExcess(write, known, () => [])
  if (excess) return excess
  const { incoming, old } = write
  const changed = changedAnnotations(incoming, old)
  const problems = changedSwitchProblems(incoming, changed)
  return faultOf(problems, [], blocked(incoming, changed, known.isSensitive))
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
  isPatchless: boolean,
): readonly Problem[] =>
  isPatchless && changed.has(PATCH) && annotationOf(incoming, PATCH) !== undefined
    ? [PATCH_BLOCKED]
    : []

// The settings that name assets.
const NAMING = [AUTOPILOT, DISABLED_RESOURCES]

function judgeSettings(hco: KubeObject, changed: ReadonlySet<string>, snapshot: Snapshot) {
  const { annotations = {} } = hco.metadata
  const { settings: before, all } = snapshot
  const catalog = all.map(({ asset }) => asset)
  const stated = snapshot.readSettings(annotations)
  const problems = [...stated.problems, ...optInProblems(catalog, annotations)].filter(
    ({ annotation }) => changed.has(annotation),
  )
  const empty = emptyOptIns(catalog, annotations).filter(({ key }) => changed.has(key))
  const isWaking = changed.has(AUTOPILOT) && snapshot.wakesOther(annotations)
  const isNaming = NAMING.some((key) => changed.has(key))
  return {
    // A setting that is refused is not what the refusal is decided by.
    settings: problems.length > 0 ? before : stated.settings,
    problems,
    notes: [
      ...(isWaking ? [tellOther(hco), tellHowAlone(hco)] : []),
      ...(isNaming ? unknownNames(stated.settings, catalog) : []),
      ...(isNaming ? selectionChanges(before, stated.settings, snapshot) : []),
      ...empty.map(({ note }) => note),
      ...(changed.has(APPROVE) ? impossibleApproval(annotations[APPROVE]) : []),
    ],
  }
}

// Whether a digest is that of the set that waits the leader tells, who alone knows it.
const impossibleApproval = (stated: string | undefined): readonly string[] =>
  stated === undefined || isApproval(stated)
    ? []
    : [
        `${APPROVE} ${formatValue('', stated)} approves nothing: it takes the digest that the event DisruptionPending names, ${APPROVAL_LENGTH} of 0-9 and a-f`,
      ]

/** The annotations by which the catalog's assets are asked for. */
export const optInsOf = ({ all }: Snapshot) => [...optIns(all.map(({ asset }) => asset)).keys()]
