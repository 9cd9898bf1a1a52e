import t from 'tap'
import { PLATFORM_ADMINS } from '../../../tools/control-plane/kubeconfig.ts'
import type { Manifest } from '../../../tools/control-plane/manifests.ts'
import { until } from '../harness/until.ts'
import { graphCluster, graphPath, HOME, inlineTransform, transformPath } from './graph-cluster.ts'

const alice = { name: 'alice', groups: [PLATFORM_ADMINS] }
// May write Transforms, and nothing else.
const bob = { name: 'bob', groups: ['system:authenticated'] }

const MODULE = `package settings
#Input: {...}
input: #Input
graph: nodes: [{id: "a", object: {apiVersion: "v1", kind: "ConfigMap", metadata: name: "settings"}}]
`

const granted = (name: string, rules: object): readonly (Manifest & Record<string, unknown>)[] => {
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name, namespace: HOME }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
  return [
    { apiVersion, kind: 'Role', metadata, rules: [rules] },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef,
      subjects: [{ kind: 'User', name: 'bob' }],
    },
  ]
}

t.test('without an evaluator and without a webhook', async (t) => {
  const cluster = await graphCluster(t, { webhookFlags: ['--cue-evaluator=/nowhere'] })
  const { kubectl, read, apply, untilReady, untilGone } = cluster
  const written = (object: Manifest, user = alice) =>
    kubectl(['apply', '-f', '-'], { user, input: JSON.stringify(object) })

  await t.test('without an evaluator everything is stored, and that is told', async (t) => {
    t.match(await written(inlineTransform('home', MODULE)), {
      code: 0,
      stderr:
        "Warning: Transform shop/home: nothing was previewed, since the CUE evaluator cannot be used: ENOENT: no such file or directory, open '/nowhere'. The reconciler decides: see its condition Ready.\n",
    })
    await untilReady('home', 'True')
  })

  await cluster.system.webhook.stop()

  await t.test('ResourceGraphs are ours, whatever rights somebody has', async (t) => {
    const rights = await kubectl(['auth', 'can-i', '*', 'resourcegraphs', '-n', HOME], {
      user: alice,
    })
    t.equal(rights.stdout, 'yes\n')
    const before = await read(graphPath('home'))
    const edit = 'edit that instead: kubectl edit transform home -n shop\n'
    const remove = 'delete that instead: kubectl delete transform home -n shop\n'
    const patch = ['patch', 'resourcegraph', 'home', '-n', HOME, '--type=merge', '-p']
    for (const [args, way] of [
      [[...patch, '{"spec":{"deletionPolicy":"Orphan"}}'], edit],
      [[...patch, '{"status":{"inventory":[]}}', '--subresource=status'], edit],
      [[...patch, '{"metadata":{"ownerReferences":[]}}'], edit],
      [['delete', 'resourcegraph', 'home', '-n', HOME], remove],
      [['delete', 'resourcegraph', '--all', '-n', HOME], remove],
    ] as const) {
      const { code, stderr } = await kubectl(args, { user: alice })
      t.equal(code, 1, args.join(' '))
      t.match(
        stderr,
        'ResourceGraph shop/home is written by the autopilot alone, from Transform shop/home: ',
      )
      t.ok(stderr.endsWith(way), stderr)
    }
    const { metadata, spec, status } = await read(graphPath('home'))
    t.same([spec, status, metadata.deletionTimestamp], [before.spec, before.status, undefined])
    const own = { ...before, metadata: { name: 'forged', namespace: HOME } }
    t.match(await written(own), { code: 1, stderr: /ResourceGraph shop\/forged is written by/ })
    t.match(await kubectl([...patch, '{"metadata":{"labels":{"seen":"yes"}}}'], { user: alice }), {
      code: 0,
    })
  })

  await t.test('who may not use an account borrows no rights of it', async (t) => {
    const transforms = {
      apiGroups: ['platform.pequod.io'],
      resources: ['transforms'],
      verbs: ['*'],
    }
    await apply(...granted('writers', transforms))
    const borrowing = inlineTransform('borrowed', MODULE, { serviceAccountName: 'admin' })
    t.match(await written(borrowing, bob), {
      code: 1,
      stderr:
        /you may not use the ServiceAccount shop\/admin: leave spec\.serviceAccountName out, or have an administrator give you a Role in shop with the verb use, the resource serviceaccounts and the resourceName admin\n$/,
    })
    t.match(await written(inlineTransform('borrowed', MODULE), bob), { code: 0 })
    t.match(await written(borrowing, bob), { code: 1 })
    t.match(await written(borrowing, alice), { code: 0 })
    const edited = inlineTransform('borrowed', `${MODULE}\n`, { serviceAccountName: 'admin' })
    t.match(await written(edited, bob), { code: 1 }, 'nor what somebody else let use it')
    const label = ['label', 'transform', 'borrowed', '-n', HOME, 'seen=yes']
    t.match(await kubectl(label, { user: bob }), { code: 0 })
    const use = {
      apiGroups: [''],
      resources: ['serviceaccounts'],
      resourceNames: ['admin'],
      verbs: ['use'],
    }
    await apply(...granted('users', use))
    await until('bob may use the account', async () => (await written(edited, bob)).code === 0)
  })

  await t.test('with nobody of us left, finalizers are anybody’s to remove', async (t) => {
    await cluster.system.reconciler.stop()
    const name = ['home', '-n', HOME]
    await kubectl(['delete', 'transform', ...name, '--wait=false'], { user: alice })
    for (const [kind, path] of [
      ['transform', transformPath('home')],
      ['resourcegraph', graphPath('home')],
    ] as const) {
      const patch = ['--type=merge', '-p', '{"metadata":{"finalizers":[]}}']
      t.match(await kubectl(['patch', kind, ...name, ...patch], { user: alice }), { code: 0 })
      t.strictSame((await read(path))?.metadata.finalizers, undefined)
    }
    await untilGone(transformPath('home'))
  })
})
