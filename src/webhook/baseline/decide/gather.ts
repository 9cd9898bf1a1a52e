import { OVERRIDES } from '../../../shared/baseline/annotations.ts'
import { plan } from '../../../shared/baseline/planner.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
import type { DecideOptions, Gathered, Write } from './gathered.ts'
import { optInsOf } from './judge-annotations.ts'
import { changedAnnotations, judgeExcess } from './overrides.ts'

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
  const earlier = old && changed.size > 0 ? snapshot.asAnnotated(known, old) : managed
  const isOther = earlier.status !== managed.status || OVERRIDES.some((key) => changed.has(key))
  const before = (old && isOther && planFor(earlier, old)) || after
  return { ...common, excess, managed, before, after }
}

function planFor({ status, tree, isSensitive }: ManagedObject, object: KubeObject) {
  if (status.kind !== 'active' || !tree) return undefined
  return plan({ baseline: status.baseline, tree, object, isSensitive })
}
