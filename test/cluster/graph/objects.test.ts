import t from 'tap'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { POLICIES } from '../../../src/shared/graph/platform-policies.ts'
import { until } from '../harness/until.ts'
import {
  configMapPath,
  type GraphCluster,
  graphCluster,
  graphPath,
  HOME,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const NO_PASSWORDS = `package policies

input: {...}
context: {...}
graph: nodes: [...{object: {...}, ...}]
policies: [for node in graph.nodes if node.object.data.password != _|_ {
	name:     "no-passwords"
	severity: "Error"
	path:     node.id
	message:  "no password in a ConfigMap"
}]
overridable: []
`

t.test('the objects of graphs', async (t) => {
  const cluster = await graphCluster(t, { hasWebhook: false })
  const { read, apply, untilReady, untilGone } = cluster
  const transform = (name: string, nodes: readonly object[], spec: object = {}) =>
    apply(inlineTransform(name, moduleOf(...nodes), { ...spec }))

  t.test('carry the marks of their owner, and fields of nobody else', async (t) => {
    await transform('marks', [configMapNode('marked', { data: { a: '1' } })])
    const { metadata } = await untilReady('marks', 'True')
    const { metadata: marks } = await read(configMapPath('marked'))
    t.match(marks, {
      labels: { 'pequod.io/graph': 'shop.marks' },
      annotations: { 'pequod.io/owner': `Transform/shop/marks/${metadata.uid}` },
    })
    t.same(
      marks.managedFields.map(({ manager }: { manager: string }) => manager),
      ['pequod:shop/marks'],
    )
  })

  t.test('are applied in order, and a failed one blocks its dependents only', async (t) => {
    await transform('order', [
      configMapNode('alone'),
      configMapNode('broken', { data: 'no map' as never }),
      configMapNode('dependent', { dependsOn: ['broken'] }),
    ])
    const { status } = await untilReady('order', {
      reason: 'Failed',
      message: /ConfigMap shop\/broken/,
    })
    t.match(
      status.conditions.find(({ type }: { type: string }) => type === 'Ready'),
      { status: 'False' },
    )
    t.ok(await read(configMapPath('alone')), 'the one that depends on nothing is there')
    t.equal(await read(configMapPath('dependent')), undefined)
    const graph = await read(graphPath('order'))
    t.match(graph.status.nodeStatus, {
      alone: { phase: 'Ready' },
      broken: { phase: 'Error', lastError: /data/ },
      dependent: { phase: 'Pending' },
    })

    await transform('order', [
      configMapNode('alone'),
      configMapNode('broken', { data: { is: 'mended' } }),
      configMapNode('dependent', { dependsOn: ['broken'] }),
    ])
    await untilReady('order', 'True')
    t.ok(await read(configMapPath('dependent')))
  })

  t.test('are never taken from others', async (t) => {
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'foreign', namespace: HOME },
      data: { of: 'somebody' },
    } as never)
    await transform('thief', [configMapNode('foreign', { data: { of: 'us' } })])
    await untilReady('thief', {
      reason: 'Failed',
      message:
        /ConfigMap shop\/foreign: exists already, belongs to no graph and is managed by admin/,
    })
    t.same((await read(configMapPath('foreign'))).data, { of: 'somebody' })

    await transform('first', [configMapNode('shared')])
    await untilReady('first', 'True')
    await transform('second', [configMapNode('shared')])
    await untilReady('second', { reason: 'Failed', message: /belongs to Transform shop\/first/ })
    await cluster.admin('DELETE', transformPath('second'))
    await untilGone(transformPath('second'))
    t.ok(await read(configMapPath('shared')), 'nor deleted with who only asked for them')
  })

  t.test('that leave the graph are pruned, unless they are to stay', async (t) => {
    const stay = { annotations: { 'pequod.io/prune-grace-period': '0' } }
    await transform('prune', [
      configMapNode('kept'),
      configMapNode('gone', { metadata: stay }),
      configMapNode('orphan', { metadata: stay, applyPolicy: { deletionPolicy: 'Orphan' } }),
      configMapNode('guarded', {
        metadata: {
          annotations: { ...stay.annotations, 'pequod.io/prune-protection': 'true' },
        },
      }),
    ])
    await untilReady('prune', 'True')
    await transform('prune', [configMapNode('kept')])
    await untilGone(configMapPath('gone'))
    await untilInventory(cluster, 'prune', ['guarded', 'kept'])
    t.ok(await read(configMapPath('orphan')), 'orphaned')
    t.ok(await read(configMapPath('guarded')), 'protected')
    await untilReady('prune', {
      reason: 'Ready',
      message: /1 object is ready; ConfigMap shop\/guarded is kept by/,
    })
    await cluster.admin(
      'PATCH',
      configMapPath('guarded'),
      { metadata: { annotations: { 'pequod.io/prune-protection': null } } },
      'application/merge-patch+json',
    )
    await untilGone(configMapPath('guarded'))
    await untilReady('prune', 'True')
  })

  t.test('are what the platform’s own policies let through', async (t) => {
    const policies = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: POLICIES, namespace: GRAPH.name },
      data: { 'policies.cue': NO_PASSWORDS },
    }
    await transform('policies', [configMapNode('open', { data: { password: 'swordfish' } })])
    await untilReady('policies', 'True')
    await apply(policies)
    await untilReady('policies', {
      reason: 'PolicyViolated',
      message: /no password in a ConfigMap \(policy no-passwords\)/,
    })
    t.ok(await read(configMapPath('open')), 'what was applied stays')
    await apply({ ...policies, data: { 'policies.yaml': '' } } as never)
    await untilReady('policies', { reason: 'EvaluatorUnavailable', message: /cannot be used/ })
    await cluster.admin('DELETE', configMapPath(POLICIES, GRAPH.name))
    await untilReady('policies', 'True')
  })

  t.test('stay as they are while the Transform is suspended', async (t) => {
    await transform('suspended', [configMapNode('still', { data: { a: '1' } })])
    await untilReady('suspended', 'True')
    await transform('suspended', [configMapNode('still', { data: { a: '2' } })], { suspend: true })
    await untilReady('suspended', { reason: 'Suspended' })
    t.same((await read(configMapPath('still'))).data, { a: '1' })
    await transform('suspended', [configMapNode('still', { data: { a: '2' } })], { suspend: false })
    await untilReady('suspended', 'True')
    t.same((await read(configMapPath('still'))).data, { a: '2' })
  })

  t.test('of a kind that a definition in the graph brings are applied after it', async (t) => {
    await cluster.admin('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'transforms-of-shop-are-admin' },
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: 'ClusterRole',
        name: 'cluster-admin',
      },
      subjects: [{ kind: 'ServiceAccount', name: 'transforms', namespace: HOME }],
    })
    await transform('definition', [
      {
        id: 'crd',
        object: {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'CustomResourceDefinition',
          metadata: { name: 'things.example.com' },
          spec: {
            group: 'example.com',
            scope: 'Namespaced',
            names: { kind: 'Thing', plural: 'things' },
            versions: [
              {
                name: 'v1',
                served: true,
                storage: true,
                schema: {
                  openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            ],
          },
        },
      },
      {
        id: 'thing',
        dependsOn: ['crd'],
        object: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } },
        readyWhen: [{ type: 'Exists' }],
      },
    ])
    await untilReady('definition', 'True')
    t.ok(await read('/apis/example.com/v1/namespaces/shop/things/one'))
    t.equal(
      (await read('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com'))
        .metadata.namespace,
      undefined,
    )
  })
})

const untilInventory = ({ read }: GraphCluster, name: string, ids: readonly string[]) =>
  until(`the inventory of ${name} is ${ids}`, async () => {
    const { inventory = [] } = (await read(graphPath(name))).status
    return `${inventory.map(({ id }: { id: string }) => id).sort()}` === `${ids}`
  })
