import { accountUser, createIdentity } from '../engine/identity.ts'
import { PREFIX } from './annotations.ts'

/** The names of the baseline's own objects. */
export const BASELINE = createIdentity('baseline', PREFIX)

/**
 * Who cleans up after somebody else's decision, and must never be in the way of it, or namespaces never end. The
 * last one is all of them where the controller manager runs without accounts of their own.
 */
export const CLEANERS: readonly string[] = [
  accountUser('kube-system', 'namespace-controller'),
  accountUser('kube-system', 'generic-garbage-collector'),
  'system:kube-controller-manager',
]
