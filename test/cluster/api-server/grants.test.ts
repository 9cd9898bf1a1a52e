import t from 'tap'
import { BASELINE } from '../../../src/shared/baseline/names.ts'
import { accountUser } from '../../../src/shared/engine/identity.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { type CatalogText, NAMESPACE, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const NAME = 'vm-exporter'
const OWN = `virt-platform-autopilot-reconciler`
const LABEL = 'platform.kubevirt.io/managed-by'

interface Grant {
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly body: string
}

const GRANTS: Readonly<Record<string, Grant>> = {
  role: {
    kind: 'ClusterRole',
    body: `rules:
  - apiGroups: [""]
    resources: [persistentvolumes]
    verbs: [get, list]
  - apiGroups: [""]
    resources: [secrets]
    resourceNames: [vm-exporter-token]
    verbs: [get]
  - nonResourceURLs: [/vm-exporter]
    verbs: [get]
`,
  },
  binding: {
    kind: 'ClusterRoleBinding',
    body: `roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${NAME} }
subjects: [{ kind: ServiceAccount, name: ${NAME}, namespace: <%= facts.hco.namespace %> }]
`,
  },
  'own-role': {
    kind: 'Role',
    namespace: '$autopilot',
    body: 'rules: [{ apiGroups: [""], resources: [endpoints], verbs: [get] }]\n',
  },
  'own-binding': {
    kind: 'RoleBinding',
    namespace: '$autopilot',
    // Nobody has made this role yet: it may be bound all the same.
    body: 'roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: vm-reader }\n',
  },
}

const SERVICE = {
  group: '',
  versions: ['v1'],
  kind: 'Service',
  resource: 'services',
  namespace: '$autopilot',
  name: NAME,
}

const templateOf = ({ namespace, body }: Omit<Grant, 'kind'>) =>
  `apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>
${namespace === undefined ? '' : '  namespace: <%= object.namespace %>\n'}${body}`

const entry = (name: string, object: object) => ({
  name,
  group: 'exporter',
  description: 'somebody must be allowed to look',
  template: `active/${name}.yaml.ejs`,
  object,
  install: 'always',
  order: 10,
})

const change = ({ assets }: CatalogText) => ({
  assets: [
    ...assets.slice(0, 1),
    ...Object.entries(GRANTS).map(([name, { kind, namespace }]) =>
      entry(name, {
        group: 'rbac.authorization.k8s.io',
        versions: ['v1'],
        kind,
        resource: `${kind.toLowerCase()}s`,
        ...(namespace !== undefined && { namespace }),
        name: NAME,
      }),
    ),
    entry('service', SERVICE),
  ],
})
const files = {
  ...Object.fromEntries(
    Object.entries(GRANTS).map(([name, grant]) => [`active/${name}.yaml.ejs`, templateOf(grant)]),
  ),
  'active/service.yaml.ejs': templateOf({
    namespace: '$autopilot',
    body: 'spec: { ports: [{ name: metrics, port: 8080, protocol: TCP }] }\n',
  }),
}

const ROLE = `${RBAC}/clusterroles/${NAME}`
const PATHS = [
  ROLE,
  `${RBAC}/clusterrolebindings/${NAME}`,
  `${RBAC}/namespaces/${NAMESPACE}/roles/${NAME}`,
  `${RBAC}/namespaces/${NAMESPACE}/rolebindings/${NAME}`,
  `/api/v1/namespaces/${NAMESPACE}/services/${NAME}`,
]

t.test('assets that grant something', async (t) => {
  const cluster = await autopilotCluster(t, {
    program: programWith(t, { change, files }),
    isEarly: true,
    reconcilerFlags: ['--resync=500ms'],
  })
  const { admin, read, untilEvent, withoutWebhook } = cluster
  const reviewed = async (attributes: object) => {
    const user = accountUser(NAMESPACE, BASELINE.reconcilerAccount)
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const spec = { user, resourceAttributes: attributes }
    const { body } = await admin<Loose>('POST', path, { spec })
    return body.status.allowed
  }
  const ofRbac = { group: 'rbac.authorization.k8s.io' }

  await t.test('are made by the reconciler on its generated roles', async (t) => {
    for (const path of PATHS) {
      const object = await until(`${path} is there`, () => read(path))
      t.equal(object.metadata.labels[LABEL], 'virt-platform-autopilot', path)
    }
    t.same(cluster.log('reconciler').match(/attempting to grant/), null)
  })

  await t.test('which have names wherever the API takes names', async (t) => {
    const secret = { verb: 'get', resource: 'secrets', namespace: 'default' }
    t.equal(await reviewed({ ...secret, name: 'vm-exporter-token' }), true)
    t.equal(await reviewed({ ...secret, name: 'other' }), false)
    const bind = { ...ofRbac, verb: 'bind', resource: 'clusterroles' }
    t.equal(await reviewed({ ...bind, name: NAME }), true)
    t.equal(await reviewed({ ...bind, name: 'cluster-admin' }), false)
    t.equal(await reviewed({ ...bind, name: 'vm-reader' }), false)
    t.equal(await reviewed({ ...bind, name: 'vm-reader', namespace: NAMESPACE }), true)
    const deployment = { group: 'apps', resource: 'deployments', namespace: 'anywhere' }
    const other = { ...deployment, name: 'virt-platform-autopilot' }
    for (const verb of ['get', 'list', 'watch']) t.equal(await reviewed({ ...other, verb }), true)
    t.equal(await reviewed({ ...deployment, verb: 'get', name: 'other' }), false)
    for (const verb of ['patch', 'update', 'delete'])
      t.equal(await reviewed({ ...other, verb }), false)
    t.equal(await reviewed({ ...ofRbac, verb: 'escalate', resource: 'clusterroles' }), false)
  })

  await t.test('and are of our own namespace where the object is', async (t) => {
    const service = { verb: 'patch', resource: 'services', name: NAME }
    t.equal(await reviewed({ ...service, namespace: NAMESPACE }), true)
    t.equal(await reviewed({ ...service, namespace: 'default' }), false)
    const endpoints = { verb: 'get', resource: 'endpoints', name: 'x' }
    t.equal(await reviewed({ ...endpoints, namespace: NAMESPACE }), true)
    t.equal(await reviewed({ ...endpoints, namespace: 'default' }), false)
  })

  await t.test('without which the API server refuses them', async (t) => {
    const own = `${RBAC}/clusterroles/${OWN}`
    const role = await read(own)
    const isOther = ({ resources = [] }: Loose) => resources[0] !== 'persistentvolumes'
    const rules = role.rules.filter(isOther)
    t.equal(rules.length, role.rules.length - 1)
    const put = async (rules: readonly Loose[]) => {
      const { metadata, ...rest } = await read(own)
      t.equal((await admin('PUT', own, { ...rest, metadata, rules })).status, 200)
    }
    await withoutWebhook(async () => {
      await put(rules)
      await until('the API server knows', async () => {
        return !(await reviewed({ verb: 'list', resource: 'persistentvolumes' }))
      })
      t.equal((await admin('DELETE', ROLE)).status, 200)
      const { note } = await untilEvent('ApplyFailed', /vm-exporter.*attempting to grant/s)
      t.match(note, 'attempting to grant RBAC permissions not currently held')
      t.match(note, 'persistentvolumes')
      t.equal(await read(ROLE), undefined)
    })
    await put(role.rules)
    // What has failed again and again is tried once a minute.
    await until('it is back once the rules are', () => read(ROLE), 90_000)
  })
})
