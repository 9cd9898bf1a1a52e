import t from 'tap'
import type { Rule } from '../../../../src/shared/api/roles.ts'
import { isCreatable } from '../../../../src/shared/baseline/asset-status.ts'
import type { Asset, Catalog } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { isRole } from '../../../../src/shared/baseline/catalog/grants.ts'
import { accounts } from '../../../../src/shared/baseline/generated/rbac.ts'
import { BASELINE } from '../../../../src/shared/baseline/names.ts'
import { accountUser } from '../../../../src/shared/engine/identity.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { assetNamed, catalog } from '../facts.ts'

const NAMESPACE = 'autopilot'

const rulesOf = (account: string, kind: 'ClusterRole' | 'Role', from: Catalog = catalog) =>
  accounts(from, NAMESPACE)
    .filter((object) => object.kind === kind && object.metadata.name === account)
    .flatMap(({ rules }) => rules as readonly Rule[])

/** One line per permission: `verb group/resource` and the name it is bound to. */
const permissions = (rules: readonly Rule[]) =>
  rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ['any'] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) =>
          verbs.map((verb) => `${verb} ${group}/${resource} ${name}`),
        ),
      ),
    ),
  )

const everyRule = [BASELINE.reconcilerAccount, BASELINE.webhookAccount].flatMap((account) => [
  ...rulesOf(account, 'ClusterRole'),
  ...rulesOf(account, 'Role'),
])

const FOLLOW = ['list', 'watch']

t.test('makes an account with its roles for each process', async (t) => {
  const titles = accounts(catalog, NAMESPACE).map(
    ({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'} ${metadata.name}`,
  )
  const of = (name: string) => [
    `ServiceAccount ${NAMESPACE} ${name}`,
    `ClusterRole - ${name}`,
    `ClusterRoleBinding - ${name}`,
    `Role ${NAMESPACE} ${name}`,
    `RoleBinding ${NAMESPACE} ${name}`,
  ]
  t.same(titles, [...of(BASELINE.reconcilerAccount), ...of(BASELINE.webhookAccount)])
})

t.test('binds each role to its own account alone', async (t) => {
  const bindings = accounts(catalog, NAMESPACE).filter(({ kind }) => kind.endsWith('RoleBinding'))
  t.equal(bindings.length, 4)
  for (const { kind, metadata, roleRef, subjects } of bindings as readonly (KubeObject &
    Record<string, unknown>)[]) {
    const { name } = metadata
    t.strictSame(roleRef, {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: kind.replace('Binding', ''),
      name,
    })
    t.strictSame(subjects, [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }])
  }
})

t.test('a request of an account arrives under the name of a user', async (t) => {
  t.equal(accountUser(NAMESPACE, 'one'), 'system:serviceaccount:autopilot:one')
})

t.test(
  'grants nothing by wildcard, no subresource, and no list of names that is empty',
  async (t) => {
    for (const rule of everyRule) {
      const words = [
        ...rule.apiGroups,
        ...rule.resources,
        ...rule.verbs,
        ...(rule.resourceNames ?? []),
      ]
      t.notOk(
        words.some((word) => word.includes('*')),
        JSON.stringify(rule),
      )
      t.notOk(
        rule.resources.some((resource) => resource.includes('/')),
        JSON.stringify(rule),
      )
      t.not(rule.resourceNames?.length, 0, JSON.stringify(rule))
    }
  },
)

t.test('the webhook reads its own two objects and creates events, nothing else', async (t) => {
  t.same(permissions(rulesOf(BASELINE.webhookAccount, 'ClusterRole')), [
    'create events.k8s.io/events any',
  ])
  t.same(permissions(rulesOf(BASELINE.webhookAccount, 'Role')), [
    ...FOLLOW.map((verb) => `${verb} /configmaps virt-platform-autopilot-state`),
    ...FOLLOW.map((verb) => `${verb} /secrets virt-platform-autopilot-webhook-tls`),
  ])
})

const isOwn = ({ object }: Pick<Asset, 'object'>) => object.namespace === NAMESPACE

t.test(
  'the reconciler writes in its own namespace its state, its certificates, its Lease and the assets there',
  async (t) => {
    const assets = catalog.filter(isOwn)
    t.ok(assets.length > 1)
    t.same(permissions(rulesOf(BASELINE.reconcilerAccount, 'Role')), [
      ...['get', 'list', 'watch', 'create', 'patch'].map(
        (verb) => `${verb} /configmaps virt-platform-autopilot-state`,
      ),
      ...['ca', 'tls'].flatMap((name) =>
        ['get', 'list', 'watch', 'create', 'patch'].map(
          (verb) => `${verb} /secrets virt-platform-autopilot-webhook-${name}`,
        ),
      ),
      ...['get', 'create', 'patch', 'update'].map(
        (verb) => `${verb} coordination.k8s.io/leases virt-platform-autopilot.kubevirt.io`,
      ),
      ...assets.flatMap(({ object: { group, resource, name } }) =>
        ['get', 'list', 'watch', 'create', 'patch'].map(
          (verb) => `${verb} ${group}/${resource} ${name}`,
        ),
      ),
    ])
  },
)

/** Whose reconciler needs nothing but to write its objects. */
const plain = catalog.filter((asset) => !isRole(asset) && !isOwn(asset))
const reconciler = permissions(rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', plain))
const writes = reconciler.filter((permission) => !/^(get|list|watch) /.test(permission))

t.test('the reconciler reads without a name only what has none that is known', async (t) => {
  const nameless = reconciler.filter((permission) => permission.endsWith(' any'))
  const read = (resource: string) => FOLLOW.map((verb) => `${verb} ${resource} any`)
  t.same(nameless, [
    ...read('apiextensions.k8s.io/customresourcedefinitions'),
    ...read('hco.kubevirt.io/hyperconvergeds'),
    ...read('/nodes'),
    ...read('machineconfiguration.openshift.io/machineconfigpools'),
    ...read('machineconfiguration.openshift.io/kubeletconfigs'),
    ...read('aaq.kubevirt.io/aaqs'),
    ...read('remediation.medik8s.io/nodehealthchecks'),
    'create events.k8s.io/events any',
  ])
})

t.test('the reconciler writes only the objects of the catalog, by name', async (t) => {
  const objects = plain.flatMap((asset) => {
    const { group, resource, name } = asset.object
    const verbs = [
      ...(isCreatable(asset) ? ['create'] : []),
      'patch',
      ...(asset.prune || asset.yieldsTo ? ['delete'] : []),
    ]
    return verbs.map((verb) => `${verb} ${group}/${resource} ${name}`)
  })
  const configurations = ['mutating', 'validating'].flatMap((sort) =>
    ['create', 'patch', 'delete'].map(
      (verb) =>
        `${verb} admissionregistration.k8s.io/${sort}webhookconfigurations virt-platform-autopilot`,
    ),
  )
  t.same(writes.sort(), [...objects, ...configurations, 'create events.k8s.io/events any'].sort())
})

t.test('the reconciler reads the Deployment of another autopilot, and no other one', async (t) => {
  t.same(
    reconciler.filter((permission) => permission.includes('deployments')),
    ['get', 'list', 'watch'].map((verb) => `${verb} apps/deployments virt-platform-autopilot`),
  )
})

t.test('the HyperConverged is never created or deleted', async (t) => {
  t.same(
    writes.filter((permission) => permission.includes('hyperconvergeds')),
    ['patch hco.kubevirt.io/hyperconvergeds kubevirt-hyperconverged'],
  )
})

t.test('what somebody else creates is never created by us', async (t) => {
  const template = assetNamed('fence-agents-template')
  t.notOk(template.create)
  const kept = { ...template, create: true, object: { ...template.object, name: 'kept' } }
  const rules = rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', [template, kept]).filter(
    ({ resources }) => resources.includes(template.object.resource),
  )
  t.same(
    rules.map(({ verbs, resourceNames }) => [verbs.join(), resourceNames]),
    [
      ['get,list,watch,create,patch', ['kept']],
      ['get,list,watch,patch', [template.object.name]],
    ],
  )
})

t.test(
  'the reconciler reads each object of the catalog, its namespace and its own role',
  async (t) => {
    for (const { object } of plain) {
      const name = object.kind === 'HyperConverged' ? 'any' : object.name
      for (const verb of FOLLOW)
        t.ok(
          reconciler.includes(`${verb} ${object.group}/${object.resource} ${name}`),
          `${verb} ${object.name}`,
        )
      // Before its first write it is read by its name, whatever the watch has.
      t.ok(reconciler.includes(`get ${object.group}/${object.resource} ${object.name}`))
    }
    t.same(
      reconciler.filter((permission) => permission.startsWith('watch /namespaces ')),
      [
        'metallb-system',
        'openshift-kube-descheduler-operator',
        'openshift-mtv',
        'openshift-workload-availability',
      ].map((name) => `watch /namespaces ${name}`),
    )
    t.ok(
      reconciler.includes(
        'get rbac.authorization.k8s.io/clusterroles virt-platform-autopilot-reconciler',
      ),
    )
  },
)

t.test('what is deleted may be deleted, by name, and what is gone is never written', async (t) => {
  const kept = assetNamed('metallb')
  const old = { ...kept.object, name: 'old' }
  const catalog = [
    { ...kept, prune: true },
    { ...kept, name: 'gone', isTombstone: true, object: old },
  ]
  const rules = rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', catalog).filter(
    ({ resources }) => resources.includes('metallbs'),
  )
  const name = kept.object.name
  t.same(
    rules.map(({ verbs, resourceNames }) => [verbs.join(), resourceNames]),
    [
      ['get,list,watch,create,patch', [name]],
      ['get,list,watch', ['old']],
      ['delete', [name, 'old']],
    ],
  )
})

