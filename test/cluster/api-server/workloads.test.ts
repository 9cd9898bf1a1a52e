import t from 'tap'
import { findTool } from '../../../tools/go-programs/tools.ts'
import { environment, testCluster } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'player' },
  status: {
    capacity: { cpu: '8', memory: '16Gi', pods: '110' },
    allocatable: { cpu: '8', memory: '16Gi', pods: '110' },
  },
}
const POD = {
  metadata: { labels: { app: 'sample' } },
  spec: { containers: [{ name: 'main', image: 'sample' }] },
}

interface Seen {
  readonly status: { readonly availableReplicas?: number; readonly succeeded?: number }
}
interface Pods {
  readonly items: readonly { readonly status: { readonly podIP?: string } }[]
}

t.test('workloads roll out on nodes that are played', async (t) => {
  const kwok = await findTool('kwok', environment(), (line) => t.comment(line))
  const podAddress = '192.0.2.7'
  const { admin } = await testCluster(t, { crds: false, workloads: { kwok, podAddress } })
  const create = async (path: string, body: object) =>
    t.equal((await admin('POST', path, body)).status, 201, `${path} is created`)
  await create('/api/v1/nodes', NODE)
  await create('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'sample' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'sample' } }, template: POD },
  })
  await create('/apis/batch/v1/namespaces/default/jobs', {
    metadata: { name: 'sample' },
    spec: { template: { spec: { ...POD.spec, restartPolicy: 'Never' } } },
  })
  const statusOf = async (path: string) => (await admin<Seen>('GET', path)).body.status
  const deployment = '/apis/apps/v1/namespaces/default/deployments/sample'
  await until(
    'both pods are available',
    async () => (await statusOf(deployment)).availableReplicas === 2,
  )
  const job = '/apis/batch/v1/namespaces/default/jobs/sample'
  await until('the job is done', async () => (await statusOf(job)).succeeded === 1)
  const pods = '/api/v1/namespaces/default/pods?labelSelector=app%3Dsample'
  const { items } = (await admin<Pods>('GET', pods)).body
  t.same(
    items.map(({ status }) => status.podIP),
    [podAddress, podAddress],
  )
  await admin('DELETE', `${deployment}?propagationPolicy=Foreground`)
  await until(
    'nothing is left of it',
    async () => (await admin<Pods>('GET', pods)).body.items.length === 0,
  )
})
