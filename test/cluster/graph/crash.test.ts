import t from 'tap'
import { until } from '../harness/until.ts'
import { graphCluster, graphPath, HOME, inlineTransform, transformPath } from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const CHAIN = 12
const KILLS = 4

t.test('a reconciler that is killed at any moment leaves no object behind', async (t) => {
  const cluster = await graphCluster(t, {
    hasWebhook: false,
    reconcilerFlags: ['--no-leader-elect'],
  })
  const { admin, read, apply, untilReady, untilGone } = cluster
  const { reconciler } = cluster.system
  const chain = (generation: number) =>
    Array.from({ length: CHAIN }, (_, index) =>
      configMapNode(`g${generation}-${index}`, {
        metadata: { annotations: { 'pequod.io/prune-grace-period': '0' } },
        ...(index > 0 && { dependsOn: [`g${generation}-${index - 1}`] }),
      }),
    )
  const ours = async (): Promise<readonly string[]> => {
    const { body } = await admin<{ items: readonly { metadata: { name: string } }[] }>(
      'GET',
      `/api/v1/namespaces/${HOME}/configmaps?labelSelector=pequod.io/graph`,
    )
    return body.items.map(({ metadata }) => metadata.name).sort()
  }
  const inventory = async (): Promise<readonly string[]> =>
    ((await read(graphPath('crash')))?.status?.inventory ?? []).map(
      ({ name }: { name: string }) => name,
    )

  for (let kill = 0; kill < KILLS; kill++) {
    await apply(inlineTransform('crash', moduleOf(...chain(kill))))
    // Later each time: while it starts, applies, prunes.
    const enough = (kill * CHAIN) / KILLS
    await until('it has begun', async () => {
      const made = (await ours()).filter((name) => name.startsWith(`g${kill}-`))
      return made.length >= enough
    })
    await reconciler.child().kill()
    const known = await inventory()
    for (const name of await ours()) t.ok(known.includes(name), `${name} is in the inventory`)
    reconciler.start()
  }
  await untilReady('crash', 'True')
  t.equal((await ours()).length, CHAIN)
  t.ok((await ours()).every((name) => name.startsWith(`g${KILLS - 1}-`)))

  await admin('DELETE', transformPath('crash'))
  await until('it is being deleted', async () => (await ours()).length < CHAIN)
  await reconciler.child().kill()
  reconciler.start()
  await untilGone(transformPath('crash'))
  t.same(await ours(), [])
})
