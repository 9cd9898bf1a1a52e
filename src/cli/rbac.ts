import { ownAssetRoles } from '../shared/baseline/generated/own-asset-roles.ts'
import { accounts } from '../shared/baseline/generated/rbac.ts'
import { type CatalogOptions, loadCatalogWith, loadOwnAssets } from './assets.ts'
import { kubernetesYaml } from './render/formats.ts'

/** The `rbac` command: prints what both processes may do, for kubectl apply; with a folder of assets, what they need for these besides. */
export async function rbac(options: CatalogOptions): Promise<void> {
  const { namespace, assets } = options
  const objects =
    assets === undefined
      ? accounts(loadCatalogWith(options), namespace)
      : ownAssetRoles(loadOwnAssets(options), namespace)
  process.stdout.write(objects.map(kubernetesYaml).join('---\n'))
}
