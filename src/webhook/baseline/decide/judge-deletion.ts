import { MODE, RECONCILE_PAUSED } from '../../../shared/baseline/annotations.ts'
import { CLEANERS } from '../../../shared/engine/identity.ts'
import { annotationOf, type KubeObject } from '../../../shared/engine/json/object.ts'
import type { ManagedObject, Snapshot } from '../snapshot.ts'

/** What is to become of a deletion. */
export interface DeletionVerdict {
  readonly kind: 'allowed' | 'denied'
  readonly reason:
    | 'Garbage'
    | 'Unmanaged'
    | 'Paused'
    | 'Inactive'
    | 'Disagreement'
    | 'Off'
    | 'Observing'
    | 'HyperConverged'
    | 'NoHyperConverged'
    | 'NotCreated'
    | 'Recreated'
    | 'Protected'
}

/** Judges the deletion of a managed object: only an active one whose loss reboots nodes or takes access away is refused. */
export function judgeDeletion(
  old: KubeObject,
  username: string,
  managed: ManagedObject,
  snapshot: Snapshot,
): DeletionVerdict {
  const reason = whyNotKept(managed, snapshot) ?? whyLetGo(old, username)
  if (reason) return { kind: 'allowed', reason }
  return managed.isAlwaysDenied
    ? { kind: 'denied', reason: 'Protected' }
    : { kind: 'allowed', reason: 'Recreated' }
}

function whyNotKept(
  { asset, isHco, status, isAgreed }: ManagedObject,
  { settings: { activation }, hasHyperConverged }: Snapshot,
): DeletionVerdict['reason'] | undefined {
  if (activation.kind === 'off') return 'Off'
  if (activation.kind === 'observe') return 'Observing'
  if (isHco) return 'HyperConverged'
  if (!hasHyperConverged) return 'NoHyperConverged'
  if (status.kind !== 'active') return 'Inactive'
  if (!asset.create) return 'NotCreated'
  // The leader may not want the object at all.
  return isAgreed ? undefined : 'Disagreement'
}

function whyLetGo(old: KubeObject, username: string): DeletionVerdict['reason'] | undefined {
  if (CLEANERS.includes(username) || old.metadata.deletionTimestamp) return 'Garbage'
  if (annotationOf(old, RECONCILE_PAUSED) === 'true') return 'Paused'
  return annotationOf(old, MODE) === 'unmanaged' ? 'Unmanaged' : undefined
}
