import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { HCO } from '../harness/objects.ts'
import { run } from '../harness/run.ts'

t.test('commands for people with a cluster', async (t) => {
  const cluster = await autopilotCluster(t)
  const { read } = cluster
  const alice = cluster.person('alice')
  const kubeconfig = `--kubeconfig=${cluster.kubeconfigFor({ name: 'alice', groups: ['platform-admins'] })}`
  const options = [kubeconfig, `--namespace=${NAMESPACE}`]
  const hyperconverged = ['hyperconverged', '-n', 'openshift-cnv', 'kubevirt-hyperconverged']
  const manifest = async (value: boolean) => {
    const { stdout } = await alice(['get', ...hyperconverged, '-o', 'yaml'])
    return stdout.replace(/allowPostCopy: \w+/, `allowPostCopy: ${value}`)
  }

  await t.test('rbac prints what the API server takes', async (t) => {
    const { code, stdout } = await run(['rbac', '--namespace=default'])
    t.equal(code, 0)
    const applied = await alice(['apply', '-f-', '-o', 'name'], { input: stdout })
    t.equal(applied.code, 0, applied.stderr)
    t.same(applied.stdout.trim().split('\n').sort(), [
      'clusterrole.rbac.authorization.k8s.io/virt-platform-autopilot-reconciler',
      'clusterrole.rbac.authorization.k8s.io/virt-platform-autopilot-webhook',
      'clusterrolebinding.rbac.authorization.k8s.io/virt-platform-autopilot-reconciler',
      'clusterrolebinding.rbac.authorization.k8s.io/virt-platform-autopilot-webhook',
      'role.rbac.authorization.k8s.io/virt-platform-autopilot-reconciler',
      'role.rbac.authorization.k8s.io/virt-platform-autopilot-webhook',
      'rolebinding.rbac.authorization.k8s.io/virt-platform-autopilot-reconciler',
      'rolebinding.rbac.authorization.k8s.io/virt-platform-autopilot-webhook',
      'serviceaccount/virt-platform-autopilot-reconciler',
      'serviceaccount/virt-platform-autopilot-webhook',
    ])
  })

  await t.test(
    'override prints the command that makes an edited manifest legitimate',
    async (t) => {
      const file = join(cluster.dataDir, 'edited.yaml')
      writeFileSync(file, await manifest(true))
      const said = await run(['override', file, ...options])
      t.match(said, { code: 0, stderr: '' })
      t.match(said.stdout, /^kubectl annotate hyperconverged .*allowPostCopy.*\n$/)
      t.match(await alice.shell(said.stdout), { code: 0 })
      const stored = (await read(HCO)).spec.virtualization.liveMigrationConfig
      t.equal(stored.allowPostCopy, true)
      const applied = await alice(['apply', '--server-side', '--force-conflicts', '-f-'], {
        input: (await manifest(true)).replace(/^ {2}(managedFields|resourceVersion):.*\n/gm, ''),
      })
      t.equal(applied.code, 0, applied.stderr)
      t.notMatch(applied.stderr, 'kept at')
    },
  )

  await t.test('override reads standard input, and says when there is nothing to do', async (t) => {
    const input = await manifest(true)
    t.match(await run(['override', '-', ...options], { input }), {
      code: 0,
      stdout:
        'HyperConverged openshift-cnv/kubevirt-hyperconverged agrees with what is kept: nothing to override\n',
    })
    const another = await run(['override', '-', ...options], { input: await manifest(false) })
    t.match(
      another.stdout,
      /patch='\[{"op":"add","path":"[^"]*\/allowPostCopy","value":false}\]'/,
      'in place of what the patch in force says of it',
    )
    const foreign = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n'
    t.match(await run(['override', '-', ...options], { input: foreign }), {
      stdout: 'ConfigMap b/a is not managed here: nothing to override\n',
    })
  })

  await t.test('override keeps what is ignored already', async (t) => {
    const pointer = '/spec/deployment/uninstallStrategy'
    const key = 'platform.kubevirt.io/ignore-fields'
    await alice(['annotate', ...hyperconverged, '--overwrite', `${key}=${pointer}`])
    const input = (await manifest(false)).replace(/uninstallStrategy: \w+/, 'uninstallStrategy: x')
    const said = await run(['override', '-', ...options], { input })
    t.match(said, { code: 0, stderr: '' })
    t.match(said.stdout, 'allowPostCopy')
    t.notMatch(said.stdout, 'uninstallStrategy')
    await alice(['annotate', ...hyperconverged, `${key}-`])
  })

  await t.test('override gives fields away where no patch is taken', async (t) => {
    const { stdout } = await alice(['get', 'machineconfig', '90-worker-swap-online', '-o', 'yaml'])
    const input = stdout.replace('version: 3.4.0', 'version: 3.2.0')
    t.match(await run(['override', '-', ...options], { input: stdout }), {
      stdout: /agrees with what is kept/,
    })
    t.match(await run(['override', '-', ...options], { input }), {
      code: 0,
      stdout:
        'kubectl annotate machineconfig 90-worker-swap-online --overwrite platform.kubevirt.io/ignore-fields=/spec/config/ignition/version\n',
      stderr: '',
    })
  })

  await t.test('override tells in one line what it cannot do', async (t) => {
    const { stdout } = await alice(['get', 'machineconfig', '90-worker-swap-online', '-o', 'yaml'])
    for (const [input, flags, message] of [
      ['a: [', options, /cannot read /],
      ['a: b', options, /is no Kubernetes object with apiVersion/],
      [
        stdout,
        [kubeconfig, '--namespace=default'],
        /no reconciler has published its state in namespace default/,
      ],
    ] as const) {
      const said = await run(['override', '-', ...flags], { input })
      t.equal(said.code, 1)
      t.match(said.stderr, message)
      t.equal(said.stderr.trim().split('\n').length, 1, said.stderr)
    }
  })
})
