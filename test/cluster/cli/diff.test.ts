import t from 'tap'
import type { Asset, Catalog } from '../../../src/shared/baseline/catalog/catalog.ts'
import { connect } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import { writeAccountKubeconfig } from '../../../tools/dev/accounts.ts'
import { auditedOfAll } from '../harness/audit.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import {
  HCO,
  HEALTH_CHECK,
  HYPERCONVERGED,
  KUBELET,
  METALLB,
  PCI,
  STATE,
  SWAP,
} from '../harness/objects.ts'
import { configMap, programWith } from '../harness/program.ts'
import { type RunOptions, run } from '../harness/run.ts'
import { until } from '../harness/until.ts'

const MAP = '/api/v1/namespaces/default/configmaps/outdated'
const RECONCILER = `system:serviceaccount:${NAMESPACE}:virt-platform-autopilot-reconciler`

/** What `diff -o json` says, as one line for each asset that would change. */
const changesIn = (stdout: string): readonly string[] =>
  JSON.parse(stdout)
    .assets.filter(({ changes }: Loose) => changes)
    .map(({ asset, action }: Loose) => `${action} ${asset}`)
    .sort()

const ACTIONS: Readonly<Record<string, string>> = {
  'patch 200': 'change',
  'patch 201': 'create',
  'delete 200': 'delete',
}

/** What the reconciler wrote to the catalog's objects, in the same words; fields that it released aside. */
const writesIn = (catalog: Catalog, requests: readonly Loose[]): readonly string[] => {
  const lines = requests.flatMap(({ user, verb, requestURI, objectRef, responseStatus }) => {
    const asset = catalog.find(({ object }) => isOf(object, objectRef))
    const action = ACTIONS[`${verb} ${responseStatus?.code}`]
    const isWrite = verb === 'delete' || /force=true/.test(requestURI.replace(/.*dryRun.*/, ''))
    return user.username === RECONCILER && asset && action && isWrite
      ? [`${action} ${asset.name}`]
      : []
  })
  return [...new Set(lines)].sort()
}

const isOf = ({ group, resource, name }: Asset['object'], objectRef: Loose) =>
  objectRef?.resource === resource &&
  objectRef.name === name &&
  (objectRef.apiGroup ?? '') === group

const liveMigration = (liveMigrationConfig: object) => ({
  spec: { virtualization: { liveMigrationConfig } },
})

