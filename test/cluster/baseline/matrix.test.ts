import { join } from 'node:path'
import t from 'tap'
import { FIELD_MANAGER } from '../../../src/shared/baseline/annotations.ts'
import { identityOn } from '../../../src/shared/baseline/asset-status.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import { createSchemas, schemaKey } from '../../../src/shared/cluster/schemas.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { drift } from '../../../src/shared/engine/merge/merge.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { evaluateSample, SAMPLE_CLUSTERS } from '../../../tools/generate/sample-clusters.ts'
import { NAMESPACE } from '../harness/autopilot-fixture.ts'
import { testCluster } from '../harness/fixture.ts'
import { ownProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const NEWER = join(import.meta.dirname, '../../clusters/definitions')
const APPLY = 'application/apply-patch+yaml'

t.test(
  'the API server accepts each asset of each sample cluster, and stores what it is sent',
  async (t) => {
    const { catalog } = ownProgram()
    const cluster = await testCluster(t)
    const namespaces = catalog.flatMap(({ object }) => object.namespace ?? [])
    const needed = [...new Set([...namespaces.filter((name) => name !== '$hco'), NAMESPACE])]
    await install(cluster, [
      ...loadManifests(NEWER),
      ...needed.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ])
    const client = await connect(loadKubeconfig(cluster.kubeconfig))
    t.teardown(() => client.close())
    const schemas = createSchemas(client)

    for (const [name, sample] of Object.entries(SAMPLE_CLUSTERS)) {
      const { statuses, state } = evaluateSample(catalog, sample)
      for (const asset of catalog) {
        const status = statuses.get(asset.name)
        const identity = identityOn(asset, state.facts)
        if (status?.kind !== 'active' || !identity) continue
        await t.test(`${asset.name} × ${name}`, async (t) => {
          const { baseline } = status
          const { apiVersion, namespace } = identity
          const at = {
            apiVersion,
            resource: asset.object.resource,
            ...(namespace && { namespace }),
          }
          const options = `?fieldManager=${FIELD_MANAGER}&force=true&fieldValidation=Strict`
          const path = `${pathOf(at, baseline.metadata.name)}${options}`
          const { status: code, body } = await cluster.admin<KubeObject>(
            'PATCH',
            path,
            baseline,
            APPLY,
          )
          t.ok(code === 200 || code === 201, JSON.stringify(body))
          const query = [{ ...identity, enumPointers: [], fieldPointers: [] }]
          // The server publishes a schema some moments after it serves the kind.
          const tree = await until('its schema is published', async () => {
            const known = await schemas(query)
            return known.get(schemaKey(identity))?.tree
          })
          t.same(drift(tree, body, baseline), [], 'nothing is stored otherwise')
        })
      }
    }
  },
)
