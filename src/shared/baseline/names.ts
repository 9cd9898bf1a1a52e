/** Names of the product's own objects, in its own namespace unless they are cluster-scoped. */
export const PRODUCT = 'virt-platform-autopilot'
export const RECONCILER_ACCOUNT = `${PRODUCT}-reconciler`
export const WEBHOOK_ACCOUNT = `${PRODUCT}-webhook`
export const STATE_CONFIG_MAP = `${PRODUCT}-state`
export const AUTHORITY_SECRET = `${PRODUCT}-webhook-ca`
export const SERVING_SECRET = `${PRODUCT}-webhook-tls`
/** @alias both webhook configurations bear the product's name */
export const WEBHOOK_CONFIGURATION = PRODUCT
/** The ClusterRole that the chart owns and that the webhook configurations belong to. */
export const RECONCILER_ROLE = `${PRODUCT}-reconciler`
export const LEASE = `${PRODUCT}.kubevirt.io`

/** The user name under which a ServiceAccount's requests arrive. */
export const accountUser = (namespace: string, account: string) =>
  `system:serviceaccount:${namespace}:${account}`

/**
 * Who cleans up after somebody else's decision, and must never be in the way of it, or namespaces never end. The
 * last one is all of them where the controller manager runs without accounts of their own.
 */
export const CLEANERS: readonly string[] = [
  accountUser('kube-system', 'namespace-controller'),
  accountUser('kube-system', 'generic-garbage-collector'),
  'system:kube-controller-manager',
]