t.test('diff says what the reconciler does', async (t) => {
  const tombstone = {
    name: 'outdated',
    group: 'old',
    description: 'a better way has come',
    object: configMap('outdated'),
  }
  const program = programWith(t, {
    change: (catalog) => ({ ...catalog, tombstones: [tombstone] }),
  })
  const cluster = await autopilotCluster(t, {
    program,
    isEarly: true,
    only: ({ kind }) => kind !== 'HyperConverged',
    isAudited: true,
    reconcilerFlags: ['--resync=1s'],
  })
  const { read, admin, untilEvent, withoutWebhook, restart } = cluster
  const alice = cluster.person('alice')
  const kubeconfig = cluster.kubeconfigFor({ name: 'gitops', groups: ['platform-admins'] })
  const common = [`--kubeconfig=${kubeconfig}`, `--namespace=${NAMESPACE}`]
  const diff = (flags: readonly string[] = [], options: RunOptions = {}) =>
    run(['diff', ...common, ...flags], { entry: program.entry, ...options })
  const annotate = async (target: readonly string[], ...pairs: readonly string[]) =>
    t.match(
      await alice([
        'annotate',
        ...target,
        '--overwrite',
        ...pairs.map((pair) => `platform.kubevirt.io/${pair}`),
      ]),
      { code: 0 },
    )
  const patch = async (path: string, content: object) =>
    t.equal((await admin('PATCH', path, content, 'application/merge-patch+json')).status, 200)
  const untilInSync = () => until('nothing would change', async () => (await diff()).code === 0)
  const activation = () => {
    const lines = cluster.log('webhook').split('\n')
    return JSON.parse(lines.findLast((line) => line.includes('state loaded')) ?? '{}').activation
  }
  // The webhook learns it from the reconciler: whoever does not know yet would do what is only to be looked at.
  const activate = async (annotation: string, mode: string) => {
    await annotate(HYPERCONVERGED, annotation)
    await until(`both know of ${annotation}`, async () => activation() === mode)
  }
  const mark = () => auditedOfAll(cluster).length
  const writesSince = (from: number) => writesIn(program.catalog, auditedOfAll(cluster).slice(from))

  await t.test('without a HyperConverged nothing can be said', async (t) => {
    t.match(await diff(), { code: 2, stdout: '', stderr: /there is no HyperConverged/ })
  })

  const label = { 'platform.kubevirt.io/managed-by': 'virt-platform-autopilot' }
  const old = { metadata: { name: 'outdated', labels: label }, data: { a: 'b' } }
  t.equal((await admin('POST', MAP.replace('/outdated', ''), old)).status, 201)
  const hco = {
    apiVersion: 'hco.kubevirt.io/v1',
    kind: 'HyperConverged',
    metadata: {
      name: 'kubevirt-hyperconverged',
      namespace: 'openshift-cnv',
      annotations: {
        'platform.kubevirt.io/autopilot': 'observe',
        'platform.kubevirt.io/disruptive-changes': 'hold',
      },
    },
    spec: { deployment: { uninstallStrategy: 'RemoveWorkloads' } },
  }
  t.equal((await admin('POST', HCO.replace('/kubevirt-hyperconverged', ''), hco)).status, 201)
  await until('the state is published', () => read(STATE))

  const before = mark()
  const first = await diff()
  const digest = /approve=([0-9a-f]+)\n$/.exec(first.stdout)?.[1]

  await t.test('before the first write it lists all that is to come', async (t) => {
    t.equal(first.code, 1)
    t.match(first.stderr, /the autopilot only observes/)
    for (const line of [
      /^ConfigMap default\/outdated \(outdated\): would be deleted: a better way has come$/m,
      /^HyperConverged openshift-cnv\/kubevirt-hyperconverged \(hco-golden-config\): would be changed$/m,
      /^ {2}\/spec\/deployment\/uninstallStrategy "RemoveWorkloads" → "BlockUninstallIfWorkloadsExist"$/m,
      /^MachineConfig 50-virt-pci-passthrough \(pci-passthrough\): would be created; reboots 3 nodes of pool worker \(.*\); waits for approval$/m,
      /^MetalLB metallb-system\/metallb \(metallb\): would be created$/m,
    ])
      t.match(first.stdout, line)
    t.notMatch(first.stdout, /descheduler/, 'nobody has asked for it')
    t.match(first.stdout, /To approve what waits for it: kubectl annotate hyperconverged -n /)
  })

  const onReboot = (...flags: readonly string[]) => diff(['--fail-on=reboot', ...flags])

  await t.test('while the product only observes, no node reboots', async (t) => {
    t.match(await onReboot(), { code: 0, stdout: first.stdout })
    t.match(await onReboot('--activation=on'), { code: 0 }, 'the annotation goes before')
  })

  await t.test('it agrees with a product that only observes', async (t) => {
    const changed = changesIn((await diff(['-o', 'json'])).stdout).map((line) => line.split(' ')[1])
    for (const asset of changed) await untilEvent('DriftDetected', new RegExp(`^${asset}: `))
    const told = (await cluster.events('DriftDetected')).map(({ note }) => note.split(':')[0])
    t.same([...new Set(told)].sort(), changed.toSorted())
  })

  await t.test('that product asks the server once, and then not again', async (t) => {
    const askedSince = (from: number) =>
      auditedOfAll(cluster)
        .slice(from)
        .filter(({ user, verb }) => user.username === RECONCILER && verb === 'patch')
        .filter(({ requestURI }) => !requestURI.includes('/leases/'))
    t.ok(askedSince(0).some(({ requestURI }) => requestURI.includes('dryRun=All')))
    const from = mark()
    await cluster.untilCompared('metallb')
    t.same(askedSince(from), [])
  })

  await t.test('it writes nothing', async (t) => {
    const lines = auditedOfAll(cluster)
      .slice(before)
      .filter(({ user }) => user.username === 'gitops')
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
    t.ok(lines.length > 10)
    const isHarmless = (line: string) => /^(get|list|watch) |^patch .*dryRun=All/.test(line)
    t.same(
      lines.filter((line) => !isHarmless(line)),
      [],
    )
  })

  await t.test('what it lists is what is written, and what waits is what waits', async (t) => {
    const from = mark()
    const expected = JSON.parse((await diff(['-o', 'json'])).stdout)
    await annotate(HYPERCONVERGED, 'autopilot-')
    const { note } = await untilEvent('DisruptionPending', /approve=/)
    t.ok(note.endsWith(`approve=${digest}`), note)
    t.equal(expected.approval.digest, digest)
    const linesOf = (isWanted: (asset: Loose) => boolean) =>
      expected.assets
        .filter(({ changes }: Loose) => changes)
        .filter(isWanted)
        .map(({ action, asset }: Loose) => `${action} ${asset}`)
        .sort()
    const due = linesOf(({ waitsFor }) => waitsFor === undefined)
    const waiting = linesOf(({ waitsFor }) => waitsFor === 'approval')
    await until('all is written', async () => writesSince(from).length >= due.length)
    t.same(writesSince(from), due)
    t.ok(waiting.includes('create pci-passthrough'), waiting.join())

    const rest = await diff()
    t.equal(rest.code, 1)
    t.equal(rest.stdout.match(/waits for approval$/gm)?.length, waiting.length)
    t.notMatch(rest.stdout, /MetalLB|HyperConverged/)
    t.ok(rest.stdout.endsWith(`approve=${digest}\n`))

    const approval = mark()
    t.match(await onReboot(), { code: 1, stdout: rest.stdout })
    t.match(await onReboot('--activation=observe'), { code: 0, stdout: rest.stdout })
    await restart('reconciler', {
      async meanwhile() {
        const command = rest.stdout.slice(rest.stdout.indexOf('kubectl annotate'))
        t.match(await alice.shell(command), { code: 0 })
        const approved = /would be created; reboots 3 nodes of pool worker/
        t.match(await onReboot(), { code: 0, stdout: approved }, 'somebody has approved it')
      },
    })
    await untilInSync()
    t.same(writesSince(approval), waiting)
  })

  await t.test('afterwards it says nothing', async (t) => {
    t.same(await diff(), { code: 0, stdout: '', stderr: '' })
    t.same(await diff(['--fail-on=reboot']), { code: 0, stdout: '', stderr: '' })
    const { stdout } = await diff(['-o', 'json'])
    t.same(changesIn(stdout), [])
    t.match(JSON.parse(stdout).assets, [
      { asset: 'outdated', action: 'none', reason: 'Absent' },
      { asset: 'hco-golden-config', action: 'none', reason: 'InSync' },
    ])
  })

  await t.test('it agrees on what people have overridden and edited', async (t) => {
    const from = mark()
    let said = await diff()
    let reasons: Loose = {}
    await restart('reconciler', {
      meanwhile: () =>
        withoutWebhook(async () => {
          const check = ['nodehealthcheck', 'virt-node-health-check']
          const operation = { op: 'add', path: '/spec/minHealthy', value: '60%' }
          await annotate(check, `patch=${JSON.stringify([operation])}`)
          await patch(HEALTH_CHECK, { spec: { minHealthy: '9%' } })
          await annotate(['metallb', '-n', 'metallb-system', 'metallb'], 'mode=unmanaged')
          await patch(METALLB, { spec: { logLevel: 'debug' } })
          await annotate(
            ['kubeletconfig', 'virt-perf-settings'],
            'ignore-fields=/spec/autoSizingReserved',
          )
          await patch(KUBELET, { spec: { autoSizingReserved: false } })
          await annotate(['machineconfig', '50-virt-pci-passthrough'], 'reconcile-paused=true')
          await patch(PCI, { spec: { kernelArguments: ['quiet'] } })
          await patch(SWAP, { spec: { config: { systemd: { units: [] } } } })
          await patch(HCO, liveMigration({ allowPostCopy: true }))
          said = await diff(['-o', 'json'])
          const assets: readonly Loose[] = JSON.parse(said.stdout).assets
          reasons = Object.fromEntries(assets.map(({ asset, reason }) => [asset, reason]))
        }),
    })
    t.match(reasons, {
      metallb: 'Unmanaged',
      'pci-passthrough': 'Paused',
      'kubelet-perf-settings': 'InSync',
    })
    const changes = changesIn(said.stdout)
    t.same(changes, [
      'change hco-golden-config',
      'change node-health-standard',
      'change swap-enable',
    ])
    await untilInSync()
    t.same(writesSince(from), changes)
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '60%')
    t.equal((await read(KUBELET)).spec.autoSizingReserved, false)
  })

  await t.test('what only a patch had put there is shown as it goes', async (t) => {
    const check = ['nodehealthcheck', 'virt-node-health-check']
    const operation = { op: 'add', path: '/spec/stormCooldownDuration', value: '5m' }
    // Whoever wrote the field together with the patch would own it too, and keep it.
    await withoutWebhook(async () => {
      await annotate(check, `patch=${JSON.stringify([operation])}`)
      await untilInSync()
    })
    await activate('autopilot=observe', 'observe')
    await annotate(check, 'patch-')
    const said = await diff()
    t.equal(said.code, 1)
    t.match(said.stdout, /would be changed\n {2}\/spec\/stormCooldownDuration "5m" → nothing$/m)
    await activate('autopilot-', 'all')
    await untilInSync()
    t.equal((await read(HEALTH_CHECK)).spec.stormCooldownDuration, undefined)
  })

  await t.test('an invalid override is told, and keeps its object as it is', async (t) => {
    await withoutWebhook(async () => {
      await annotate(['nodehealthcheck', 'virt-node-health-check'], 'patch=[]x')
      const said = await diff()
      t.match(said, { code: 0, stdout: '' })
      t.match(said.stderr, /NodeHealthCheck .*\(node-health-standard\): held, nothing is written/)
    })
    await annotate(['nodehealthcheck', 'virt-node-health-check'], 'patch-')
    await untilInSync()
  })

  await t.test('secrets and control characters are not printed', async (t) => {
    await activate('autopilot=observe', 'observe')
    const operations = [
      {
        op: 'add',
        path: '/metadata/annotations',
        value: { 'a/token': 'hush', 'a/b': 'x\u001b[2Jy' },
      },
    ]
    await annotate(
      ['nodehealthcheck', 'virt-node-health-check'],
      `patch=${JSON.stringify(operations)}`,
    )
    for (const format of ['text', 'json']) {
      const { stdout } = await diff(['-o', format])
      t.match(stdout, /a~1token/)
      t.notMatch(stdout, 'hush')
      t.notMatch(stdout, '\u001b')
    }
    await annotate(['nodehealthcheck', 'virt-node-health-check'], 'patch-')
    await activate('autopilot-', 'all')
    await untilInSync()
  })

  await t.test('whoever may only look is told what cannot be confirmed', async (t) => {
    const viewer = await viewerOf(cluster)
    await activate('autopilot=observe', 'observe')
    await withoutWebhook(() => patch(HCO, liveMigration({ allowPostCopy: true })))
    const flags = [`--kubeconfig=${viewer}`, `--namespace=${NAMESPACE}`]
    const said = await run(['diff', ...flags], { entry: program.entry })
    t.equal(said.code, 1)
    t.match(said.stdout, /allowPostCopy true → false/)
    t.match(said.stderr, /the API server was not asked whether it agrees: .*403/)
    await activate('autopilot-', 'all')
    await untilInSync()
  })

  await t.test('whoever may not even look is told so', async (t) => {
    const nobody = await accountOf(cluster, 'nobody')
    const flags = [`--kubeconfig=${nobody}`, `--namespace=${NAMESPACE}`]
    const said = await run(['diff', ...flags], { entry: program.entry })
    t.match(said, { code: 2, stdout: '', stderr: /403 .*forbidden/ })
    t.equal(said.stderr.trim().split('\n').length, 1)
  })

  await t.test('switched off, nothing would change', async (t) => {
    await annotate(HYPERCONVERGED, 'autopilot=false')
    await withoutWebhook(() => patch(HCO, liveMigration({ allowPostCopy: true })))
    t.match(await diff(), { code: 0, stdout: '', stderr: /the autopilot is switched off/ })
  })
})

/** A kubeconfig of a new ServiceAccount, which may do nothing. */
async function accountOf(cluster: Loose, name: string): Promise<string> {
  const kubeconfig = loadKubeconfig(cluster.kubeconfig)
  const client = await connect(kubeconfig)
  try {
    const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`
    await cluster.admin('POST', accounts, { metadata: { name } })
    const options = { client, kubeconfig, namespace: NAMESPACE, folder: cluster.dataDir }
    return await writeAccountKubeconfig(options, name)
  } finally {
    await client.close()
  }
}

async function viewerOf(cluster: Loose): Promise<string> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }
  const metadata = { name: 'viewer' }
  await cluster.admin('POST', `${rbac}/clusterroles`, { metadata, rules: [everything] })
  await cluster.admin('POST', `${rbac}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' },
    subjects: [{ kind: 'ServiceAccount', name: 'viewer', namespace: NAMESPACE }],
  })
  return accountOf(cluster, 'viewer')
}
