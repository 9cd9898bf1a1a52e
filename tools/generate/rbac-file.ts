import { kubernetesYaml } from '../../src/cli/render/formats.ts'
import type { Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import { accounts } from '../../src/shared/baseline/generated/rbac.ts'
import { NOTICE } from './notice.ts'

/** docs/baseline/rbac.yaml: both accounts and their roles, in a namespace of the default name. */
export function rbacFile(catalog: Catalog, namespace: string): string {
  const documents = accounts(catalog, namespace).map(kubernetesYaml)
  return `# ${NOTICE}\n${documents.join('---\n')}`
}
