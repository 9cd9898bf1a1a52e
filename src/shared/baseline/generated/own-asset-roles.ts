import { clusterRoleFor, roleFor } from '../../api/roles.ts'
import type { KubeObject } from '../../engine/json/object.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { BASELINE } from '../names.ts'
import { assetRules, namespaceRules, objectRules, readOnly } from './rbac.ts'

/** The account of the chart's Job that looks before an installation. */
export const DIFF_ACCOUNT = `${BASELINE.name}-diff`

const NAME = `${BASELINE.name}-own-assets`

/**
 * The roles that assets of an admin's own need beside those of the accounts, which stay as they are: who installed those goes on
 * owning their fields. The reconciler may keep the objects, and whoever looks before an installation may read them.
 */
export function ownAssetRoles(assets: Catalog, namespace: string): readonly KubeObject[] {
  const here = assets.filter(({ object }) => object.namespace === namespace)
  const elsewhere = assets.filter((asset) => !here.includes(asset))
  const namespaces = namespaceRules(assets)
  const reconciler = { account: BASELINE.reconcilerAccount, namespace }
  const looker = { account: DIFF_ACCOUNT, namespace }
  const readers = `${NAME}-diff`
  return [
    ...clusterRoleFor(reconciler, NAME, [...assetRules(elsewhere), ...namespaces]),
    ...roleFor(reconciler, NAME, assetRules(here)),
    ...clusterRoleFor(looker, readers, readOnly([...objectRules(elsewhere), ...namespaces])),
    ...roleFor(looker, readers, readOnly(objectRules(here))),
  ]
}
