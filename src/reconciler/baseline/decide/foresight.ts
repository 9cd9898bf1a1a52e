import { isForbidden } from '../../../shared/cluster/client.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import type { ReconcileDeps } from '../gather/ports.ts'
import type { Comparison } from './comparison.ts'
import { dryRun } from './dry-run.ts'
import type { Foresight } from './outcome.ts'
import { takenAway } from './taken-away.ts'

/** Finds out what healing would change; undefined where the server sees no difference. */
export async function foreseeHeal(
  found: Comparison,
  { object, settled }: ReconcileDeps,
): Promise<Foresight | undefined> {
  const { live, wanted, drifts } = found
  // Of an object whose fields are not released yet the server would take them away.
  if (found.isReleasing) return { drifts }
  const known = settled.foreseen(wanted, live)
  if (known) return known
  const answered = await unlessForbidden(dryRun(found, object))
  if (!answered.ok) return { drifts, unconfirmed: answered.why }
  const { answer, differs } = answered.value
  if (!differs) {
    settled.add(wanted, live)
    return undefined
  }
  const foresight = { drifts: [...drifts, ...takenAway(found, answer)] }
  settled.foresee(wanted, live, foresight)
  return foresight
}

/** Makes sure that the server would let the object be created. */
export async function foreseeCreation(
  desired: KubeObject,
  { object, settled }: ReconcileDeps,
): Promise<Foresight> {
  const known = settled.foreseen(desired, undefined)
  if (known) return known
  const answered = await unlessForbidden(object.apply(desired, { isDryRun: true }))
  if (!answered.ok) return { drifts: [], unconfirmed: answered.why }
  const foresight = { drifts: [] }
  settled.foresee(desired, undefined, foresight)
  return foresight
}

// Who may only look can still compare.
async function unlessForbidden<T>(work: Promise<T>) {
  try {
    return { ok: true, value: await work } as const
  } catch (error) {
    if (!isForbidden(error)) throw error
    return { ok: false, why: error.message } as const
  }
}
