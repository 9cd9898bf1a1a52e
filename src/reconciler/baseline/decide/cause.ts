import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  RECONCILE_PAUSED,
} from '../../../shared/baseline/annotations.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import { type Drift, drift } from '../../../shared/engine/merge/merge.ts'
import type { MergeTree } from '../../../shared/engine/merge/merge-tree.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { Comparison } from './comparison.ts'
import { type AssetInput, isManagedByUs } from './decision.ts'
import type { AssetMemory, Grounds } from './memory.ts'
import type { Outcome } from './outcome.ts'

/** Why an object is changed: it was not ours, its baseline is another one, its patch or its annotations ask for it, or somebody moved it. */
export type Cause = 'adoption' | 'baseline' | 'patch' | 'annotations' | 'drift'

type Considered = Pick<AssetInput, 'status' | 'memory'> & {
  readonly tree: MergeTree
  readonly plan: Enforcement
}

/** Why the object that was found is to become what is planned. */
export function causeOf(input: Considered, found: Comparison): Cause {
  const { status, memory, plan } = input
  const { live } = found
  if (!isManagedByUs(live)) return 'adoption'
  const { baseline, overrides } = memory.grounds ?? {}
  if (baseline !== undefined && status.kind === 'active' && baseline !== status.digest)
    return 'baseline'
  if (!overrides) return guessed(input, found, baseline !== undefined)
  if (isPatchNew(live, plan, memory.grounds)) return 'patch'
  return isEqual(overrides, overridesOf(live)) ? 'drift' : 'annotations'
}

/** Why, where nobody remembers the overrides: what has the baseline's value was never patched, what our last apply still owns nobody moved. */
function guessed(
  { status, plan, tree }: Considered,
  { live, drifts, isDisowned }: Comparison,
  isBaselineKnown: boolean,
): Cause {
  if (plan.isPatched && drifts.length > 0 && status.kind === 'active') {
    const off = new Set(drift(tree, live, status.baseline).map(({ pointer }) => pointer))
    if (!drifts.some(({ pointer }) => off.has(pointer))) return 'patch'
  }
  if (isDisowned && drifts.length > 0) return 'drift'
  return isBaselineKnown ? 'annotations' : 'baseline'
}

/** Whether the object's patch is in force since now, and was not when the object was looked at last. */
export const isPatchNew = (
  live: KubeObject,
  { isPatched }: Enforcement,
  grounds: Grounds | undefined,
): boolean =>
  isPatched &&
  grounds?.overrides !== undefined &&
  grounds.overrides.patch !== annotationOf(live, PATCH)

const overridesOf = (object: KubeObject | undefined): NonNullable<Grounds['overrides']> => ({
  patch: annotationOf(object, PATCH),
  others: JSON.stringify(OTHERS.map((key) => annotationOf(object, key) ?? null)),
})

const OTHERS = [IGNORE_FIELDS, MODE, RECONCILE_PAUSED]

/** The memory with what an object is kept by now, or was let go by; as before where that is still to come. */
export function withGrounds(
  memory: AssetMemory,
  outcome: Outcome,
  { status, live }: Pick<AssetInput, 'status' | 'live'>,
): AssetMemory {
  const overrides = overridesOf(live)
  if (IN_FORCE.has(outcome.kind) && status.kind === 'active')
    return { ...memory, grounds: { baseline: status.digest, overrides } }
  const isLetGo = outcome.kind === 'skipped' && LET_GO.has(outcome.reason)
  return isLetGo ? { ...memory, grounds: { ...memory.grounds, overrides } } : memory
}

const IN_FORCE: ReadonlySet<string> = new Set(['unchanged', 'created', 'configured'])
const LET_GO: ReadonlySet<string> = new Set(['Unmanaged', 'Paused'])

/** What a patch makes of the baseline, field by field. */
export function changesBy(
  tree: MergeTree,
  baseline: KubeObject,
  { desired, released }: Enforcement,
): readonly Drift[] {
  const set = drift(tree, baseline, desired)
  // What ignore-fields releases is not desired either, without being the patch's.
  if (released.length > 0) return set
  const removed = drift(tree, desired, baseline)
    .filter(({ kind }) => kind === 'missing')
    .map((gone) => ({ ...gone, found: gone.wanted, wanted: undefined }))
  return [...set, ...removed]
}
