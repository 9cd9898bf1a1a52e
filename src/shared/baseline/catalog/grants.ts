import { isMap, type JsonMap, type KubeObject } from '../../engine/json/object.ts'
import { pathText } from '../../engine/strict-view.ts'
import { type Asset, identityOf } from './catalog.ts'
import type { ObjectIdentity } from './catalog-schema.ts'

/** A rule that whoever writes a role must have: the API server lets nobody grant what they lack. */
export type GrantedRule = Readonly<Record<string, readonly string[]>>

const RBAC = 'rbac.authorization.k8s.io'
const ROLES: ReadonlySet<string> = new Set(['ClusterRole', 'Role'])
const BINDINGS: ReadonlySet<string> = new Set(['ClusterRoleBinding', 'RoleBinding'])

type Identified = { readonly object: ObjectIdentity }

export const isRole = ({ object: { group, kind } }: Identified) => group === RBAC && ROLES.has(kind)

const isBinding = ({ object: { group, kind } }: Identified) => group === RBAC && BINDINGS.has(kind)

/** What the reconciler needs besides to write an asset's role or binding. Throws what follows the asset's name where that cannot be told. */
export function grantedBy(asset: Asset): readonly GrantedRule[] {
  if (asset.isTombstone || !(isRole(asset) || isBinding(asset))) return []
  const object = renderedAnywhere(asset)
  return isRole(asset) ? rulesOf(object) : bindRule(object)
}

/** The object as it is on every cluster; throws where its template reads what differs. */
function renderedAnywhere(asset: Asset): KubeObject | undefined {
  const { versions, namespace } = asset.object
  const onRead = (path: readonly string[]) => {
    const read = pathText(path)
    // Who is bound may be in that namespace.
    const isBound = isBinding(asset) && `${HCO_NAMESPACE}.`.startsWith(`${read}.`)
    if (path[0] !== 'object' && !isBound) throw new Error(`${read} ${VARIES}`)
  }
  return asset.render(
    {
      facts: { hco: { namespace: '' } },
      object: identityOf(asset, versions[0] ?? '', namespace),
      pool: asset.pool,
      ...{ enums: {}, fields: {}, sections: {} },
      file: asset.file,
    },
    onRead,
  )
}

const HCO_NAMESPACE = 'facts.hco.namespace'
const VARIES =
  'is not the same everywhere, and what is granted must be, since our own roles are made from it: write it out'

const RULE_MEMBERS = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs']

function rulesOf(role: KubeObject | undefined): readonly GrantedRule[] {
  if (role?.aggregationRule !== undefined)
    throw new Error('has an aggregationRule, which only a cluster admin may write: list its rules')
  const rules = role?.rules ?? []
  if (Array.isArray(rules) && rules.every(isRule)) return rules
  throw new Error(
    `has rules of another form than the API: a list of maps with lists of texts under ${RULE_MEMBERS.join(', ')}`,
  )
}

const isRule = (rule: unknown): rule is GrantedRule =>
  isMap(rule) &&
  Object.entries(rule).every(([name, values]) => RULE_MEMBERS.includes(name) && isTexts(values))

const isTexts = (values: unknown) =>
  Array.isArray(values) && values.every((value) => typeof value === 'string')

function bindRule(binding: KubeObject | undefined): readonly GrantedRule[] {
  if (!binding) return []
  const { kind, name } = (isMap(binding.roleRef) ? binding.roleRef : {}) as JsonMap
  if (typeof kind !== 'string' || !ROLES.has(kind) || typeof name !== 'string' || name === '')
    throw new Error('has no roleRef with kind ClusterRole or Role, and a name: write it out')
  const resource = `${kind.toLowerCase()}s`
  return [{ apiGroups: [RBAC], resources: [resource], resourceNames: [name], verbs: ['bind'] }]
}
