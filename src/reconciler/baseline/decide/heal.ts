import { FIELD_MANAGER } from '../../../shared/baseline/annotations.ts'
import { managersOf } from '../../../shared/engine/merge/ownership.ts'
import type { Enforcement } from '../../../shared/engine/plan.ts'
import type { ReconcileDeps } from '../gather/ports.ts'
import type { Situation } from '../gather/situation.ts'
import { allowanceFor } from './allowance.ts'
import { type Comparison, effectsOf } from './comparison.ts'
import { dryRun, withPreconditions } from './dry-run.ts'
import { foreseeHeal } from './foresight.ts'
import { isOurs } from './ours.ts'
import type { Outcome } from './outcome.ts'

/** Puts drift back, or says why not; undefined where the server sees no difference. */
export async function heal(
  { asset, isObserving }: Situation,
  found: Comparison,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome | undefined> {
  const { live, wanted, drifts } = found
  if (deps.settled.has(wanted, live)) return undefined
  const effects = () => effectsOf(found, deps)
  const { permission, ...disruption } = allowanceFor(asset, decision.desired, effects, deps)
  const pending = { kind: 'pending', plan: decision, isCreation: false, ...disruption } as const
  if (permission !== 'yes') return { ...pending, reason: permission, drifts }
  if (isObserving) {
    const foresight = await foreseeHeal(found, deps)
    return foresight && { ...pending, reason: 'Observing', ...foresight }
  }
  return (await throttle(found, decision, deps)) ?? configure(found, decision, deps)
}

/** What becomes of a heal that is one too many; undefined where it may be made. */
async function throttle(
  { live, drifts }: Comparison,
  decision: Enforcement,
  { heals, object }: ReconcileDeps,
): Promise<Outcome | undefined> {
  const permit = heals.permit(decision.desired, true)
  if (permit === 'go') return undefined
  const rivals = managersOf(
    live,
    drifts.map(({ path }) => path),
    FIELD_MANAGER,
  )
  const throttled = { kind: 'throttled', plan: decision, drifts, rivals } as const
  return permit === 'pause' ? { ...throttled, object: await object.pause() } : throttled
}

/** Applies desired where the server, too, sees a difference. */
async function configure(
  found: Comparison,
  decision: Enforcement,
  deps: ReconcileDeps,
): Promise<Outcome | undefined> {
  const { live, wanted, drifts, outgrown } = found
  if (!(await dryRun(found, deps.object)).differs) {
    deps.settled.add(wanted, live)
    if (outgrown.length > 0) await claim(found, deps)
    return undefined
  }
  const object = await deps.object.apply(withPreconditions(wanted, live), { isDryRun: false })
  deps.settled.add(wanted, object)
  deps.settled.claim(wanted, object)
  deps.heals.spend(decision.desired)
  return { kind: 'configured', plan: decision, object, drifts, isAdopted: !isOurs(live) }
}

/** Takes back, or gives up, the ownership of fields whose values are as desired. */
export async function claim(
  { live, wanted }: Comparison,
  { object, settled }: ReconcileDeps,
): Promise<void> {
  const claimed = await object.apply(withPreconditions(wanted, live), { isDryRun: false })
  settled.add(wanted, claimed)
  settled.claim(wanted, claimed)
}
