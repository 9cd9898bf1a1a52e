import { join } from 'node:path'
import t from 'tap'
import {
  type Definition,
  isNeeded,
  listDefinitions,
} from '../../../tools/control-plane/definitions.ts'
import { install } from '../../../tools/control-plane/install.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'
import { CATEGORIES } from '../../../tools/crds/read-lock.ts'
import { type TestCluster, testCluster } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

interface Condition {
  readonly type: string
  readonly status: string
}

/** A definition, as far as it is looked at here. */
interface Stored {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string; readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly served: boolean }[]
  }
  readonly status: { readonly conditions: readonly Condition[] }
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const OBJECTS = join(import.meta.dirname, '../../fixtures/objects')
const listed = listDefinitions(join(import.meta.dirname, '../../crds'))

/** Every served version of every definition. */
const served = (definitions: readonly Stored[]) =>
  definitions.flatMap(({ spec: { group, names, versions } }) =>
    versions.filter((version) => version.served).map(({ name }) => ({ group, name, ...names })),
  )

const namespace = 'openshift-cnv'

/** What the schemas say no to: those that are changed here, written here, and as published. */
const REFUSED: readonly (readonly [string, object, RegExp])[] = [
  [
    'a HyperConverged of another name',
    {
      apiVersion: 'hco.kubevirt.io/v1',
      kind: 'HyperConverged',
      metadata: { name: 'another', namespace },
    },
    /metadata\.name.*should match 'kubevirt-hyperconverged'/,
  ],
  [
    'a size that no LokiStack has',
    {
      apiVersion: 'loki.grafana.com/v1',
      kind: 'LokiStack',
      metadata: { name: 'a', namespace },
      spec: {
        size: '1x.huge',
        storage: { secret: { name: 'a', type: 's3' } },
        storageClassName: 'a',
      },
    },
    /spec\.size: Unsupported value: "1x\.huge"/,
  ],
  [
    'a field that no MetalLB has',
    {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'MetalLB',
      metadata: { name: 'a', namespace },
      spec: { sorts: 1 },
    },
    /\.spec\.sorts: field not declared in schema/,
  ],
]

const readAll = async ({ admin }: TestCluster) =>
  (await admin<{ items: readonly Stored[] }>('GET', DEFINITIONS)).body.items

t.test('a cluster with every definition', async (t) => {
  const cluster = await testCluster(t, { crds: () => true, samples: false })
  const definitions = await readAll(cluster)

  await t.test('has no definition that the API server complains about', async (t) => {
    const names = definitions.map(({ metadata }) => metadata.name)
    t.same(names.sort(), listed.map(({ name }) => name).sort())
    const sound = { NamesAccepted: 'True', Established: 'True' }
    for (const { metadata, spec, status } of definitions) {
      const conditions = status.conditions.map(({ type, status }) => [type, status])
      const isOfKubernetes = spec.group.endsWith('.k8s.io')
      const approved = isOfKubernetes && { KubernetesAPIApprovalPolicyConformant: 'True' }
      t.same(Object.fromEntries(conditions), { ...sound, ...approved }, metadata.name)
    }
  })

  await t.test('serves each version, and publishes its schema', async (t) => {
    const versions = served(definitions)
    t.ok(versions.length > definitions.length)
    for (const { group, name, plural, kind } of versions) {
      // A moment after a definition its storage is still being made: 429.
      const path = `/apis/${group}/${name}/${plural}`
      const isListed = async () => (await cluster.admin('GET', path)).status === 200
      await until(`${path} is listed`, isListed)
      // What is published of a group and version may lack the kind that was installed last.
      const properties = await until(`the schema of ${kind} is published`, async () => {
        const { body } = await cluster.admin<{
          components?: { schemas?: Readonly<Record<string, { properties?: object }>> }
        }>('GET', `/openapi/v3/apis/${group}/${name}`)
        const schemas = Object.entries(body.components?.schemas ?? {})
        return schemas.find(([id]) => id.endsWith(`.${kind}`))?.[1].properties
      })
      t.match(properties, { apiVersion: {}, kind: {}, metadata: {} }, kind)
    }
  })

  await t.test('accepts the objects that a platform has', async (t) => {
    const objects = loadManifests(OBJECTS)
    const namespaces = [...new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))]
    const given = namespaces.map((name) => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    }))
    await install(cluster, given)
    const { code, stdout, stderr } = await cluster.kubectl([
      'apply',
      '--server-side',
      '--recursive',
      `--filename=${OBJECTS}`,
    ])
    t.equal(code, 0, stderr)
    const applied = stdout.trim().split('\n')
    t.equal(applied.length, objects.length)
    for (const line of applied) t.match(line, / serverside-applied$/)
    for (const category of CATEGORIES) {
      const kinds = listed.filter((one) => one.category === category).map(({ kind }) => kind)
      t.ok(
        objects.some(({ kind }) => kinds.includes(kind)),
        category,
      )
    }
  })

  for (const [what, object, message] of REFUSED) {
    await t.test(`refuses ${what}`, async (t) => {
      const input = JSON.stringify(object)
      const { code, stderr } = await cluster.kubectl(['apply', '--server-side', '-f-'], { input })
      t.equal(code, 1)
      t.match(stderr, message)
    })
  }
})

t.test('a cluster without the definitions of OpenShift', async (t) => {
  const crds = (one: Definition) => isNeeded(one) && one.category !== 'openshift'
  const cluster = await testCluster(t, { crds })
  const kinds = (await readAll(cluster)).map(({ spec }) => spec.names.kind)
  t.ok(kinds.includes('HyperConverged'))
  t.notOk(kinds.includes('MachineConfig'))
  const hcos = '/apis/hco.kubevirt.io/v1/hyperconvergeds'
  const { body } = await cluster.admin<{ items: readonly unknown[] }>('GET', hcos)
  t.equal(body.items.length, 1, 'it has the samples whose kinds there are')
})
