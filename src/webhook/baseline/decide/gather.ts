import { OVERRIDES } from '../../../shared/baseline/annotations.ts'
import type { Digest } from '../../../shared/baseline/asset-status.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Plan } from '../../../shared/engine/plan.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
import { judgeExcess, optInsOf } from './judge-annotations.ts'
import { changedAnnotations } from './overrides.ts'
import type { Fault } from './verdict.ts'

/** One write to a managed object. */
export interface Write {
  readonly incoming: KubeObject
  readonly old: KubeObject | undefined
  /** Where one of the two is too much to be judged only its names and our annotations are there. */
  readonly oversized?: { readonly incoming: boolean; readonly old: boolean }
}

/** What decisions depend on beside the write and the snapshot. */
export interface DecideOptions {
  /** What the flag says, after the HyperConverged and before the asset; undefined where it says nothing. */
  readonly enforcement: 'correct' | 'deny' | undefined
  readonly digest: Digest
}

/** All that one create or update is decided by. Both plans are made here, and nowhere again. */
export interface Gathered extends DecideOptions {
  readonly write: Write
  readonly snapshot: Snapshot
  /** The object as the annotations of the incoming one have it. */
  readonly managed: ManagedObject
  /** The annotations under our prefix that the write adds, changes or removes. */
  readonly changed: ReadonlySet<string>
  /** Set where there is too much in the annotations to look at them: nothing is planned then. */
  readonly excess: Fault | undefined
  /** The plan for the old object; that for the incoming one where the write changes nothing that is planned by. */
  readonly before: Plan | undefined
  /** The plan for the incoming object; undefined where there is no baseline or no schema to plan by. */
  readonly after: Plan | undefined
}

/** Gathers what a create or an update of an object that the snapshot knows is decided by. Pure, and in memory only. */
export function gather(
  write: Write,
  known: ManagedObject,
  snapshot: Snapshot,
  { enforcement, digest }: DecideOptions,
): Gathered {
  const { incoming, old } = write
  const changed = changedAnnotations(incoming, old)
  const common = { write, snapshot, changed, enforcement, digest }
  const excess = judgeExcess(write, known, () => optInsOf(snapshot))
  if (excess) return { ...common, excess, managed: known, before: undefined, after: undefined }
  const managed = snapshot.asAnnotated(known, incoming)
  const after = planFor(managed, incoming)
  const before = old && after && (planBefore(old, known, { managed, changed, snapshot }) ?? after)
  return { ...common, excess, managed, before, after }
}

function planFor({ status, tree, isSensitive }: ManagedObject, object: KubeObject) {
  if (status.kind !== 'active' || !tree) return undefined
  return plan({ baseline: status.baseline, tree, object, isSensitive })
}

function planBefore(
  old: KubeObject,
  known: ManagedObject,
  { managed, changed, snapshot }: Pick<Gathered, 'managed' | 'changed' | 'snapshot'>,
): Plan | undefined {
  if (changed.size === 0) return undefined
  const before = snapshot.asAnnotated(known, old)
  const isOther = before.status !== managed.status
  return isOther || OVERRIDES.some((key) => changed.has(key)) ? planFor(before, old) : undefined
}
