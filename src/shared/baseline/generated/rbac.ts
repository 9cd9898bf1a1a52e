import type { KubeObject } from '../../engine/json/object.ts'
import { type Asset, type Catalog, isHyperConverged } from '../catalog/catalog.ts'
import { type GrantedRule, grantedBy } from '../catalog/grants.ts'
import { FACT_SOURCES } from '../facts/facts.ts'
import { BASELINE } from '../names.ts'

/** One rule of a role, as the RBAC API has it. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const READ = ['get', 'list', 'watch']
// Create by server-side apply honours resourceNames, which POST does not: nothing in a catalog is ever POSTed.
const APPLY = ['create', 'patch']

/**
 * The ServiceAccounts of both processes and exactly the roles that they need for this catalog: names
 * wherever the API can bind a verb to names, and for the webhook nothing but reading and events.
 */
export function accounts(catalog: Catalog, namespace: string): readonly KubeObject[] {
  const isOwn = ({ object }: Asset) => object.namespace === namespace
  const elsewhere = catalog.filter((asset) => !isOwn(asset))
  return [
    ...account(
      BASELINE.reconcilerAccount,
      namespace,
      BASELINE.reconcilerRole,
      [...reconcilerRules(), ...assetRules(elsewhere), ...namespaceRules(catalog)],
      [...ownRules(), ...assetRules(catalog.filter(isOwn))],
    ),
    ...account(
      BASELINE.webhookAccount,
      namespace,
      BASELINE.webhookAccount,
      [EVENTS],
      [
        rule('', ['configmaps'], READ, [BASELINE.stateConfigMap]),
        rule('', ['secrets'], READ, [BASELINE.servingSecret]),
      ],
    ),
  ]
}

const rule = (
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

const EVENTS = rule('events.k8s.io', ['events'], ['create'])

// Leases are renewed by update, whose resourceVersion makes sure that one of two candidates loses.
const ownRules = () => [
  rule('', ['configmaps'], [...READ, ...APPLY], [BASELINE.stateConfigMap]),
  rule('', ['secrets'], [...READ, ...APPLY], [BASELINE.authoritySecret, BASELINE.servingSecret]),
  rule('coordination.k8s.io', ['leases'], ['get', ...APPLY, 'update'], [BASELINE.lease]),
]

const reconcilerRules = (): readonly Rule[] => [
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], READ),
  ...Object.values(FACT_SOURCES).map((source) =>
    rule(source.group, [source.resource], READ, 'name' in source ? [source.name] : undefined),
  ),
  // Where the HyperConverged is, nobody knows before.
  rule('apps', ['deployments'], READ, [BASELINE.name]),
  EVENTS,
  rule(
    'admissionregistration.k8s.io',
    ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    [...READ, ...APPLY, 'delete'],
    [BASELINE.webhookConfiguration],
  ),
  rule('rbac.authorization.k8s.io', ['clusterroles'], ['get'], [BASELINE.reconcilerRole]),
]

const assetRules = (catalog: Catalog) => [...objectRules(catalog), ...catalog.flatMap(grantedBy)]

function objectRules(catalog: Catalog): readonly Rule[] {
  const byResource = new Map(
    catalog.map((asset) => [`${asset.object.group}/${asset.object.resource}`, asset]),
  )
  return [...byResource.values()].flatMap(({ object: { group, resource } }) => {
    const alike = catalog.filter(
      ({ object }) => object.group === group && object.resource === resource,
    )
    const ruleFor = (verbs: readonly string[], isConcerned: (asset: Asset) => boolean) => {
      const names = alike.filter(isConcerned).map(({ object }) => object.name)
      return names.length > 0 ? [rule(group, [resource], verbs, sorted(names))] : []
    }
    return [
      // The HyperConverged is never created by us, and is read with all others of its kind.
      ...ruleFor(['patch'], isHyperConverged),
      ...ruleFor([...READ, ...APPLY], (asset) => !asset.isTombstone && !isHyperConverged(asset)),
      ...ruleFor(READ, ({ isTombstone }) => isTombstone),
      ...ruleFor(
        ['delete'],
        ({ isTombstone, prune, yieldsTo }) => isTombstone || prune || yieldsTo !== undefined,
      ),
    ]
  })
}

// Rules without names would be for every namespace.
function namespaceRules(catalog: Catalog): readonly Rule[] {
  const stated = catalog.flatMap(({ object }) => object.namespace ?? [])
  const names = sorted(stated.filter((namespace) => namespace !== '$hco'))
  return names.length === 0 ? [] : [rule('', ['namespaces'], READ, names)]
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort()

function account(
  name: string,
  namespace: string,
  role: string,
  clusterRules: readonly (Rule | GrantedRule)[],
  rules: readonly (Rule | GrantedRule)[],
): readonly KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const apiGroup = 'rbac.authorization.k8s.io'
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const inNamespace = { name: role, namespace }
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    { apiVersion, kind: 'ClusterRole', metadata: { name: role }, rules: clusterRules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects,
    },
    { apiVersion, kind: 'Role', metadata: inNamespace, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: inNamespace,
      roleRef: { apiGroup, kind: 'Role', name: role },
      subjects,
    },
  ]
}
