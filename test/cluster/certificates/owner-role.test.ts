import t from 'tap'
import { OwnerRole } from '../../../src/reconciler/admission/owner-role.ts'
import { connect, isForbidden } from '../../../src/shared/cluster/client.ts'
import { loadKubeconfig } from '../../../src/shared/cluster/kubeconfig.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { countingClient } from '../harness/counting-client.ts'
import { testCluster } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ROLES = `${RBAC}/clusterroles`

t.test('the ClusterRole that the webhook configurations belong to', async (t) => {
  const cluster = await testCluster(t)
  const client = await connect(loadKubeconfig(cluster.kubeconfig))
  t.teardown(client.close)
  const make = async (name: string, rules: readonly object[] = []) => {
    const { status, body } = await cluster.admin<KubeObject>('POST', ROLES, {
      metadata: { name },
      rules,
    })
    if (status !== 201) throw new Error(`the creation of ${name} was answered ${status}`)
    return body
  }
  const remove = (name: string) => cluster.admin('DELETE', `${ROLES}/${name}`)

  await t.test(
    'one that comes later is seen, and asked for once until the answer ages',
    async (t) => {
      const counting = countingClient(client, `${ROLES}/later`)
      const owner = new OwnerRole(counting, 'later')
      t.equal(await owner.known(), undefined)
      const role = await make('later')
      t.equal(await owner.known(), undefined)
      t.same(counting.asked, ['GET'])
      t.notOk(owner.isGone, 'it never was there')
      owner.age()
      t.same(await owner.known(), role)
      owner.age()
      t.same(await owner.known(), role)
      t.same(counting.asked, ['GET', 'GET'], 'one that was seen is not asked for again')
    },
  )

  await t.test('one that is gone stays known, and is told from one that never was', async (t) => {
    const role = await make('gone')
    const owner = new OwnerRole(client, 'gone')
    t.same(await owner.fresh(), role)
    await remove('gone')
    t.same(await owner.fresh(), role, 'as long as the answer is fresh')
    owner.age()
    t.equal(await owner.fresh(), undefined)
    t.ok(owner.isGone)
    t.same(await owner.known(), role)

    const another = await make('gone')
    owner.age()
    t.same(await owner.fresh(), another, 'one that is made anew is seen')
    t.not(another.metadata.uid, role.metadata.uid)
    t.notOk(owner.isGone)
  })

  await t.test('one that grants to be asked for is gone when that is forbidden', async (t) => {
    const name = 'own'
    const ours = await connect(
      loadKubeconfig(cluster.kubeconfigFor({ name: 'bob', groups: ['visitors'] })),
    )
    t.teardown(ours.close)
    const owner = new OwnerRole(ours, name)
    await t.rejects(owner.known(), { name: 'ApiError', status: 403 }, 'nobody knows if it is there')

    const rule = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] }
    const role = await make(name, [{ ...rule, resourceNames: [name], verbs: ['get'] }])
    await cluster.admin('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    })
    // What grants and takes rights follows with a delay.
    const mayAsk = () =>
      ours.send(`${ROLES}/${name}`).then(
        () => true,
        (error) => !isForbidden(error),
      )
    await until('it may be asked for', mayAsk)
    t.same(await owner.known(), role)
    await remove(name)
    await until('it may not be asked for any more', async () => !(await mayAsk()))
    owner.age()
    t.equal(await owner.fresh(), undefined)
    t.ok(owner.isGone)
    t.same(await owner.known(), role)
  })
})
