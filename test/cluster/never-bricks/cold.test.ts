import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ApiError, type Client, connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { startControlPlane } from '../../../tools/control-plane/control-plane.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { startBadWebhook } from './bad-webhook.ts'
import { writeForeign } from './foreign-writes.ts'

const LONG_MS = 120_000
const NODE = 'cold-node'
const MERGE = 'application/merge-patch+json'
const READY = [{ type: 'Ready', status: 'True' }]
const PODS = '/api/v1/namespaces/cold/pods'
const APP = { matchLabels: { app: 'cold' } }
const DEPLOYMENT = {
  metadata: { name: 'cold' },
  spec: {
    replicas: 2,
    selector: APP,
    template: {
      metadata: { labels: APP.matchLabels },
      spec: { containers: [{ name: 'main', image: 'main' }] },
    },
  },
}

/** Brings a node up as its kubelet does. */
async function register({ send }: Client): Promise<void> {
  const post = (at: string, body: object) => send(at, { method: 'POST', body })
  await post('/api/v1/nodes', { metadata: { name: NODE } })
  await send(`/api/v1/nodes/${NODE}/status`, {
    method: 'PATCH',
    contentType: MERGE,
    body: { status: { conditions: READY } },
  })
  await post('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
    metadata: { name: NODE, namespace: 'kube-node-lease' },
    spec: { holderIdentity: NODE, leaseDurationSeconds: 40 },
  })
}

/** Runs a pod as scheduler and kubelet do. */
async function run({ send }: Client, name: string): Promise<void> {
  const binding = { metadata: { name }, target: { kind: 'Node', name: NODE } }
  await send(`${PODS}/${name}/binding`, { method: 'POST', body: binding })
  await send(`${PODS}/${name}/status`, {
    method: 'PATCH',
    contentType: MERGE,
    body: { status: { phase: 'Running', conditions: READY } },
  })
}

t.test('a cluster that starts cold', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'autopilot-cold-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  const cluster = await autopilotCluster(t, {
    dataDir,
    controllerManager: true,
    reconcilerFlags: ['--failure-policy=Fail'],
  })
  const { autopilot, binaries } = cluster
  const print = (line: string) => t.comment(line)

  await faultTest(
    t,
    {
      part: 'webhook',
      fault:
        'the whole control plane starts anew, neither process runs, and the failure policy is Fail',
      outcome:
        'nodes register, controllers and pods work, namespaces come and go; only managed objects wait for us',
    },
    async (t) => {
      await autopilot.stop()
      await cluster.stop()
      const bad = await startBadWebhook('silent', {
        port: autopilot.webhookPort,
        key: '',
        cert: '',
      })
      t.teardown(bad.stop)
      const plane = await startControlPlane({ binaries, dataDir, controllerManager: true, print })
      t.teardown(plane.stop)
      const client = await connect(loadKubeconfig(plane.kubeconfig))
      t.teardown(() => client.close())
      const read = async (path: string) => (await client.send(path)).body as Loose

      const namespace = { metadata: { name: 'cold' } }
      await client.send('/api/v1/namespaces', { method: 'POST', body: namespace })
      const deployments = '/apis/apps/v1/namespaces/cold/deployments'
      await client.send(deployments, { method: 'POST', body: DEPLOYMENT })
      await register(client)
      const pods = await until(
        'the controllers make the pods',
        async () => {
          const { items } = await read(PODS)
          return items.length === 2 && (items as Loose[])
        },
        LONG_MS,
      )
      for (const { metadata } of pods) await run(client, metadata.name)
      await until(
        'the deployment is available',
        async () => (await read(`${deployments}/cold`)).status.availableReplicas === 2,
        LONG_MS,
      )
      const { refused } = await writeForeign(client, 'foreign')
      t.same(refused, [])
      await client.send('/api/v1/namespaces/cold', { method: 'DELETE' })
      for (const { metadata } of pods) {
        const now = { gracePeriodSeconds: 0 }
        await client
          .send(`${PODS}/${metadata.name}`, { method: 'DELETE', body: now })
          .catch(unlessGone)
      }
      await until(
        'the namespace is gone',
        async () => {
          const { items } = await read('/api/v1/namespaces')
          return items.every((one: Loose) => one.metadata.name !== 'cold')
        },
        LONG_MS,
      )
      t.equal(bad.connections(), 0, 'and nobody was asked about anything')

      const body = { spec: { minHealthy: '1%' } }
      const edit = client.send(HEALTH_CHECK, { method: 'PATCH', contentType: MERGE, body })
      await t.rejects(edit, { message: /failed calling webhook "mutate.platform.kubevirt.io"/ })
      t.ok(bad.connections() > 0)
    },
  )
})

function unlessGone(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error
}
