import type { KubeObject } from '../engine/json/object.ts'

/** One rule of a role, as the RBAC API has it. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export const rule = (
  group: string,
  resources: readonly string[],
  verbs: readonly string[],
  resourceNames?: readonly string[],
): Rule => ({
  apiGroups: [group],
  resources,
  ...(resourceNames && { resourceNames }),
  verbs,
})

type Rules = readonly object[]

/** A ServiceAccount, with a ClusterRole and a Role of these rules bound to it. */
export const account = (
  name: string,
  namespace: string,
  role: string,
  clusterRules: Rules,
  rules: Rules,
): readonly KubeObject[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  ...clusterRoleFor({ account: name, namespace }, role, clusterRules),
  ...roleFor({ account: name, namespace }, role, rules),
]

interface Grantee {
  readonly account: string
  readonly namespace: string
}

const RBAC = 'rbac.authorization.k8s.io'

/** A ClusterRole of these rules, and its binding to an account. */
export const clusterRoleFor = (to: Grantee, name: string, rules: Rules): readonly KubeObject[] =>
  bound('ClusterRole', to, { name }, rules)

/** A Role of these rules, by default in the namespace of an account, and its binding to that. */
export const roleFor = (
  to: Grantee,
  name: string,
  rules: Rules,
  namespace = to.namespace,
): readonly KubeObject[] => bound('Role', to, { name, namespace }, rules)

function bound(
  kind: 'ClusterRole' | 'Role',
  { account, namespace }: Grantee,
  metadata: KubeObject['metadata'],
  rules: Rules,
): readonly KubeObject[] {
  const apiVersion = `${RBAC}/v1`
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  ]
}
