import { join } from 'node:path'
import t from 'tap'
import { definitionName } from '../../../src/shared/api/custom-resource.ts'
import { accountUser } from '../../../src/shared/engine/identity.ts'
import { FINALIZER, GRAPH } from '../../../src/shared/graph/names.ts'
import { RESOURCE_GRAPH } from '../../../src/shared/graph/resource-graph.ts'
import { TRANSFORM } from '../../../src/shared/graph/transform.ts'
import { CHOSEN } from '../../chart/matrix.ts'
import type { Loose } from '../../chart/pods.ts'
import { openRehearsal } from '../../e2e/rehearsal.ts'
import { asLine, auditedOfAll } from '../harness/audit.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'
import { embeddedSite } from './embedded-site.ts'

const SAMPLES = join(import.meta.dirname, '../../../assets/graph/samples')
const HOME = 'shop'
const KINDS = [TRANSFORM, RESOURCE_GRAPH]
const OURS = KINDS.map(
  ({ plural }) => `/apis/platform.pequod.io/v1alpha1/namespaces/${HOME}/${plural}/shop`,
)
const [TRANSFORM_PATH = ''] = OURS
const DEPLOYMENT = `/apis/apps/v1/namespaces/${HOME}/deployments/shop`
const CONFIGURATION = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${GRAPH.webhookConfiguration}`
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const LONG_MS = 120_000
const ONE = { replicas: 1 }
const VALUES = {
  ...CHOSEN,
  webhook: ONE,
  reconciler: ONE,
  systems: { graph: { enabled: true, enroll: [HOME], webhook: ONE, reconciler: ONE } },
}
const END = ['--wait', '--timeout=5m']
const WAIT = ['--create-namespace', ...END]

t.test('the chart with the system graph, from its installation to its end', async (t) => {
  const site = await embeddedSite(t, { crds: false }, ['baseline', 'graph'])
  const rehearsal = await openRehearsal(site)
  t.teardown(() => rehearsal.close())
  const { helm, kubectl, read } = rehearsal
  const finalizers = (): Promise<readonly unknown[]> =>
    Promise.all(OURS.map(async (path) => (await read(path))?.metadata.finalizers))
  const untilReady = () =>
    until(
      'the Transform is ready',
      async () => {
        const { conditions = [] } = (await read(TRANSFORM_PATH))?.status ?? {}
        return conditions.some(({ type, status }: Loose) => type === 'Ready' && status === 'True')
      },
      LONG_MS,
    )
  let deployment: Loose

  await t.test('a Transform of an enrolled namespace becomes ready', async (t) => {
    await kubectl('create', 'namespace', HOME)
    await helm('install', WAIT, VALUES)
    await kubectl('apply', '-n', HOME, '-f', join(SAMPLES, 'webservice.yaml'))
    await untilReady()
    deployment = await read(DEPLOYMENT)
    t.same(await finalizers(), [[FINALIZER], [FINALIZER]])
  })

  await t.test(
    'what a module refuses is refused at the door, by the evaluator in the pod',
    async (t) => {
      const isRegistered = async () =>
        (await read(CONFIGURATION))?.webhooks?.[0]?.clientConfig.caBundle
      await until('the webhook is registered', isRegistered, LONG_MS)
      const edit = { spec: { input: { replicas: -1 } } }
      const answer = async () => rehearsal.patch(TRANSFORM_PATH, edit, { dryRun: 'All' })
      await until('the API server asks it', async () => (await answer()).status !== 200, LONG_MS)
      t.match(await answer(), { status: 422, body: { message: /spec\.input\.replicas/ } })
    },
  )

  await t.test('nothing was refused to its accounts', async (t) => {
    const asked = auditedOfAll(site.cluster)
    const refused = asked.filter(({ responseStatus }) => responseStatus?.code === 403)
    t.same(refused.map(asLine), [])
    const users = new Set(asked.map(({ user }) => user.username))
    for (const account of [GRAPH.reconcilerAccount, GRAPH.webhookAccount])
      t.ok(users.has(accountUser(GRAPH.name, account)), account)
  })

  await t.test(
    'the end takes what holds writes and deletions up, and leaves the rest',
    async (t) => {
      await helm('uninstall', END)
      t.equal(await read(CONFIGURATION), undefined)
      t.same((await read(POLICIES)).items, [])
      t.same(await finalizers(), [undefined, undefined])
      for (const kind of KINDS)
        t.ok(
          await read(
            `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definitionName(kind)}`,
          ),
        )
      t.equal((await read(DEPLOYMENT)).metadata.uid, deployment.metadata.uid)
    },
  )

  await t.test('the next installation goes on from there', async (t) => {
    await until(
      'the namespace is gone',
      async () => !(await read(`/api/v1/namespaces/${GRAPH.name}`)),
    )
    await helm('install', WAIT, VALUES)
    const isHeld = async () => (await finalizers()).every((all) => all !== undefined)
    await until('the Transform is held again', isHeld, LONG_MS)
    await untilReady()
    t.equal((await read(DEPLOYMENT)).metadata.uid, deployment.metadata.uid)
  })

  await t.test('it is switched off as the page says', async (t) => {
    t.match(await run(['unregister', 'graph', `--kubeconfig=${site.kubeconfig}`]), { code: 0 })
    await helm('upgrade', END, { ...VALUES, systems: { graph: { enabled: false } } })
    t.same(await finalizers(), [undefined, undefined])
    t.equal(await read(CONFIGURATION), undefined)
  })

  await t.test('without it, a Transform goes at once and its objects stay', async (t) => {
    await kubectl('delete', 'transform', 'shop', '-n', HOME, '--timeout=30s')
    await until('its graph is collected', async () => !(await read(OURS[1] ?? '')))
    t.equal((await read(DEPLOYMENT)).metadata.deletionTimestamp, undefined)
  })

  await t.test('without its definitions, too', async (t) => {
    await kubectl('apply', '-n', HOME, '-f', join(SAMPLES, 'webservice.yaml'))
    await kubectl('delete', 'crd', ...KINDS.map(definitionName), '--timeout=60s')
    t.equal((await read(DEPLOYMENT)).metadata.deletionTimestamp, undefined)
  })
})
