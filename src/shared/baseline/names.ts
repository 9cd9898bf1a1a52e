import { accountUser, createIdentity } from '../engine/identity.ts'
import { PREFIX } from '../engine/overrides/annotations.ts'

/** The names of the baseline's own objects. */
export const BASELINE = createIdentity('baseline', PREFIX)
export const PRODUCT = BASELINE.name
export const RECONCILER_ACCOUNT = BASELINE.reconcilerAccount
export const WEBHOOK_ACCOUNT = BASELINE.webhookAccount
export const STATE_CONFIG_MAP = BASELINE.stateConfigMap
export const AUTHORITY_SECRET = BASELINE.authoritySecret
export const SERVING_SECRET = BASELINE.servingSecret
export const WEBHOOK_CONFIGURATION = BASELINE.webhookConfiguration
export const RECONCILER_ROLE = BASELINE.reconcilerRole
export const LEASE = BASELINE.lease

/**
 * Who cleans up after somebody else's decision, and must never be in the way of it, or namespaces never end. The
 * last one is all of them where the controller manager runs without accounts of their own.
 */
export const CLEANERS: readonly string[] = [
  accountUser('kube-system', 'namespace-controller'),
  accountUser('kube-system', 'generic-garbage-collector'),
  'system:kube-controller-manager',
]
