import { accountUser, createIdentity } from '../engine/identity.ts'
import { PREFIX } from './annotations.ts'

/** The names of the baseline's own objects. */
export const BASELINE = createIdentity('baseline', PREFIX)

/** Who cleans up after others, and must never be hindered, or namespaces never end; the last is all of them where they have no own accounts. */
export const CLEANERS: readonly string[] = [
  accountUser('kube-system', 'namespace-controller'),
  accountUser('kube-system', 'generic-garbage-collector'),
  'system:kube-controller-manager',
]
