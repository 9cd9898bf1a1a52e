import t from 'tap'
import { until } from '../harness/until.ts'
import { configMapPath, graphCluster, HOME, inlineTransform } from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const OUTSIDE = 'outside'

t.test('a namespace that is deleted is not held up, and nothing outside of it goes', async (t) => {
  const cluster = await graphCluster(t, {
    controllerManager: true,
    hasWebhook: false,
    homes: [OUTSIDE],
  })
  const { admin, read, apply, untilReady, untilGone } = cluster
  await apply({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'of-shop', namespace: OUTSIDE },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'transforms' },
    subjects: [{ kind: 'ServiceAccount', name: 'transforms', namespace: HOME }],
  } as never)
  t.ok(await read(`${RBAC}/namespaces/${OUTSIDE}/rolebindings/of-shop`))
  await apply(
    inlineTransform(
      'spread',
      moduleOf(
        configMapNode('inside'),
        configMapNode('elsewhere', { metadata: { namespace: OUTSIDE } }),
      ),
    ),
  )
  await untilReady('spread', 'True')
  await admin('DELETE', `/api/v1/namespaces/${HOME}`)
  await untilGone(`/api/v1/namespaces/${HOME}`)
  t.ok(await read(configMapPath('elsewhere', OUTSIDE)))
  await until('the log tells what was left', async () =>
    /ConfigMap outside\/elsewhere is left as it is: .*is being deleted/.test(cluster.log()),
  )
})
