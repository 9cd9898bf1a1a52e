import { join } from 'node:path'
import { DEFAULT_TIMEOUT_S } from '../../src/cli/options.ts'
import { kubernetesYaml } from '../../src/cli/render/formats.ts'
import { type Catalog, kindKey } from '../../src/shared/baseline/catalog/catalog.ts'
import { baselineWebhooks } from '../../src/shared/baseline/generated/webhook-rules.ts'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { accountUser } from '../../src/shared/engine/identity.ts'
import { listDefinitions } from '../control-plane/definitions.ts'
import { NOTICE } from './notice.ts'

const DEFINITIONS = join(import.meta.dirname, '../../test/crds')

/** docs/baseline/webhooks.yaml: the configurations as the leader registers them where every API of the catalog is served. */
export function webhooksFile(catalog: Catalog, namespace: string): string {
  const served = catalog.map(({ object }) => [kindKey(object), object.versions] as const)
  const hco = { apiVersion: '', namespace: 'openshift-cnv', annotations: {}, spec: {} }
  const configurations = baselineWebhooks({
    catalog,
    facts: { hco, served: Object.fromEntries(served) },
    customResources: new Set(listDefinitions(DEFINITIONS).map(({ name }) => name)),
    endpoint: { service: { name: `${namespace}-webhook`, namespace } },
    // The leader makes it.
    trust: { bundle: '' },
    failurePolicy: 'Ignore',
    timeoutS: DEFAULT_TIMEOUT_S,
    trustedUser: accountUser(namespace, BASELINE.reconcilerAccount),
    owner: undefined,
  })
  const documents = configurations.map(kubernetesYaml)
  return `# ${NOTICE}\n# As registered in namespace ${namespace}, with a HyperConverged in openshift-cnv and every API served.\n${documents.join('---\n')}`
}
