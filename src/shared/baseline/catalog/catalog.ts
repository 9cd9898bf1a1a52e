import type { Template } from '../../engine/render.ts'
import type { Facts } from '../facts/facts.ts'
import type { AssetEntry } from './catalog-schema.ts'
import type { Condition } from './condition-schemas.ts'

/** One entry of the catalog: a template plus metadata, yielding exactly one object. */
export interface Asset extends Omit<AssetEntry, 'yieldsTo' | 'needs'> {
  /** The asset that does the same work: while that is active, this one is not. */
  readonly yieldsTo?: Asset
  /** The asset whose object this one's refers to: without it, it would do nothing. */
  readonly needs?: Asset
  /** An object that earlier versions kept: it is deleted, before anything else is done. */
  readonly isTombstone: boolean
  readonly render: Template
  readonly file: (name: string) => string
}

export type Catalog = readonly Asset[]

/** The conditions of the asset and of all its sections. */
export const conditionsOf = ({ conditions, sections }: Asset): readonly Condition[] => [
  ...conditions,
  ...sections.flatMap((section) => section.conditions),
]

/** The key under which served versions, schemas and rules know a kind: `apps/Deployment`, `/Service`. */
export const kindKey = ({ group, kind }: { readonly group: string; readonly kind: string }) =>
  `${group}/${kind}`

const SENSITIVE_KINDS: ReadonlySet<string> = new Set([
  'machineconfiguration.openshift.io/MachineConfig',
  'machineconfiguration.openshift.io/KubeletConfig',
  'rbac.authorization.k8s.io/ClusterRole',
  'rbac.authorization.k8s.io/ClusterRoleBinding',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  '/ServiceAccount',
  'security.openshift.io/SecurityContextConstraints',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
])

/** Whether the asset's content grants power over nodes or access, by its kind or by the catalog's word. */
export const isSensitive = (asset: Pick<Asset, 'object' | 'sensitive'>) =>
  asset.sensitive || SENSITIVE_KINDS.has(kindKey(asset.object))

/** Whether a write can only be denied, never corrected: what it moves drains nodes or grants access. */
export const isAlwaysDenied = (asset: Asset) => isSensitive(asset) || asset.disruption !== 'none'

export const isHyperConverged = (asset: Pick<Asset, 'object'>) =>
  asset.object.group === 'hco.kubevirt.io' && asset.object.kind === 'HyperConverged'

/** The namespace of the asset's object: the HyperConverged's where the catalog says `$hco`. */
export const namespaceOf = ({ object }: Pick<Asset, 'object'>, hcoNamespace: string) =>
  object.namespace === '$hco' ? hcoNamespace : object.namespace

/** `group/version`, or just the version for the core group. */
export const apiVersionOf = (group: string, version: string) =>
  group === '' ? version : `${group}/${version}`

/** The identity of the asset's object in one version and, where it has one, a namespace. */
export const identityOf = (
  { object: { group, kind, name } }: Pick<Asset, 'object'>,
  version: string,
  namespace: string | undefined,
) => ({
  ...{ apiVersion: apiVersionOf(group, version), kind, name },
  ...(namespace !== undefined && { namespace }),
})

/** The newest version of the asset's kind that both the catalog and the cluster know; undefined where there is none. */
export const servedVersion = ({ object }: Pick<Asset, 'object'>, served: Facts['served']) =>
  object.versions.find((version) => served[kindKey(object)]?.includes(version))
