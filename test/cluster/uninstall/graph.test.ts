import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { FINALIZER, GRAPH } from '../../../src/shared/graph/names.ts'
import {
  configMapPath,
  graphCluster,
  graphPath,
  inlineTransform,
  transformPath,
} from '../graph/graph-cluster.ts'
import { run } from '../harness/run.ts'

const MODULE = `package one

#Input: {}
input: #Input
graph: nodes: [{
	id: "one"
	object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "one"}
}]
`
const CONFIGURATION = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${GRAPH.webhookConfiguration}`
// A leader renews its Lease every two seconds, and a candidate looks at it as often.
const SOON_MS = 6_000

t.test('`unregister graph` while the processes run', async (t) => {
  const cluster = await graphCluster(t)
  const { read, apply, untilReady, untilGone } = cluster
  const unregister = (kubeconfig = cluster.kubeconfig) =>
    run(['unregister', 'graph', `--kubeconfig=${kubeconfig}`])
  const finalizers = (): Promise<readonly unknown[]> =>
    Promise.all(
      [transformPath('one'), graphPath('one')].map(
        async (path) => (await read(path))?.metadata.finalizers,
      ),
    )
  await apply(inlineTransform('one', MODULE))
  await untilReady('one', 'True')

  await t.test('is refused to whoever may not, and changes nothing', async (t) => {
    const { code, stderr } = await unregister(
      cluster.kubeconfigFor({ name: 'bob', groups: ['visitors'] }),
    )
    t.equal(code, 1)
    t.match(stderr, /User "bob" cannot get resource "leases"/)
    t.same(await finalizers(), [[FINALIZER], [FINALIZER]])
    t.ok(await read(CONFIGURATION))
  })

  await t.test(
    'lets everything go and deletes nothing, and no process takes it back',
    async (t) => {
      t.match(await unregister(), {
        code: 0,
        stdout:
          'the webhook configurations are gone\nour finalizers are gone, and nothing with them: 1 transforms, 1 resourcegraphs\n',
      })
      await cluster.system.reconciler.stop()
      cluster.system.reconciler.start()
      await sleep(SOON_MS)
      t.same(await finalizers(), [undefined, undefined])
      t.equal(await read(CONFIGURATION), undefined)
      t.ok(await read(configMapPath('one')))
    },
  )

  await t.test('may be repeated, and waits for nobody then', async (t) => {
    const startedAt = performance.now()
    t.match(await unregister(), { code: 0, stdout: /: 0 transforms, 0 resourcegraphs\n$/ })
    t.ok(performance.now() - startedAt < 10_000)
  })

  await t.test('a Transform goes at once, and what it made stays', async (t) => {
    await cluster.admin('DELETE', transformPath('one'))
    await untilGone(transformPath('one'))
    await sleep(SOON_MS)
    t.notOk((await read(configMapPath('one'))).metadata.deletionTimestamp)
  })
})
