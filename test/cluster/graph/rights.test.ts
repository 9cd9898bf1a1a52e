import t from 'tap'
import { GRAPH } from '../../../src/shared/graph/names.ts'
import { enrolment } from '../../../src/shared/graph/roles.ts'
import { until } from '../harness/until.ts'
import {
  configMapPath,
  graphCluster,
  graphPath,
  HOME,
  inlineTransform,
  transformPath,
} from './graph-cluster.ts'
import { configMapNode, moduleOf } from './modules.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ELSEWHERE = 'elsewhere'

t.test('whose rights', async (t) => {
  const cluster = await graphCluster(t, { hasWebhook: false })
  const { admin, read, apply, untilReady, untilGone } = cluster
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await apply(namespace(ELSEWHERE))
  const make = (name: string, nodes: readonly object[], spec: object = {}) =>
    apply(inlineTransform(name, moduleOf(...nodes), { ...spec }))

  t.test('our own account may do nothing that a graph asks for', async (t) => {
    const mayWe = async (verb: string, resource: string, group = '') => {
      const { body } = await admin<{ status: { allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          spec: {
            user: `system:serviceaccount:${GRAPH.name}:${GRAPH.reconcilerAccount}`,
            groups: ['system:serviceaccounts', 'system:authenticated'],
            resourceAttributes: { namespace: HOME, verb, group, resource },
          },
        },
      )
      return body.status.allowed
    }
    for (const verb of ['get', 'list', 'create', 'patch', 'delete']) {
      t.equal(await mayWe(verb, 'configmaps'), false, `${verb} ConfigMaps`)
      t.equal(await mayWe(verb, 'secrets'), false, `${verb} Secrets`)
      t.equal(await mayWe(verb, 'deployments', 'apps'), false, `${verb} Deployments`)
    }
    t.equal(await mayWe('impersonate', 'serviceaccounts'), false, 'be any account')
  })

  t.test('what the account may not do fails, and says what would allow it', async (t) => {
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'all' },
    }
    await make('escalating', [{ id: 'role', object: { ...role, rules: [] } }])
    await untilReady('escalating', {
      reason: 'Failed',
      message:
        /Role shop\/all: .*system:serviceaccount:shop:transforms may not .*kubectl create role /,
    })
    t.equal(await read(`${RBAC}/namespaces/${HOME}/roles/all`), undefined)
  })

  t.test('nothing outside of its namespace is reached', async (t) => {
    const outside = { metadata: { namespace: ELSEWHERE } }
    await make('foreign', [configMapNode('outside', outside)])
    await untilReady('foreign', { reason: 'Failed', message: /ConfigMap elsewhere\/outside: / })
    t.equal(await read(configMapPath('outside', ELSEWHERE)), undefined)

    await make('cluster', [{ id: 'namespace', object: namespace('of-a-graph') }])
    await untilReady('cluster', { reason: 'Failed', message: /Namespace of-a-graph: / })
    t.equal(await read('/api/v1/namespaces/of-a-graph'), undefined)
  })

  t.test('no Secret goes through a graph', async (t) => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'open' }, stringData: {} }
    await make('secret', [{ id: 'secret', object: secret }])
    await untilReady('secret', { reason: 'GraphInvalid', message: /Secret/ })
    t.equal(await read(graphPath('secret')), undefined)
  })

  t.test('a module that the account may not read is not read', async (t) => {
    await apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'module', namespace: HOME },
      data: { 'graph.cue': moduleOf(configMapNode('from-a-config-map')) },
    } as never)
    const asModule = { cueRef: { type: 'configmap', ref: 'module' } }
    await apply(inlineTransform('by-name', '', asModule))
    await untilReady('by-name', 'True')

    await apply({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'poor', namespace: HOME },
    })
    await letUs(['transforms', 'poor'])
    await apply(inlineTransform('blind', '', { ...asModule, serviceAccountName: 'poor' }))
    await untilReady('blind', {
      reason: 'Forbidden',
      message: /shop:poor may not read the ConfigMap/,
    })
    t.equal(await read(graphPath('blind')), undefined)
  })

  t.test('an account that is gone can do nothing more', async (t) => {
    await make('lost', [configMapNode('of-the-lost')])
    await untilReady('lost', 'True')
    await admin('DELETE', `/api/v1/namespaces/${HOME}/serviceaccounts/transforms`)
    await make('lost', [configMapNode('of-the-lost', { data: { a: '1' } })])
    await untilReady('lost', {
      reason: 'AccountNotFound',
      message: /virt-platform-autopilot enroll shop \| kubectl apply -f -/,
    })
    await apply(...enrolment(HOME, GRAPH.name))
    // Nothing tells us of an account: the next edit does.
    await make('lost', [configMapNode('of-the-lost', { data: { a: '2' } })])
    await untilReady('lost', 'True')
    t.same((await read(configMapPath('of-the-lost'))).data, { a: '2' })
  })

  t.test('without its RoleBinding a namespace is out of our reach, and told so', async (t) => {
    await make('unbound', [configMapNode('of-the-unbound')])
    await untilReady('unbound', 'True')
    const binding = `${RBAC}/namespaces/${HOME}/rolebindings/${GRAPH.name}-impersonator`
    await admin('DELETE', binding)
    await make('unbound', [configMapNode('of-the-unbound', { data: { a: '1' } })])
    await untilReady('unbound', { reason: 'NotEnrolled' })
    await admin('DELETE', transformPath('unbound'))
    await until('its deletion says why it waits', async () => {
      const { conditions = [] } = (await read(transformPath('unbound'))).status
      return conditions.some(
        ({ reason, message }: { reason: string; message: string }) =>
          reason === 'Deleting' && /is not enrolled/.test(message),
      )
    })
    t.ok(await read(configMapPath('of-the-unbound')))
    await apply(...enrolment(HOME, GRAPH.name))
    await untilGone(transformPath('unbound'))
    t.equal(await read(configMapPath('of-the-unbound')), undefined)
  })

  /** Lets us act as these accounts of HOME. */
  async function letUs(accounts: readonly string[]): Promise<void> {
    await admin(
      'PATCH',
      `${RBAC}/namespaces/${HOME}/roles/${GRAPH.name}-impersonator`,
      [{ op: 'replace', path: '/rules/0/resourceNames', value: accounts }],
      'application/json-patch+json',
    )
  }
})
