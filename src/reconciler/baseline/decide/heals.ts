import type { Digest } from '../../../shared/baseline/asset-status.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  type HealLimits,
  type HealMemory,
  permitHeal,
  postponePause,
  spendHeal,
} from '../../../shared/engine/throttle.ts'
import type { HealPort } from '../gather/ports.ts'

interface Known {
  /** Of what the object was last brought to; only bringing it there again is a heal. */
  readonly digest: string
  readonly memory: HealMemory | undefined
}

/** Counts the heals of each asset's object, so that a war over it ends in a pause. */
export class Heals {
  readonly #limits: HealLimits
  readonly #digest: Digest
  readonly #now: () => number
  readonly #known = new Map<string, Known>()

  /** `now` is a clock in milliseconds that never goes back. */
  constructor(limits: HealLimits, digest: Digest, now: () => number) {
    this.#limits = limits
    this.#digest = digest
    this.#now = now
  }

  /** The heals of one asset's object. */
  of(asset: string): HealPort {
    return {
      permit: (desired, isThere) => this.permit(asset, desired, isThere),
      spend: (desired) => this.spend(asset, desired),
    }
  }

  /** Whether the object may be brought to this state now; one that is not there cannot be paused. */
  permit(asset: string, desired: KubeObject, isThere: boolean): 'go' | 'wait' | 'pause' {
    const known = this.#known.get(asset)
    if (known?.digest !== this.#digestOf(desired)) return 'go'
    const permit = permitHeal(known.memory, this.#limits, this.#now())
    const isVain = permit.kind === 'pause' && !isThere
    const memory = isVain ? postponePause(permit.memory, this.#limits, this.#now()) : permit.memory
    this.#known.set(asset, { ...known, memory })
    return isVain ? 'wait' : permit.kind
  }

  /** Records that it was. */
  spend(asset: string, desired: KubeObject): void {
    const digest = this.#digestOf(desired)
    const known = this.#known.get(asset)
    const isHeal = known?.digest === digest
    const memory = isHeal ? spendHeal(known.memory, this.#limits, this.#now()) : known?.memory
    this.#known.set(asset, { digest, memory })
  }

  /** For how many milliseconds the object is left alone. */
  waitMs(asset: string): number {
    return Math.max(0, (this.#known.get(asset)?.memory?.until ?? 0) - this.#now())
  }

  /** Forgets the war over an object: management was paused, and begins anew when that is lifted. */
  forget(asset: string): void {
    const known = this.#known.get(asset)
    if (known) this.#known.set(asset, { ...known, memory: undefined })
  }

  #digestOf(desired: KubeObject): string {
    return this.#digest(canonicalJson(desired))
  }
}
