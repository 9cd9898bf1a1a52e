import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { Deletion } from '../../../shared/cluster/resource.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { DisruptiveChange, Permission } from '../decide/disruption.ts'
import type { Settled } from '../decide/settled.ts'

/** The writes and reads that reconciling needs, all on the asset's own object. */
export interface ObjectPort {
  readonly read: () => Promise<KubeObject | undefined>
  readonly apply: (object: KubeObject, options: { isDryRun: boolean }) => Promise<KubeObject>
  readonly patch: (operations: readonly object[]) => Promise<KubeObject>
  /** Annotates the object as paused. */
  readonly pause: () => Promise<KubeObject>
  /** Deletes the object, if it still is in this very state. */
  readonly remove: (live: KubeObject) => Promise<Deletion>
}

/** Whether an object may be healed to this state now, or somebody fights over it. */
export interface HealPort {
  readonly permit: (desired: KubeObject, isThere: boolean) => 'go' | 'wait' | 'pause'
  /** Records that the object was brought to this state. */
  readonly spend: (desired: KubeObject) => void
}

export interface ReconcileDeps {
  readonly object: ObjectPort
  /** What a change does to the nodes. */
  readonly classify: (change: Change) => Classification
  /** Whether a change of a disruptive asset may be made now. */
  readonly mayDisrupt: (change: DisruptiveChange) => Permission
  readonly heals: HealPort
  /** Remembers what the server has already said to be no difference. */
  readonly settled: Settled
}

/** Whole objects, before and after; undefined where there is none. */
export interface Change {
  readonly live: KubeObject | undefined
  readonly desired: KubeObject | undefined
}
