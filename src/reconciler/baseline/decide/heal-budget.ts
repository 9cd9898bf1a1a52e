import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  type HealLimits,
  type HealMemory,
  type Permit,
  permitHeal,
  postponePause,
  spendHeal,
} from '../../../shared/engine/throttle.ts'
import { sha256 } from '../../../shared/ops/digest.ts'

/** The heals of one object, counted so that a war over it ends in a pause. */
export interface HealBudget {
  /** Of what the object was last brought to; only bringing it there again is a heal. */
  readonly digest: string
  readonly memory: HealMemory | undefined
}

/** What a budget is judged by. */
export interface HealTime {
  readonly healLimits: HealLimits
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: number
}

/** Whether the object may be brought to this state now, and what is left; one that is not there cannot be paused. */
export function permitIn(
  budget: HealBudget | undefined,
  desired: KubeObject,
  isThere: boolean,
  { healLimits, uptime }: HealTime,
): { readonly permit: Permit['kind']; readonly budget: HealBudget | undefined } {
  if (budget?.digest !== digestOf(desired)) return { permit: 'go', budget }
  const { kind, memory } = permitHeal(budget.memory, healLimits, uptime)
  if (kind !== 'pause' || isThere) return { permit: kind, budget: { ...budget, memory } }
  const postponed = postponePause(memory, healLimits, uptime)
  return { permit: 'wait', budget: { ...budget, memory: postponed } }
}

/** The budget once the object was brought to this state. */
export function spentOn(
  desired: KubeObject,
  budget: HealBudget | undefined,
  { healLimits, uptime }: HealTime,
): HealBudget {
  const digest = digestOf(desired)
  const isHeal = budget?.digest === digest
  const memory = isHeal ? spendHeal(budget.memory, healLimits, uptime) : budget?.memory
  return { digest, memory }
}

/** For how many milliseconds the object is left alone. */
export const waitMs = (budget: HealBudget | undefined, uptime: number) =>
  Math.max(0, (budget?.memory?.until ?? 0) - uptime)

const digestOf = (desired: KubeObject) => sha256(canonicalJson(desired))
