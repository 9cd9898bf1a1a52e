import { accounts } from '../shared/baseline/generated/rbac.ts'
import { type CatalogOptions, loadCatalogWith } from './assets.ts'
import { kubernetesYaml } from './render/formats.ts'

/** The `rbac` command: prints what both processes may do, ready for kubectl apply. */
export async function rbac(options: CatalogOptions): Promise<void> {
  const catalog = loadCatalogWith(options)
  const documents = accounts(catalog, options.namespace).map(kubernetesYaml)
  process.stdout.write(documents.join('---\n'))
}
