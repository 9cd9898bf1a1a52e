import type { Digest } from '../../../shared/baseline/asset-status.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { Plan } from '../../../shared/engine/plan.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'
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
