import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isNeeded } from '../../../tools/control-plane/definitions.ts'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import { send } from '../../../tools/control-plane/request.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK, MUTATING, STATE, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const PREFIX = 'platform.kubevirt.io'
const MERGE = 'application/merge-patch+json'
const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const RECONCILER = `system:serviceaccount:${NAMESPACE}:virt-platform-autopilot-reconciler`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/virt-platform-autopilot.kubevirt.io`
const BASELINE = '51%'

const healthy = (minHealthy: string) => ({ spec: { minHealthy } })

t.test('what an admin does behind the webhook', async (t) => {
  const cluster = await autopilotCluster(t, {
    reconcilerFlags: ['--resync=1s'],
    crds: (one) => isNeeded(one) || one.kind === 'KubeVirt',
  })
  const { admin, read, asked, untilEvent } = cluster
  const alice = cluster.person('alice')
  const patch = (path: string, body: object, type = MERGE) =>
    admin<Loose>('PATCH', path, body, type)
  const minHealthy = async () => (await read(HEALTH_CHECK))?.spec.minHealthy
  const untilHealed = () =>
    until('it is at its baseline', async () => (await minHealthy()) === BASELINE, 60_000)
  const untilJudged = () => until('writes are judged', cluster.isJudged, 60_000)

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an admin impersonates the reconciler’s account, which is exempt',
      outcome: 'the write is stored unjudged, and healed',
    },
    async (t) => {
      const said = await cluster.kubectl(
        ['patch', ...CHECK, '--type=merge', `--patch=${JSON.stringify(healthy('1%'))}`, '-o=json'],
        { user: { name: RECONCILER, groups: [PLATFORM_ADMINS] } },
      )
      t.equal(said.stderr, '')
      t.equal(JSON.parse(said.stdout).spec.minHealthy, '1%')
      await untilHealed()
      await untilEvent('DriftCorrected', /minHealthy/)
    },
  )

  await t.test(
    'our own accounts can make nobody, themselves included, more powerful',
    async (t) => {
      const rbac = '/apis/rbac.authorization.k8s.io/v1'
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'virt-platform-autopilot-reconciler' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mallory' }],
      }
      const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
      const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
      const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`
      for (const account of ['reconciler', 'webhook']) {
        const file = join(
          cluster.dataDir,
          'autopilot',
          `kubeconfig-virt-platform-autopilot-${account}`,
        )
        const own = JSON.parse(readFileSync(file, 'utf8')).users[0].user.token
        for (const [method, path, body, contentType] of [
          ['POST', `${rbac}/clusterrolebindings`, { ...binding, metadata: { name: 'x' } }],
          [
            'PATCH',
            `${rbac}/clusterrolebindings/virt-platform-autopilot-reconciler`,
            binding,
            MERGE,
          ],
          [
            'PATCH',
            `${rbac}/clusterroles/virt-platform-autopilot-reconciler`,
            { rules: everything },
            MERGE,
          ],
          ['POST', `${accounts}/virt-platform-autopilot-reconciler/token`, token],
          ['POST', `${accounts}/default/token`, token],
        ] as const) {
          const { status } = await send(cluster.url + path, {
            method,
            ca: cluster.ca,
            token: own,
            body,
            ...(contentType && { contentType }),
          })
          t.equal(status, 403, `${account}: ${method} ${path}`)
        }
      }
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an admin forges the published state: everything off, and other digests',
      outcome: 'the leader publishes it anew, and writes are judged as before',
    },
    async (t) => {
      const before = (await read(STATE)).data
      const forged = Object.fromEntries(Object.keys(before).map((name) => [name, '{}']))
      const settings = JSON.stringify({ [`${PREFIX}/autopilot`]: 'false' })
      for (const data of [
        { ...forged, 'settings.json': settings },
        forged,
        { 'facts.json': '[' },
      ]) {
        t.equal((await patch(STATE, { data })).status, 200)
        await until(
          'the state is what it was',
          async () => {
            const now = (await read(STATE)).data
            return ['facts.json', 'baselines.json'].every((name) => now[name] === before[name])
          },
          60_000,
        )
        await untilJudged()
        t.equal(await minHealthy(), BASELINE)
      }
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'an admin takes the Lease away from the leader',
      outcome: 'it stops writing, and leads again when that one is not renewed',
    },
    async (t) => {
      const now = new Date().toISOString().replace('Z', '000Z')
      const spec = { holderIdentity: 'mallory', acquireTime: now, renewTime: now }
      const leads = async () => (await cluster.metric('reconciler', 'virt_platform_leader')) === 1
      t.equal((await patch(LEASE, { spec })).status, 200)
      await until('it leads no more', async () => !(await leads()), 60_000)
      t.equal((await patch(HEALTH_CHECK, healthy('1%'))).body.spec.minHealthy, BASELINE)
      await until('it leads again', leads, 90_000)
      t.not((await read(LEASE)).spec.holderIdentity, 'mallory')
    },
  )

  await t.test('what belongs to others is nobody’s business here', async (t) => {
    const kubevirts = '/apis/kubevirt.io/v1/namespaces/openshift-cnv/kubevirts'
    const kubevirt = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'kubevirt-kubevirt-hyperconverged', namespace: 'openshift-cnv' },
      spec: {},
    }
    const before = await asked()
    t.equal((await admin('POST', kubevirts, kubevirt)).status, 201)
    const path = `${kubevirts}/${kubevirt.metadata.name}`
    t.equal((await patch(path, { spec: { workloadUpdateStrategy: {} } })).status, 200)
    const override = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { name: '99-zz-override' },
      spec: {},
    }
    const configs = SWAP.slice(0, SWAP.lastIndexOf('/'))
    t.equal((await admin('POST', configs, override)).status, 201)
    t.equal((await admin('DELETE', `${configs}/99-zz-override`)).status, 200)
    t.equal(await asked(), before, 'the webhook is not asked')
  })

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: 'what is written while the webhook is away nests thousands of levels deep',
      outcome: 'it is healed like anything else',
    },
    async (t) => {
      const depth = 5_000
      const deep = `${'{"a":'.repeat(depth)}"x"${'}'.repeat(depth)}`
      await cluster.withoutWebhook(async () => {
        // As text: JavaScript's own writer of JSON calls itself at each level.
        const text = `{"spec":{"config":{"systemd":{"units":[${deep}]}}}}`
        const swap = ['machineconfig', SWAP.slice(SWAP.lastIndexOf('/') + 1)]
        const said = await alice(['patch', ...swap, '--type=merge', `--patch=${text}`, '-o=name'])
        t.match(said, { code: 0, stderr: '' })
        await until(
          'it is healed',
          async () => (await read(SWAP)).spec.config.systemd.units[0]?.a === undefined,
          60_000,
        )
      })
    },
  )

  await t.test('after all that, it is registered as ever', async (t) => {
    t.equal((await read(MUTATING)).webhooks.length, 1)
    await untilJudged()
  })
})