t.test('a catalog without namespaces needs none', async (t) => {
  const rules = rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', [
    assetNamed('hco-golden-config'),
    assetNamed('swap-enable'),
  ])
  t.notOk(rules.some(({ resources }) => resources.includes('namespaces')))
})

t.test('the same object twice is named once', async (t) => {
  const swap = { ...assetNamed('swap-enable'), prune: false }
  const rules = rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', [
    swap,
    swap,
    assetNamed('pci-passthrough'),
  ])
  t.same(
    rules
      .filter(({ resources }) => resources.includes('machineconfigs'))
      .map(({ resourceNames }) => resourceNames),
    [
      // These two are read only.
      ['01-worker-kubelet'],
      ['01-master-kubelet'],
      ['50-virt-pci-passthrough', '90-worker-swap-online'],
    ],
  )
})

t.test('what a role of the catalog grants, the reconciler may do itself', async (t) => {
  const role = assetNamed('node-maintenance')
  t.ok(isRole(role))
  const granted = rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', [role]).filter(
    ({ resources }) => resources.includes('nodemaintenances'),
  )
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']
  t.strictSame(granted, [
    { apiGroups: ['nodemaintenance.medik8s.io'], resources: ['nodemaintenances'], verbs },
  ])
})

t.test('an own namespace is read as others are, beside the objects in it', async (t) => {
  const rules = permissions(
    rulesOf(BASELINE.reconcilerAccount, 'ClusterRole', catalog.filter(isOwn)),
  )
  t.ok(rules.includes(`watch /namespaces ${NAMESPACE}`))
  t.notOk(rules.some((permission) => permission.includes('services')))
})
