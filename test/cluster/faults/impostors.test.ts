import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Client, connect, type RequestInput } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const RECONCILER = 'virt-platform-autopilot-reconciler'
const ITS_USER = `system:serviceaccount:${NAMESPACE}:${RECONCILER}`
const WEBHOOK = 'virt-platform-autopilot-webhook'
const RBAC = 'rbac.authorization.k8s.io'
const BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`
const ADMINS = 'platform-admins'
const MANAGED_BY = 'platform.kubevirt.io/managed-by'
const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const EDIT = { spec: { minHealthy: '13%' } }
const MERGE = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'

type Way = Pick<RequestInput, 'body' | 'contentType' | 'query' | 'headers'>

const bearing = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })
const as = (user: string, group = ADMINS) => ({
  headers: { 'impersonate-user': user, 'impersonate-group': group },
})
const alice = as('alice')

/** The token of an account, which is made where there is none. */
async function tokenOf({ send }: Client, namespace: string, name: string) {
  const at = `/api/v1/namespaces/${namespace}/serviceaccounts`
  const post = (path: string, body: object) => send(path, { method: 'POST', body })
  if (name !== WEBHOOK) await post(at, { metadata: { name } })
  const { body } = await post(`${at}/${name}/token`, { spec: {} })
  return bearing((body as Loose).status.token)
}

/** Gives all accounts of some namespaces every right. */
const empower = ({ send }: Client, namespaces: readonly string[]) =>
  send(BINDINGS, {
    method: 'POST',
    body: {
      metadata: { name: 'powerful-accounts' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: namespaces.map((namespace) => ({
        apiGroup: RBAC,
        kind: 'Group',
        name: `system:serviceaccounts:${namespace}`,
      })),
    },
  })

t.test('whose writes are never judged', async (t) => {
  const cluster = await autopilotCluster(t)
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(() => client.close())
  await empower(client, [NAMESPACE, 'default'])
  /** What would be stored of an edit. */
  const storedOf = async (way: Way) => {
    const query = { dryRun: 'All', ...way.query }
    const input = { method: 'PATCH', contentType: MERGE, body: EDIT, ...way, query }
    return (await client.send(HEALTH_CHECK, input)).body as Loose
  }
  /** The value that was wanted, or ours. */
  const editedBy = async (way: Way) => (await storedOf(way)).spec.minHealthy

  const powerful = await tokenOf(client, 'default', 'powerful')
  await until('the accounts have their rights', () =>
    editedBy(powerful).then(
      () => true,
      () => false,
    ),
  )

  const file = join(cluster.dataDir, 'autopilot', `kubeconfig-${RECONCILER}`)
  const { token } = JSON.parse(readFileSync(file, 'utf8')).users[0].user
  await t.test('those of the reconciler', async (t) => {
    t.equal(await editedBy(bearing(token)), '13%')
  })

  const object = {
    apiVersion: 'remediation.medik8s.io/v1alpha1',
    kind: 'NodeHealthCheck',
    metadata: { name: 'virt-node-health-check' },
    ...EDIT,
  }
  const label = { [MANAGED_BY]: 'virt-platform-autopilot' }
  const manager = { fieldManager: 'virt-platform-autopilot' }
  const applying = { ...alice, query: { ...manager, force: true }, contentType: APPLY }
  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'somebody writes under our own field manager, and applies with force',
      outcome: 'it is judged like any other write: an account is exempt, not a field manager',
    },
    async (t) => {
      t.equal(await editedBy({ ...alice, query: manager }), '51%')
      t.equal(await editedBy({ ...applying, body: object }), '51%')
      // What is left out of an apply is taken away from the object, and put back.
      const { spec: _, ...nothing } = object
      t.equal(await editedBy({ ...applying, body: nothing }), '51%')
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'the label is stripped in the write that edits a field',
      outcome: 'both are put back: an object is known by its name',
    },
    async (t) => {
      const body = { ...EDIT, metadata: { labels: { [MANAGED_BY]: null } } }
      const { spec, metadata } = await storedOf({ ...alice, body })
      t.equal(spec.minHealthy, '51%')
      t.equal(metadata.labels[MANAGED_BY], 'virt-platform-autopilot')
    },
  )

  const others: Readonly<Record<string, Way>> = {
    'with its User-Agent': {
      headers: { ...alice.headers, 'user-agent': 'virt-platform-autopilot' },
    },
    'who sets its label': { ...alice, body: { ...EDIT, metadata: { labels: label } } },
    'in the group of its accounts': as('alice', `system:serviceaccounts:${NAMESPACE}`),
    'whose name begins as its does': as(`${ITS_USER}2`),
    'whose name ends as its does': as(`x${ITS_USER}`),
    'whose name differs by a capital': as(ITS_USER.replace('system', 'System')),
  }
  for (const [who, way] of Object.entries(others)) {
    await t.test(`not those of somebody ${who}`, async (t) => {
      t.equal(await editedBy(way), '51%')
    })
  }

  for (const [namespace, name] of [
    [NAMESPACE, WEBHOOK],
    [NAMESPACE, 'another'],
    ['default', RECONCILER],
  ] as const) {
    await t.test(`not those of the account ${name} of ${namespace}`, async (t) => {
      t.equal(await editedBy(await tokenOf(client, namespace, name)), '51%')
    })
  }

  await t.test('whoever may impersonate it is as good as it', async (t) => {
    const patch = ['patch', ...CHECK, '--type=merge', `--patch=${JSON.stringify(EDIT)}`]
    const options = ['--dry-run=server', '-o=jsonpath={.spec.minHealthy}', `--as=${ITS_USER}`]
    t.match(await cluster.kubectl([...patch, ...options]), { code: 0, stdout: '13%' })
  })

  await t.test('whoever may not impersonate it is refused', async (t) => {
    const { headers } = await tokenOf(client, 'kube-public', 'powerless')
    const edit = editedBy({ headers: { ...headers, 'impersonate-user': ITS_USER } })
    await t.rejects(edit, { status: 403, message: /cannot impersonate/ })
  })
})
