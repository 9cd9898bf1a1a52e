import { MODE, RECONCILE_PAUSED } from '../shared/engine/annotations.ts'
import { annotationOf, type KubeObject } from '../shared/engine/object.ts'
import type { Knowledge, ManagedObject } from './knowledge.ts'

/** What is to become of a deletion. */
export interface DeleteVerdict {
  readonly kind: 'allowed' | 'denied'
  readonly reason:
    | 'Garbage'
    | 'Unmanaged'
    | 'Paused'
    | 'Inactive'
    | 'Off'
    | 'HyperConverged'
    | 'Recreated'
    | 'Protected'
}

// What cleans up after somebody else's decision must never be in the way of it, or namespaces never end.
const CLEANERS = new Set([
  'system:serviceaccount:kube-system:namespace-controller',
  'system:serviceaccount:kube-system:generic-garbage-collector',
])

/** Judges the deletion of a managed object: only an active one whose loss reboots nodes or takes access away is refused. */
export function judgeDelete(
  old: KubeObject,
  username: string,
  managed: ManagedObject,
  { settings }: Knowledge,
): DeleteVerdict {
  const allow = (reason: DeleteVerdict['reason']): DeleteVerdict => ({ kind: 'allowed', reason })
  const { activation } = settings
  if (activation.kind === 'off' || activation.kind === 'observe') return allow('Off')
  if (CLEANERS.has(username) || old.metadata.deletionTimestamp) return allow('Garbage')
  if (managed.isHco) return allow('HyperConverged')
  if (managed.standing.kind !== 'active') return allow('Inactive')
  if (annotationOf(old, RECONCILE_PAUSED) === 'true') return allow('Paused')
  if (annotationOf(old, MODE) === 'unmanaged') return allow('Unmanaged')
  return managed.isAlwaysDenied ? { kind: 'denied', reason: 'Protected' } : allow('Recreated')
}
