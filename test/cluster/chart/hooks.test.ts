import { join } from 'node:path'
import t from 'tap'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { writeAccountKubeconfig } from '../../../tools/dev/accounts.ts'
import { helmOn, NAMESPACE, type Said, templateArgs, type Values } from '../../chart/helm.ts'
import type { Loose } from '../../chart/pods.ts'
import { type Scope, testCluster } from '../harness/fixture.ts'
import { MUTATING, VALIDATING } from '../harness/objects.ts'
import { run } from '../harness/run.ts'
import { until } from '../harness/until.ts'

const [, RELEASE = '', CHART = ''] = templateArgs()
const EXAMPLE = join(import.meta.dirname, '../../../docs/examples/own-assets')
const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const RECONCILER = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/virt-platform-autopilot-reconciler`
const ACCOUNTS = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const LONG_MS = 180_000

const VALUES = {
  disruptiveChanges: 'apply',
  activation: 'on',
  preInstall: { diff: { enabled: true } },
}

t.test('the Jobs of the chart', async (t) => {
  const { cluster, helm, said } = await releaseOn(t)
  const { admin } = cluster
  const upgrade = (values: Values) => helm(['upgrade', '--install', RELEASE, CHART], values)
  /** The arguments of the reconciler, none where there is no Deployment. */
  const installed = async (): Promise<readonly string[]> => {
    const { status, body } = await admin<Loose>('GET', RECONCILER)
    return status === 404 ? [] : body.spec.template.spec.containers[0].args
  }
  const ours = async (path: string) => {
    const { body } = await admin<Loose>('GET', path)
    const names: readonly string[] = body.items.map(({ metadata }: Loose) => metadata.name)
    return names.filter((name) => name.startsWith('virt-platform-autopilot'))
  }

  await t.test('where nodes would reboot, nothing is installed: twice', async (t) => {
    const first = await helm(['install', RELEASE, CHART, '--create-namespace'], VALUES)
    t.match(first, { isGood: false, stderr: /pre-install/ })
    t.match(said(), /reboots 3 nodes of pool worker .*waits for approval/)
    t.same(await installed(), [])
    t.match(await upgrade(VALUES), { isGood: false, stderr: /pre-upgrade/ })
    t.same(await installed(), [])
  })

  await t.test('what failed is uninstalled, and leaves no account', async (t) => {
    t.match(await helm(['uninstall', RELEASE]), { isGood: true })
    t.match(said(), 'the webhook configurations are gone')
    t.same(await ours(ACCOUNTS), [])
    t.same(await ours(ROLES), [])
  })

  await t.test('what only observes is installed, and is not switched on unapproved', async (t) => {
    const observing = await upgrade({ ...VALUES, activation: 'observe' })
    t.ok(observing.isGood, observing.stderr)
    t.match(said(), /reboots 3 nodes of pool worker/)
    t.match(await upgrade(VALUES), { isGood: false, stderr: /pre-upgrade/ })
    t.ok((await installed()).includes('--activation=observe'))
  })

  await t.test('the next try finds the approval', async (t) => {
    const [, command = ''] = /^To approve what waits for it: kubectl (.*)$/m.exec(said()) ?? []
    t.match(await cluster.kubectl(command.split(' ')), { code: 0 })
    const { isGood, stderr } = await upgrade(VALUES)
    t.ok(isGood, stderr)
    t.ok((await installed()).includes('--activation=on'))
  })

  await t.test('assets of one’s own need the roles that rbac prints', async (t) => {
    const ownAssets = { configMap: 'own-assets' }
    t.match(await upgrade({ ...VALUES, ownAssets }), { isGood: false, stderr: /pre-upgrade/ })
    const { stdout } = await run(['rbac', `--assets=${EXAMPLE}`])
    const apply = ['apply', '--server-side', '-f-']
    t.match(await cluster.kubectl(apply, { input: stdout }), { code: 0, stderr: '' })
    for (const logLevel of ['info', 'debug']) {
      const { isGood, stderr } = await upgrade({ ...VALUES, ownAssets, logLevel })
      t.ok(isGood, stderr)
    }
    const args = await installed()
    t.ok(args.includes('--assets=/etc/own-assets') && args.includes('--log-level=debug'))
  })

  await t.test('before the end the registration goes, and then the account', async (t) => {
    for (const path of [MUTATING, VALIDATING]) {
      const [, at = '', name = ''] = /^(.*)\/(.*)$/.exec(path) ?? []
      t.equal((await admin('POST', at, { metadata: { name } })).status, 201)
    }
    t.match(await helm(['uninstall', RELEASE]), { isGood: true })
    for (const path of [MUTATING, VALIDATING]) t.equal((await admin('GET', path)).status, 404)
    t.same(await ours(ACCOUNTS), [])
    t.same(
      await ours(ROLES),
      ['own-assets', 'own-assets-diff'].map((name) => `${RELEASE}-${name}`),
    )
  })
})

/** A cluster with a helm for it: while that runs, so do the pods of Jobs, as processes of this machine. */
async function releaseOn(t: Scope) {
  const cluster = await testCluster(t, { controllerManager: true })
  const { admin, dataDir } = cluster
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  t.teardown(() => client.close())
  const runHelm = await helmOn({ HOME: dataDir, KUBECONFIG: cluster.kubeconfig })
  const seen = new Set<string>()
  let last = ''

  const runPod = async ({ metadata, spec }: Loose) => {
    const account = { client, kubeconfig, namespace: NAMESPACE, folder: dataDir }
    const KUBECONFIG = await writeAccountKubeconfig(account, spec.serviceAccountName)
    const args = spec.containers[0].args.map((arg: string) =>
      arg.replace('/etc/own-assets', EXAMPLE),
    )
    const { code, stdout } = await run(args, { env: { KUBECONFIG } })
    last = stdout
    const status = { phase: code === 0 ? 'Succeeded' : 'Failed' }
    const type = 'application/merge-patch+json'
    await admin('PATCH', `${PODS}/${metadata.name}/status`, { status }, type)
  }
  const runPods = async () => {
    const { body } = await admin<Loose>('GET', PODS)
    for (const pod of body.items) {
      const { uid, ownerReferences } = pod.metadata
      if (ownerReferences[0].kind !== 'Job' || seen.has(uid)) continue
      seen.add(uid)
      await runPod(pod)
    }
  }
  return {
    cluster,
    /** What the last of the pods said. */
    said: () => last,
    async helm(args: readonly string[], values?: Values): Promise<Said> {
      let ended: Said | undefined
      const running = runHelm([...args, `--namespace=${NAMESPACE}`], values).then((how) => {
        ended = how
      })
      await until(
        'helm ends',
        async () => {
          await runPods()
          return ended !== undefined
        },
        LONG_MS,
      )
      await running
      if (!ended) throw new Error('helm has not ended')
      return ended
    },
  }
}
