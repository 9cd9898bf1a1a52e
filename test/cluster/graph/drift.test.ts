import t from 'tap'
import { until } from '../harness/until.ts'
import { configMapPath, graphCluster, graphPath, HOME, inlineTransform } from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const MERGE = 'application/merge-patch+json'

t.test('drift', async (t) => {
  const cluster = await graphCluster(t, { hasWebhook: false })
  const { admin, read, apply, untilReady } = cluster
  const path = configMapPath('kept')
  await apply(
    inlineTransform('drift', moduleOf(configMapNode('kept', { data: { ours: 'as it was' } }))),
  )
  await untilReady('drift', 'True')
  const ours = async () => (await read(path))?.data?.ours

  t.test('a value that somebody changes is put back', async (t) => {
    await admin('PATCH', path, { data: { ours: 'another' } }, MERGE)
    await until('it is put back', async () => (await ours()) === 'as it was')
    t.pass()
  })

  t.test('a value that somebody removes comes back', async (t) => {
    await admin('PATCH', path, { data: { ours: null } }, MERGE)
    await until('it is back', async () => (await ours()) === 'as it was')
    t.pass()
  })

  t.test('an object that somebody deletes comes back', async (t) => {
    const { uid } = (await read(path)).metadata
    await admin('DELETE', path)
    await until('another one is there', async () => {
      const now = await read(path)
      return now !== undefined && now.metadata.uid !== uid
    })
    await untilReady('drift', 'True')
    t.equal(await ours(), 'as it was')
  })

  t.test('the marks that somebody removes come back', async (t) => {
    await admin('PATCH', path, { metadata: { labels: { 'pequod.io/graph': null } } }, MERGE)
    await until('the label is back', async () => {
      const { labels = {} } = (await read(path)).metadata
      return labels['pequod.io/graph'] === 'shop.drift'
    })
    t.pass()
  })

  t.test('fields of others are left alone', async (t) => {
    await admin('PATCH', path, { data: { theirs: 'too' } }, MERGE)
    await admin('PATCH', path, { data: { ours: 'another' } }, MERGE)
    await until('ours is put back', async () => (await ours()) === 'as it was')
    t.equal((await read(path)).data.theirs, 'too')
  })

  t.test('a graph at rest asks for nothing', async (t) => {
    const requests = async () => {
      const reply = await fetch(`http://127.0.0.1:${cluster.system.opsPort}/metrics`)
      return Number(
        /^pequod_reconcile_total\{controller="resourcegraphs"\} (\d+)/m.exec(
          await reply.text(),
        )?.[1],
      )
    }
    // A label of somebody else's is news, and no drift.
    const version = async (of: string) => (await read(of)).metadata.resourceVersion
    const before = [await version(path), await version(graphPath('drift'))]
    const passes = await requests()
    await admin('PATCH', path, { metadata: { labels: { of: 'others' } } }, MERGE)
    await until('it was looked at', async () => (await requests()) > passes)
    const [object, graph] = [await version(path), await version(graphPath('drift'))]
    t.equal(Number(object) > Number(before[0]), true)
    t.equal(graph, before[1], 'and nothing is written')
    const managers = (await read(path)).metadata.managedFields.map(
      ({ manager }: { manager: string }) => manager,
    )
    t.ok(managers.includes(`pequod:${HOME}/drift`))
  })
})
