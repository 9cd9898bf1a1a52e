import { isMap, type JsonMap, type KubeObject } from '../../engine/json/object.ts'
import { err, ok, type Result } from '../../engine/result.ts'
import { type Asset, apiVersionOf } from './catalog.ts'
import type { ObjectIdentity } from './catalog-schema.ts'

/** A rule that whoever writes a role must have: the API server lets nobody grant what they lack. */
export type GrantedRule = Readonly<Record<string, readonly string[]>>

const RBAC = 'rbac.authorization.k8s.io'
const ROLES: ReadonlySet<string> = new Set(['ClusterRole', 'Role'])
const BINDINGS: ReadonlySet<string> = new Set(['ClusterRoleBinding', 'RoleBinding'])

type Identified = { readonly object: ObjectIdentity }

export const isRole = ({ object: { group, kind } }: Identified) => group === RBAC && ROLES.has(kind)

export const isBinding = ({ object: { group, kind } }: Identified) =>
  group === RBAC && BINDINGS.has(kind)

/**
 * What the reconciler needs besides to write the object of an asset: for a role its rules, for a binding the verb
 * bind on its role. The error completes a sentence that starts with the asset.
 */
export function grantedBy(asset: Asset): Result<readonly GrantedRule[], string> {
  if (asset.isTombstone || !(isRole(asset) || isBinding(asset))) return ok([])
  const object = renderedAnywhere(asset)
  const granted = isRole(asset) ? rulesOf(object) : bindRule(object)
  if (granted.ok && JSON.stringify(granted.value).includes(HCO_NAMESPACE)) {
    return err('grants what only facts name, the namespace of the HyperConverged: write out names')
  }
  return granted
}

// As the catalog has it; no cluster has a namespace of this name.
const HCO_NAMESPACE = '$hco'

/** The object as it is on every cluster; throws where its template reads what differs. */
function renderedAnywhere({ object, render, pool, file }: Asset): KubeObject | undefined {
  const {
    group,
    versions: [version = ''],
    kind,
    name,
    namespace,
  } = object
  const rendered = render({
    // Who is granted something may be in that namespace; what is granted may not depend on it.
    facts: { hco: { namespace: HCO_NAMESPACE } },
    object: {
      ...{ apiVersion: apiVersionOf(group, version), kind, name },
      ...(namespace !== undefined && { namespace }),
    },
    pool,
    enums: {},
    fields: {},
    sections: {},
    file,
  })
  return rendered.kind === 'object' ? rendered.object : undefined
}

const RULE_MEMBERS = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs']

function rulesOf(role: KubeObject | undefined): Result<readonly GrantedRule[], string> {
  if (role?.aggregationRule !== undefined)
    return err('has an aggregationRule, which only a cluster admin may write: list its rules')
  const rules = role?.rules ?? []
  if (Array.isArray(rules) && rules.every(isRule)) return ok(rules)
  return err(
    `has rules of another form than the API: a list of maps with lists of texts under ${RULE_MEMBERS.join(', ')}`,
  )
}

const isRule = (rule: unknown): rule is GrantedRule =>
  isMap(rule) &&
  Object.entries(rule).every(([name, values]) => RULE_MEMBERS.includes(name) && isTexts(values))

const isTexts = (values: unknown) =>
  Array.isArray(values) && values.every((value) => typeof value === 'string')

function bindRule(binding: KubeObject | undefined): Result<readonly GrantedRule[], string> {
  if (!binding) return ok([])
  const { kind, name } = (isMap(binding.roleRef) ? binding.roleRef : {}) as JsonMap
  if (typeof kind !== 'string' || !ROLES.has(kind) || typeof name !== 'string')
    return err('has no roleRef with kind ClusterRole or Role, and a name: write it out')
  const resource = `${kind.toLowerCase()}s`
  return ok([{ apiGroups: [RBAC], resources: [resource], resourceNames: [name], verbs: ['bind'] }])
}
