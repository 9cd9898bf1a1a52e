import { definitionName } from '../api/custom-resource.ts'
import { account, type Rule, roleFor, rule } from '../api/roles.ts'
import type { KubeObject } from '../engine/json/object.ts'
import { DEFAULT_ACCOUNT, GRAPH, GROUP } from './names.ts'
import { POLICIES } from './platform-policies.ts'
import { RESOURCE_GRAPH } from './resource-graph.ts'
import { TRANSFORM } from './transform.ts'

const FOLLOW = ['list', 'watch']
const APPLY = ['create', 'patch']
const READ = ['get', ...FOLLOW]

/** The reconciler's account and its roles: over the two kinds, and over nothing that a graph holds. */
export const reconcilerAccount = (namespace: string): readonly KubeObject[] =>
  account(
    GRAPH.reconcilerAccount,
    namespace,
    GRAPH.reconcilerRole,
    [
      rule(GROUP, [TRANSFORM.plural], [...READ, 'patch']),
      rule(GROUP, [RESOURCE_GRAPH.plural], [...READ, ...APPLY, 'delete']),
      rule(
        GROUP,
        [TRANSFORM, RESOURCE_GRAPH].map(({ plural }) => `${plural}/status`),
        ['patch'],
      ),
      // Where the API server asks who may hold an owner up: OwnerReferencesPermissionEnforcement.
      rule(GROUP, [`${TRANSFORM.plural}/finalizers`], ['update']),
      rule(
        'apiextensions.k8s.io',
        ['customresourcedefinitions'],
        ['get'],
        [TRANSFORM, RESOURCE_GRAPH].map(definitionName),
      ),
      rule('', ['namespaces'], ['get']),
      rule('events.k8s.io', ['events'], ['create']),
      rule(
        'admissionregistration.k8s.io',
        ['validatingwebhookconfigurations'],
        [...READ, ...APPLY],
        [GRAPH.webhookConfiguration],
      ),
      rule('rbac.authorization.k8s.io', ['clusterroles'], ['get'], [GRAPH.reconcilerRole]),
    ],
    [
      rule('coordination.k8s.io', ['leases'], ['get', ...APPLY, 'update'], [GRAPH.lease]),
      rule('', ['configmaps'], [...READ, ...APPLY], [GRAPH.stateConfigMap]),
      rule('', ['configmaps'], FOLLOW, [POLICIES]),
      rule('', ['secrets'], [...READ, ...APPLY], [GRAPH.authoritySecret, GRAPH.servingSecret]),
    ],
  )

/** Who may edit a namespace may write Transforms there, and who may view it may read them: Kubernetes adds these to its own roles. */
export const userRoles = (): readonly KubeObject[] => [
  aggregated('edit', [
    rule(GROUP, [TRANSFORM.plural], [...READ, ...APPLY, 'update', 'delete', 'deletecollection']),
  ]),
  aggregated('view', [rule(GROUP, [TRANSFORM.plural, RESOURCE_GRAPH.plural], READ)]),
]

// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
const aggregated = (to: 'edit' | 'view', rules: readonly Rule[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: {
    name: `${GRAPH.name}-${to}`,
    labels: { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' },
  },
  rules,
})

/** The webhook's account and its roles: it reads ResourceGraphs, which hold whole objects, and its own certificate. */
export const webhookAccount = (namespace: string): readonly KubeObject[] =>
  account(
    GRAPH.webhookAccount,
    namespace,
    GRAPH.webhookAccount,
    [rule(GROUP, [RESOURCE_GRAPH.plural], FOLLOW)],
    [
      rule('', ['secrets'], FOLLOW, [GRAPH.servingSecret]),
      rule('', ['configmaps'], FOLLOW, [POLICIES]),
    ],
  )

// Not every verb: one of them is to act as an account.
const KEEP = [...READ, ...APPLY, 'delete']
/** What an enrolled namespace's account may do: what the shipped modules make, and what is common beside it. */
const ACCOUNT_RULES = [
  rule('', ['configmaps', 'services', 'serviceaccounts', 'persistentvolumeclaims'], KEEP),
  rule('apps', ['deployments', 'statefulsets', 'daemonsets'], KEEP),
  rule('batch', ['jobs', 'cronjobs'], KEEP),
  rule('autoscaling', ['horizontalpodautoscalers'], KEEP),
  rule('networking.k8s.io', ['ingresses', 'networkpolicies'], KEEP),
  rule('policy', ['poddisruptionbudgets'], KEEP),
]

/** Namespaces that nobody enrols: their accounts have more rights than a Transform's author is to have. */
export const REFUSED = /^(kube-.*|openshift(-.*)?|virt-platform-autopilot.*)$/

/** Whether a namespace may be enrolled; `own` is where we live. */
export const isEnrollable = (namespace: string, own: string) =>
  namespace !== own && !REFUSED.test(namespace)

/** What makes Transforms work in a namespace: the account that they act by, what it may do, and that we may act as it, and as no other. */
export function enrolment(namespace: string, own: string): readonly KubeObject[] {
  const name = `${GRAPH.name}-impersonator`
  const us = { account: GRAPH.reconcilerAccount, namespace: own }
  const asIt = [rule('', ['serviceaccounts'], ['get', 'impersonate'], [DEFAULT_ACCOUNT])]
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEFAULT_ACCOUNT, namespace } },
    ...roleFor({ account: DEFAULT_ACCOUNT, namespace }, DEFAULT_ACCOUNT, ACCOUNT_RULES),
    ...roleFor(us, name, asIt, namespace),
  ]
}
