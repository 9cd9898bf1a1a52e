import t from 'tap'
import { kindKey } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { baselineWebhooks } from '../../../../src/shared/baseline/generated/webhook-rules.ts'
import { assetNamed, catalog, everythingServed, factsWith } from '../facts.ts'

const BUNDLE = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'

type Input = Parameters<typeof baselineWebhooks>[0]

const INPUT: Input = {
  catalog,
  facts: factsWith({ hco: { namespace: 'cnv' } }),
  customResources: new Set([
    'metallbs.metallb.io',
    'hyperconvergeds.hco.kubevirt.io',
    'x.example.com',
  ]),
  endpoint: { service: { name: 'hook', namespace: 'autopilot' } },
  trust: { bundle: BUNDLE },
  failurePolicy: 'Ignore',
  timeoutS: 7,
  trustedUser: 'system:serviceaccount:autopilot:reconciler',
  owner: undefined,
}

interface WebhookRule {
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly operations: readonly string[]
  readonly resources: readonly string[]
  readonly scope: string
}

interface Webhook {
  readonly name: string
  readonly clientConfig: object
  readonly rules: readonly WebhookRule[]
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[]
}

const webhooks = (input: Partial<Input> = {}) =>
  baselineWebhooks({ ...INPUT, ...input }).map(({ kind, metadata, webhooks: list }) => {
    const [webhook, ...others] = list as readonly Webhook[]
    if (!webhook || others.length > 0) throw new Error('a configuration has one webhook')
    return { kind, metadata, webhook }
  })

const rulesOf = (input?: Partial<Input>) => webhooks(input).map(({ webhook }) => webhook.rules)

const objectsOf = (input?: Partial<Input>) =>
  webhooks(input).map(({ webhook }) => {
    const { expression } = webhook.matchConditions[0] ?? { expression: '' }
    return JSON.parse(expression.slice(expression.indexOf(' in ') + 4)) as readonly string[][]
  })

const BY_CLEANER =
  'request.userInfo.username in ["system:serviceaccount:kube-system:namespace-controller","system:serviceaccount:kube-system:generic-garbage-collector","system:kube-controller-manager"]'

t.test('one webhook corrects creations and updates, one judges deletions too', async (t) => {
  const [mutating, validating, ...others] = webhooks()
  t.same(others, [])
  t.match(mutating, {
    kind: 'MutatingWebhookConfiguration',
    webhook: { name: 'mutate.platform.kubevirt.io', reinvocationPolicy: 'IfNeeded' },
  })
  t.match(validating, {
    kind: 'ValidatingWebhookConfiguration',
    webhook: { name: 'validate.platform.kubevirt.io' },
  })
  t.ok(mutating?.webhook.rules.every(({ operations }) => operations.join() === 'CREATE,UPDATE'))
  t.ok(
    validating?.webhook.rules.every(
      ({ operations }) => operations.join() === 'CREATE,UPDATE,DELETE',
    ),
  )
})

t.test(
  'both fail open in the time that they are given and have no side effect on a dry run',
  async (t) => {
    for (const { metadata, webhook } of webhooks()) {
      t.strictSame(metadata, { name: 'virt-platform-autopilot' })
      t.match(webhook, {
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'NoneOnDryRun',
        timeoutSeconds: 7,
      })
    }
    for (const { webhook } of webhooks({ failurePolicy: 'Fail' })) {
      t.match(webhook, { failurePolicy: 'Fail' })
    }
  },
)

t.test(
  'the rules name exactly the kinds of the catalog, without wildcard or subresource',
  async (t) => {
    for (const rules of rulesOf()) {
      t.same(
        rules.map(({ apiGroups, apiVersions, resources, scope }) =>
          [apiGroups, apiVersions, resources, scope].join(' '),
        ),
        [
          'hco.kubevirt.io v1 hyperconvergeds Namespaced',
          'machineconfiguration.openshift.io v1 machineconfigs Cluster',
          'machineconfiguration.openshift.io v1 kubeletconfigs Cluster',
          'remediation.medik8s.io v1alpha1 nodehealthchecks Cluster',
          'fence-agents-remediation.medik8s.io v1alpha1 fenceagentsremediationtemplates Namespaced',
          'rbac.authorization.k8s.io v1 clusterroles Cluster',
          'metallb.io v1beta1 metallbs Namespaced',
          'forklift.konveyor.io v1beta1 forkliftcontrollers Namespaced',
          'operator.openshift.io v1 kubedeschedulers Namespaced',
          'observability.openshift.io v1alpha1 uiplugins Cluster',
          'perses.dev v1alpha2 persesdashboards Namespaced',
          ' v1 services Namespaced',
          'monitoring.coreos.com v1 servicemonitors Namespaced',
          'monitoring.coreos.com v1 prometheusrules Namespaced',
        ],
      )
      t.notMatch(JSON.stringify(rules), /\*/)
      t.notOk(rules.some(({ resources }) => resources.some((resource) => resource.includes('/'))))
    }
  },
)

