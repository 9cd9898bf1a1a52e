import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ReconcileDeps } from '../gather/ports.ts'
import type { Permission } from './disruption.ts'

/** Whether a change may be made now and, where its asset can disrupt nodes, what it does to them. */
export interface Allowance {
  readonly permission: Permission
  readonly disruption?: Classification
}

/** Asks whether the object may become `desired`, or go where that is undefined; `effectsOf` says what that does to nodes. */
export function allowanceFor(
  { disruption }: Asset,
  desired: KubeObject | undefined,
  effectsOf: () => Classification,
  { mayDisrupt }: ReconcileDeps,
): Allowance {
  if (disruption === 'none') return { permission: 'yes' }
  const effects = effectsOf()
  return { permission: mayDisrupt({ desired, ...effects }), disruption: effects }
}
