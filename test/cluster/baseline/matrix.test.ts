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
import { evaluateSample, SAMPLE_CLUSTERS } from '../../../tools/generate/samples/sample-clusters.ts'
import { type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { type TestCluster, testCluster } from '../harness/fixture.ts'
import { HCO } from '../harness/objects.ts'
import { ownProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const NEWER = join(import.meta.dirname, '../../clusters/definitions')
const APPLY = 'application/apply-patch+yaml'
const HCO_CRD =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hyperconvergeds.hco.kubevirt.io'
const HCO_V1BETA1 = HCO.replace('/v1/', '/v1beta1/')
const PROBE = {
  apiVersion: 'hco.kubevirt.io/v1beta1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' },
  spec: { uninstallStrategy: 'RemoveWorkloads' },
}

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
      const { statuses, state, hco } = evaluateSample(catalog, sample)
      if (hco.apiVersion.endsWith('/v1beta1')) await leaveOnlyV1beta1(cluster)
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

// Nothing converts here, so that the version that is left must be the one that is stored, and nothing may be stored yet.
async function leaveOnlyV1beta1(cluster: TestCluster) {
  await cluster.admin('DELETE', HCO)
  const changes = ['0/served', '0/storage', '1/storage'].map((place) => ({
    op: 'replace',
    path: `/spec/versions/${place}`,
    value: place === '1/storage',
  }))
  await cluster.admin('PATCH', HCO_CRD, changes, 'application/json-patch+json')
  // For a moment the server goes on storing v1, which lacks the fields.
  await until('v1beta1 is stored', async () => {
    await cluster.admin('DELETE', HCO_V1BETA1)
    const { body } = await cluster.admin<Loose>(
      'PATCH',
      `${HCO_V1BETA1}?fieldManager=test`,
      PROBE,
      APPLY,
    )
    return body.spec?.uninstallStrategy === PROBE.spec.uninstallStrategy
  })
}