// What a cluster needs to start and to heal itself, and what it writes all the time.
const VITAL = [
  'pods',
  'nodes',
  'leases',
  'secrets',
  'configmaps',
  'namespaces',
  'events',
  'customresourcedefinitions',
  'certificatesigningrequests',
]

t.test('no rule is about what a cluster lives by, or about a status', async (t) => {
  for (const { resources, apiGroups, apiVersions } of rulesOf().flat()) {
    const named = [...resources, ...apiGroups, ...apiVersions]
    t.same(
      named.filter((name) => VITAL.includes(name) || /[*/]/.test(name)),
      [],
    )
  }
})

t.test('the conditions name exactly the objects of the catalog', async (t) => {
  for (const objects of objectsOf()) {
    t.same(
      objects,
      catalog.map(({ object: { group, resource, namespace, name } }) => [
        `${group}/${resource}`,
        namespace === '$hco' ? 'cnv' : (namespace ?? ''),
        name,
      ]),
    )
    t.match(objects.slice(0, 2), [
      ['hco.kubevirt.io/hyperconvergeds', 'cnv', 'kubevirt-hyperconverged'],
      ['machineconfiguration.openshift.io/machineconfigs', '', '90-worker-swap-online'],
    ])
    const service = ['/services', 'autopilot', 'virt-platform-autopilot-metrics']
    t.ok(objects.some((object) => object.join() === service.join()))
  }
})

t.test('what is not served is in no rule and no condition', async (t) => {
  const metallb = kindKey(assetNamed('metallb').object)
  for (const versions of [[], ['v1']]) {
    const facts = factsWith({ served: { ...everythingServed, [metallb]: versions } })
    t.notOk(
      rulesOf({ facts })
        .flat()
        .some(({ resources }) => resources.includes('metallbs')),
    )
    t.notOk(
      objectsOf({ facts })
        .flat()
        .some(([resource]) => resource === 'metallb.io/metallbs'),
    )
    t.same(
      objectsOf({ facts }).map((objects) => objects.length),
      [catalog.length - 1, catalog.length - 1],
    )
  }
  const nothing = { facts: factsWith({ served: {} }) }
  t.same(rulesOf(nothing), [[], []])
  t.same(objectsOf(nothing), [[], []])
})

t.test('a rule has the newest version that is served', async (t) => {
  const facts = factsWith({ served: { 'hco.kubevirt.io/HyperConverged': ['v1beta1'] } })
  t.same(
    rulesOf({ facts })
      .flat()
      .map(({ apiVersions }) => apiVersions),
    [['v1beta1'], ['v1beta1']],
  )
})

t.test('a kind has a rule when one of its assets is served', async (t) => {
  const swap = assetNamed('swap-enable')
  const newer = { ...swap, object: { ...swap.object, name: 'newer', versions: ['v2'] } }
  for (const both of [
    [swap, newer],
    [newer, swap],
  ]) {
    t.same(
      rulesOf({ catalog: both })
        .flat()
        .map(({ apiVersions }) => apiVersions),
      [['v1'], ['v1']],
    )
    t.same(
      objectsOf({ catalog: both })
        .flat()
        .map(([, , name]) => name),
      ['90-worker-swap-online', '90-worker-swap-online'],
    )
  }
})

t.test(
  'the conditions read a name wherever a request has it, and exempt one user and whoever cleans up',
  async (t) => {
    for (const { webhook } of webhooks()) {
      const [managed, trusted, cleaning] = webhook.matchConditions
      t.equal(managed?.name, 'managed-object')
      t.equal(
        managed?.expression.slice(0, managed.expression.indexOf(' in ')),
        '[request.resource.group + "/" + request.resource.resource, has(request.namespace) ? request.namespace : "", string(oldObject != null ? oldObject.metadata.name : object != null && has(object.metadata.name) ? object.metadata.name : has(request.name) ? request.name : "")]',
      )
      t.strictSame(trusted, {
        name: 'not-the-reconciler',
        expression: 'request.userInfo.username != "system:serviceaccount:autopilot:reconciler"',
      })
      t.strictSame(cleaning, {
        name: 'not-cleaning-up',
        expression: `!(${BY_CLEANER} && request.operation == "DELETE")`,
      })
    }
  },
)

