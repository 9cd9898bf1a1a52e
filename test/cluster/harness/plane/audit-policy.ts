/** Where the product lives in a test. */
export const NAMESPACE = 'autopilot-test'

const accountsIn = (namespace: string, system = 'virt-platform-autopilot') =>
  ['reconciler', 'webhook'].map((name) => `system:serviceaccount:${namespace}:${system}-${name}`)

/** The users that our processes are in the namespace of the tests. */
export const OUR_ACCOUNTS = accountsIn(NAMESPACE)

const policyOf = (...rules: readonly object[]) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [...rules, { level: 'None' }],
})

/** Makes the API server write down what our accounts in a namespace ask of it, once it is answered; other systems’ are in those that they are called after. */
export const auditIn = (namespace: string, ...systems: readonly string[]) =>
  policyOf({
    level: 'Metadata',
    users: [...accountsIn(namespace), ...systems.flatMap((name) => accountsIn(name, name))],
  })

/**
 * What an API server of tests writes down: all that our accounts, alice and gitops ask, and who else writes to what tests ask about.
 * One policy for all of them, so that they can share a control plane.
 */
export const AUDIT_POLICY = policyOf(
  // With its preconditions.
  {
    level: 'Request',
    verbs: ['delete'],
    resources: [{ group: '', resources: ['configmaps'] }],
  },
  { level: 'Metadata', users: [...OUR_ACCOUNTS, 'alice', 'gitops'] },
  {
    level: 'Metadata',
    verbs: ['create', 'update', 'patch', 'delete'],
    resources: [
      { group: '', resources: ['configmaps'] },
      { group: 'remediation.medik8s.io' },
      { group: 'machineconfiguration.openshift.io' },
    ],
  },
)
