import { account, type Rule, rule } from '../../api/roles.ts'
import type { KubeObject } from '../../engine/json/object.ts'
import { isCreatable } from '../asset-status.ts'
import { type Asset, type Catalog, isHyperConverged } from '../catalog/catalog.ts'
import { grantedBy } from '../catalog/grants.ts'
import { FACT_SOURCES } from '../facts/facts.ts'
import { BASELINE } from '../names.ts'

/** Following needs no get: an object is listed by its name, too. */
const FOLLOW = ['list', 'watch']
const READ = ['get', ...FOLLOW]
// Create by server-side apply honours resourceNames, which POST does not: nothing in a catalog is ever POSTed.
const APPLY = ['create', 'patch']

/** The ServiceAccounts of both processes and exactly the roles that they need for this catalog, by name wherever the API allows that. */
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
        rule('', ['configmaps'], FOLLOW, [BASELINE.stateConfigMap]),
        rule('', ['secrets'], FOLLOW, [BASELINE.servingSecret]),
      ],
    ),
  ]
}

const EVENTS = rule('events.k8s.io', ['events'], ['create'])

// Leases are renewed by update, whose resourceVersion makes sure that one of two candidates loses.
const ownRules = () => [
  rule('', ['configmaps'], [...READ, ...APPLY], [BASELINE.stateConfigMap]),
  rule('', ['secrets'], [...READ, ...APPLY], [BASELINE.authoritySecret, BASELINE.servingSecret]),
  rule('coordination.k8s.io', ['leases'], ['get', ...APPLY, 'update'], [BASELINE.lease]),
]

const reconcilerRules = (): readonly Rule[] => [
  rule('apiextensions.k8s.io', ['customresourcedefinitions'], FOLLOW),
  ...Object.values(FACT_SOURCES).map((source) =>
    rule(source.group, [source.resource], FOLLOW, source.name ? [source.name] : undefined),
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

/** What it takes to keep the objects of these assets. */
export const assetRules = (catalog: Catalog) => [
  ...objectRules(catalog),
  ...catalog.flatMap(grantedBy),
]

/** The same, but for what roles and bindings among them grant. */
export function objectRules(catalog: Catalog): readonly Rule[] {
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
      // The HyperConverged is followed with all others of its kind.
      ...ruleFor(['get', 'patch'], isHyperConverged),
      ...ruleFor([...READ, ...APPLY], (asset) => !asset.isTombstone && isCreatable(asset)),
      ...ruleFor([...READ, 'patch'], isAwaited),
      ...ruleFor(READ, ({ isTombstone }) => isTombstone),
      ...ruleFor(
        ['delete'],
        ({ isTombstone, prune, yieldsTo }) => isTombstone || prune || yieldsTo !== undefined,
      ),
    ]
  })
}

// Somebody else creates it.
const isAwaited = (asset: Asset) =>
  !asset.isTombstone && !isCreatable(asset) && !isHyperConverged(asset)

/** What it takes to know whether the namespaces of these assets are there: by name, as rules without names would be for all. */
export function namespaceRules(catalog: Catalog): readonly Rule[] {
  const stated = catalog.flatMap(({ object }) => object.namespace ?? [])
  const names = sorted(stated.filter((namespace) => namespace !== '$hco'))
  return names.length === 0 ? [] : [rule('', ['namespaces'], FOLLOW, names)]
}

const sorted = (names: readonly string[]) => [...new Set(names)].sort()

/** What is left of rules for who may only read. */
export const readOnly = (rules: readonly Rule[]): readonly Rule[] =>
  rules
    .map((one) => ({ ...one, verbs: one.verbs.filter((verb) => READ.includes(verb)) }))
    .filter(({ verbs }) => verbs.length > 0)
