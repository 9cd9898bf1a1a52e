import {
  APPROVE,
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  MANAGED_BY,
  OVERRIDES,
  PREFIX,
} from '../../engine/overrides/annotations.ts'
import {
  type AssetEntry,
  isHyperConverged,
  kindKey,
  type ObjectIdentity,
} from '../catalog/catalog.ts'
import {
  AUTHORITY_SECRET,
  LEASE,
  RECONCILER_ACCOUNT,
  RECONCILER_ROLE,
  SERVING_SECRET,
  STATE_CONFIG_MAP,
  WEBHOOK_ACCOUNT,
  WEBHOOK_CONFIGURATION,
} from '../names.ts'
import { conditionLists } from './contradictions.ts'
import type { EntryMistake } from './mistakes.ts'

/** An order that is not what the HyperConverged must have, and nothing else may: the facts are read from it. */
export function orderOfFacts(asset: AssetEntry): readonly EntryMistake[] {
  const isSource = isHyperConverged(asset)
  if (isSource === (asset.order === 0)) return []
  const message = isSource
    ? 'must be 0: the HyperConverged comes first, since facts are read from it'
    : 'is 0, which the HyperConverged has alone: write a greater number'
  return [{ path: ['order'], message }]
}

/** Sections of one name, of which the template could only ask for the last. */
export function sectionNames({ sections }: AssetEntry): readonly EntryMistake[] {
  const seen = new Set<string>()
  return sections.flatMap(({ name }, index) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const path = ['sections', String(index), 'name']
    return [{ path, message: `is "${name}" a second time: choose another` }]
  })
}

/** Conditions on annotations that mean something else already. */
export const reservedAnnotations = (asset: AssetEntry): readonly EntryMistake[] =>
  conditionLists(asset)
    .flatMap(({ stated }) => stated)
    .flatMap(({ condition, path }) =>
      condition.type === 'annotation' && RESERVED.has(`${PREFIX}${condition.key}`)
        ? [
            {
              path: [...path, 'key'],
              message: `is "${condition.key}", which has a meaning of its own: choose another name`,
            },
          ]
        : [],
    )

const RESERVED: ReadonlySet<string> = new Set([
  ...OVERRIDES,
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
  APPROVE,
  MANAGED_BY,
])

/** Objects that the product itself writes or runs on: two opinions of these would be a war with ourselves. */
export const ownObjects = (
  { object }: { readonly object: ObjectIdentity },
  namespace: string,
): readonly EntryMistake[] =>
  OWN_OBJECTS[kindKey(object)]?.includes(object.name) &&
  (object.namespace === undefined || object.namespace === namespace)
    ? [{ path: ['object'], message: 'is the product’s own, which it keeps itself: take it away' }]
    : []

const ROLES = [RECONCILER_ROLE, WEBHOOK_ACCOUNT]

const OWN_OBJECTS: Readonly<Record<string, readonly string[]>> = {
  '/ConfigMap': [STATE_CONFIG_MAP],
  '/Secret': [AUTHORITY_SECRET, SERVING_SECRET],
  '/ServiceAccount': [RECONCILER_ACCOUNT, WEBHOOK_ACCOUNT],
  'coordination.k8s.io/Lease': [LEASE],
  'rbac.authorization.k8s.io/Role': ROLES,
  'rbac.authorization.k8s.io/RoleBinding': ROLES,
  'rbac.authorization.k8s.io/ClusterRole': ROLES,
  'rbac.authorization.k8s.io/ClusterRoleBinding': ROLES,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': [WEBHOOK_CONFIGURATION],
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': [WEBHOOK_CONFIGURATION],
}