t.test('what ends is left alone where a webhook that is away would refuse it', async (t) => {
  for (const { webhook } of webhooks({ failurePolicy: 'Fail' }))
    t.equal(
      webhook.matchConditions[2]?.expression,
      `!(${BY_CLEANER} && request.operation != "CREATE" || oldObject != null && has(oldObject.metadata.deletionTimestamp))`,
    )
})

t.test('the last look is for what was changed of the content, where that is counted', async (t) => {
  const [mutating, validating] = webhooks().map(({ webhook }) => webhook.matchConditions)
  t.equal(mutating?.length, 3, 'the first sees everything')
  t.strictSame(validating?.slice(0, 3), mutating)
  t.strictSame(validating?.slice(3), [
    {
      name: 'content-changed',
      expression: [
        'request.operation != "UPDATE"',
        'object == null || oldObject == null',
        '!(request.resource.group + "/" + request.resource.resource in ["hco.kubevirt.io/hyperconvergeds","metallb.io/metallbs"])',
        '!has(object.metadata.generation) || !has(oldObject.metadata.generation)',
        'object.metadata.generation != oldObject.metadata.generation',
        '(has(object.metadata.labels) ? object.metadata.labels : {}) != (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {})',
        '(has(object.metadata.annotations) ? object.metadata.annotations : {}) != (has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})',
      ].join(' || '),
    },
  ])
})

t.test('a user name cannot break out of its expression', async (t) => {
  for (const { webhook } of webhooks({ trustedUser: 'a" || true || "' })) {
    const { expression } = webhook.matchConditions[1] ?? { expression: '' }
    t.equal(expression, 'request.userInfo.username != "a\\" || true || \\""')
  }
})

t.test(
  'reaches the webhook by its Service or by a URL, with the authorities to trust',
  async (t) => {
    const caBundle = Buffer.from(BUNDLE).toString('base64')
    const clients = (input?: Partial<Input>) =>
      webhooks(input).map(({ webhook }) => webhook.clientConfig)
    t.strictSame(clients(), [
      { service: { name: 'hook', namespace: 'autopilot', path: '/mutate', port: 443 }, caBundle },
      { service: { name: 'hook', namespace: 'autopilot', path: '/validate', port: 443 }, caBundle },
    ])
    for (const url of ['https://127.0.0.1:9443', 'https://127.0.0.1:9443/']) {
      t.strictSame(clients({ endpoint: { url } }), [
        { url: 'https://127.0.0.1:9443/mutate', caBundle },
        { url: 'https://127.0.0.1:9443/validate', caBundle },
      ])
    }
  },
)

t.test('leaves the authorities to an injector, and asks nobody until they are there', async (t) => {
  const injection = { 'cert-manager.io/inject-ca-from': 'autopilot/webhook' }
  for (const isInjected of [false, true]) {
    for (const { metadata, webhook } of webhooks({ trust: { injection, isInjected } })) {
      t.match(metadata, { annotations: injection })
      t.notOk('caBundle' in webhook.clientConfig)
      const isNever = webhook.matchConditions.some(({ expression }) => expression === 'false')
      t.equal(isNever, !isInjected)
      t.ok(webhook.rules.length > 0)
    }
  }
})

t.test('goes away with its owner', async (t) => {
  const owner = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'owner', uid: 'u-1' },
  }
  for (const { metadata } of webhooks({ owner })) {
    t.strictSame(metadata, {
      name: 'virt-platform-autopilot',
      ownerReferences: [
        { apiVersion: owner.apiVersion, kind: 'ClusterRole', name: 'owner', uid: 'u-1' },
      ],
    })
  }
})

t.test('what is deleted is nobody’s to be asked about', async (t) => {
  const metallb = { ...assetNamed('metallb'), isTombstone: true }
  const isAbout = ({ resources }: WebhookRule) => resources.includes('metallbs')
  for (const rules of rulesOf({ catalog: [assetNamed('swap-enable'), metallb] }))
    t.notOk(rules.some(isAbout))
})
