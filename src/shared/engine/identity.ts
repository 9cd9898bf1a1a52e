/** What the product is called, and after it the baseline. */
export const PRODUCT = 'virt-platform-autopilot'
const BASELINE = 'baseline'

/** The names of one system's own objects, in its own namespace unless they are cluster-scoped. */
export interface Identity {
  /** What everything of the system is called after: the product, and for all systems but the baseline the system too. */
  readonly name: string
  /** Under which the system applies what it manages. */
  readonly fieldManager: string
  /** What every annotation and label of the system begins with. */
  readonly prefix: string
  readonly lease: string
  readonly stateConfigMap: string
  /** The Secret of the authority's key, which the webhook cannot read. */
  readonly authoritySecret: string
  readonly servingSecret: string
  readonly reconcilerAccount: string
  readonly webhookAccount: string
  /** The ClusterRole that the webhook configurations belong to, so that they go with an installation. */
  readonly reconcilerRole: string
  /** The name of both webhook configurations. */
  readonly webhookConfiguration: string
  /** What the name of every webhook in them ends with. */
  readonly webhookDomain: string
}

/** Derives all names from the system's name and the prefix of its annotations, such as `platform.kubevirt.io/`. */
export function createIdentity(system: string, prefix: string): Identity {
  const name = system === BASELINE ? PRODUCT : `${PRODUCT}-${system}`
  return {
    name,
    fieldManager: name,
    prefix,
    lease: `${name}.kubevirt.io`,
    stateConfigMap: `${name}-state`,
    authoritySecret: `${name}-webhook-ca`,
    servingSecret: `${name}-webhook-tls`,
    reconcilerAccount: `${name}-reconciler`,
    webhookAccount: `${name}-webhook`,
    reconcilerRole: `${name}-reconciler`,
    webhookConfiguration: name,
    webhookDomain: `.${prefix.replace(/\/$/, '')}`,
  }
}

/** A ServiceAccount of a namespace. */
export interface Account {
  readonly namespace: string
  readonly name: string
}

/** The user name under which a ServiceAccount's requests arrive. */
export const accountUser = (namespace: string, account: string) =>
  `system:serviceaccount:${namespace}:${account}`

/** Who cleans up after others, and must never be hindered, or namespaces never end; the last is all of them where they have no own accounts. */
export const CLEANERS: readonly string[] = [
  accountUser('kube-system', 'namespace-controller'),
  accountUser('kube-system', 'generic-garbage-collector'),
  'system:kube-controller-manager',
]
