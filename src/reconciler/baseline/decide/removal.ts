import {
  FIELD_MANAGER,
  MANAGED_BY,
  MODE,
  RECONCILE_PAUSED,
} from '../../../shared/baseline/annotations.ts'
import { switchProblems } from '../../../shared/baseline/planner.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import type { ReconcileDeps } from '../gather/ports.ts'
import type { Situation } from '../gather/situation.ts'
import { allowanceFor } from './allowance.ts'
import { isOurs } from './ours.ts'
import type { Outcome } from './outcome.ts'

/** Finalizers that take longer, in milliseconds, are not at work but in the way. */
export const STUCK_MS = 30_000

/** Deletes an object that we used to manage, unless somebody else has a claim on it. */
export async function remove(
  { asset, status, live, isObserving, now }: Situation,
  deps: ReconcileDeps,
): Promise<Outcome> {
  if (!live) return { kind: 'removed' }
  const claim = claimOn(live)
  if (claim) return { kind: 'skipped', ...claim }
  // Somebody meant to keep it, and made a mistake.
  const problems = switchProblems(live)
  if (problems.length > 0) return { kind: 'held', problems }
  if (live.metadata.deletionTimestamp) return ending(live, live.metadata.deletionTimestamp, now)
  const effects = () => deps.classify({ live, desired: undefined })
  const { permission, ...disruption } = allowanceFor(asset, undefined, effects, deps)
  if (permission !== 'yes') return { kind: 'condemned', reason: permission, ...disruption }
  if (isObserving) return { kind: 'condemned', reason: 'Observing', ...disruption }
  const deletion = await deps.object.remove(live)
  if (deletion === 'ending') return { kind: 'skipped', reason: 'Deleting' }
  if (deletion !== 'deleted') return { kind: 'removed' }
  const isSuperseded = status.kind === 'inactive' && status.reason === 'Superseded'
  return { kind: 'removed', was: live, ...(isSuperseded && { why: status.message }) }
}

/** Why the object is not ours to delete; undefined where it is. */
function claimOn(live: KubeObject) {
  if (!isOurs(live)) {
    const message = `it does not bear the label ${MANAGED_BY}=${FIELD_MANAGER}: it is somebody else's`
    return { reason: 'NotOurs', message } as const
  }
  if (annotationOf(live, MODE) === 'unmanaged') return { reason: 'Unmanaged' } as const
  return annotationOf(live, RECONCILE_PAUSED) === 'true'
    ? ({ reason: 'Paused' } as const)
    : undefined
}

function ending({ metadata }: KubeObject, since: string, now: number): Outcome {
  const finalizers = Array.isArray(metadata.finalizers) ? metadata.finalizers.map(String) : []
  return now - Date.parse(since) < STUCK_MS
    ? { kind: 'skipped', reason: 'Deleting' }
    : { kind: 'stuck', since, finalizers }
}
