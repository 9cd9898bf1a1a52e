import t from 'tap'
import { until } from '../harness/until.ts'
import {
  configMapPath,
  graphCluster,
  graphPath,
  HOME,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const MERGE = 'application/merge-patch+json'
const DEFINITION =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/transforms.platform.pequod.io'

t.test('deleting a Transform', async (t) => {
  const cluster = await graphCluster(t, { hasWebhook: false })
  const { admin, read, apply, untilReady, untilGone } = cluster
  const make = async (name: string, nodes: readonly object[], spec: object = {}) => {
    await apply(inlineTransform(name, moduleOf(...nodes), { ...spec }))
    await untilReady(name, 'True')
  }

  t.test('deletes what it made, dependents first, without rendering again', async (t) => {
    const holdUp = { finalizers: ['example.com/hold'] }
    await make('reverse', [
      configMapNode('base'),
      configMapNode('top', { metadata: holdUp, dependsOn: ['base'] }),
    ])
    // From now on it could not be rendered.
    await admin(
      'PATCH',
      transformPath('reverse'),
      { spec: { cueRef: { ref: 'package broken {' } } },
      MERGE,
    )
    await admin('DELETE', transformPath('reverse'))
    await until('it is told what holds it up', async () => {
      const { conditions = [] } = (await read(transformPath('reverse'))).status
      const ready = conditions.find(({ type }: { type: string }) => type === 'Ready')
      return ready?.reason === 'Deleting' && /ConfigMap shop\/top /.test(ready.message)
    })
    t.ok(await read(configMapPath('base')), 'what others depend on waits for them')
    await admin('PATCH', configMapPath('top'), { metadata: { finalizers: null } }, MERGE)
    for (const path of [
      configMapPath('top'),
      configMapPath('base'),
      graphPath('reverse'),
      transformPath('reverse'),
    ])
      await untilGone(path)
  })

  t.test('leaves everything where it says so', async (t) => {
    await make('orphaning', [configMapNode('left')], { deletionPolicy: 'Orphan' })
    await admin('DELETE', transformPath('orphaning'))
    await untilGone(transformPath('orphaning'))
    await untilGone(graphPath('orphaning'))
    t.ok(await read(configMapPath('left')))
  })

  t.test('waits for nothing that was never made', async (t) => {
    const misspelt = {
      id: 'a',
      object: { apiVersion: 'v1', kind: 'ConfigMapp', metadata: { name: 'a' } },
    }
    const notServed = { reason: 'Failed', message: /v1 ConfigMapp is not served/ }
    for (const name of ['misspelt', 'corrected']) {
      await apply(inlineTransform(name, moduleOf(misspelt)))
      await untilReady(name, notServed)
    }
    await admin('DELETE', transformPath('misspelt'))
    await untilGone(transformPath('misspelt'))
    await make('corrected', [configMapNode('a', { name: 'corrected' })])
    t.ok(await read(configMapPath('corrected')))
  })

  t.test('leaves what another took meanwhile', async (t) => {
    await make('robbed', [configMapNode('taken'), configMapNode('own')])
    await admin(
      'PATCH',
      configMapPath('taken'),
      { metadata: { annotations: { 'pequod.io/owner': 'Transform/shop/other/1-2-3' } } },
      MERGE,
    )
    await admin('DELETE', transformPath('robbed'))
    await untilGone(transformPath('robbed'))
    t.equal(await read(configMapPath('own')), undefined)
    t.ok(await read(configMapPath('taken')))
  })

  t.test('a Transform that comes back under its name goes on with what there is', async (t) => {
    await make('again', [configMapNode('survivor')], { deletionPolicy: 'Orphan' })
    const { uid } = (await read(configMapPath('survivor'))).metadata
    await admin('DELETE', transformPath('again'))
    await untilGone(transformPath('again'))
    await make('again', [configMapNode('survivor', { data: { of: 'the second' } })])
    const survivor = await read(configMapPath('survivor'))
    t.equal(survivor.metadata.uid, uid)
    t.same(survivor.data, { of: 'the second' })
  })

  t.test('with its definition deletes nothing that it made', async (t) => {
    await make('survives', [configMapNode('outlives')])
    await admin('DELETE', DEFINITION)
    await untilGone(DEFINITION)
    t.ok(await read(configMapPath('outlives')))
    t.equal((await read(configMapPath('outlives'))).metadata.namespace, HOME)
  })
})
