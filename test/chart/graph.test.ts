import t from 'tap'
import { definitionOf } from '../../src/shared/api/custom-resource.ts'
import { admissionPolicies } from '../../src/shared/graph/admission-policies.ts'
import { GRAPH } from '../../src/shared/graph/names.ts'
import { RESOURCE_GRAPH } from '../../src/shared/graph/resource-graph.ts'
import { enrolment, reconcilerAccount, webhookAccount } from '../../src/shared/graph/roles.ts'
import { TRANSFORM } from '../../src/shared/graph/transform.ts'
import { helmOn, NAMESPACE, notesArgs, objectsIn, templateArgs, type Values } from './helm.ts'
import { CHOSEN } from './matrix.ts'
import { type Loose, podsIn, refOf } from './pods.ts'

const MB = 1024 * 1024

t.test('the system graph in the chart', async (t) => {
  const helm = await helmOn()
  const render = async (graph: Values, values: Values = {}, args: readonly string[] = []) => {
    const systems = { graph: { enabled: true, ...graph } }
    const said = await helm([...templateArgs(), ...args], { ...CHOSEN, systems, ...values })
    if (!said.isGood) throw new Error(said.stderr)
    return objectsIn(said.stdout) as readonly Loose[]
  }
  const withoutIt = async (objects: readonly Loose[]) => {
    const { stdout } = await helm(templateArgs(), CHOSEN)
    const others = new Set(objectsIn(stdout).map(refOf))
    return objects.filter((object) => !others.has(refOf(object)))
  }

  await t.test('leaves everything else as it is without it', async (t) => {
    const { stdout } = await helm(templateArgs(), CHOSEN)
    const others = objectsIn(stdout)
    const found = new Map((await render({})).map((object) => [refOf(object), object]))
    for (const other of others) t.strictSame(found.get(refOf(other)), other)
    t.ok(found.size > others.length)
  })

  await t.test('is nowhere but in its namespace, and where it acts', async (t) => {
    const own = await withoutIt(await render({ namespace: 'graphs', enroll: ['shop'] }))
    const elsewhere = own.filter(({ metadata }) => metadata.namespace !== 'graphs')
    t.same(
      elsewhere
        .filter(({ metadata }) => metadata.namespace !== 'shop')
        .map(refOf)
        .sort(),
      [
        `ClusterRole//${GRAPH.reconcilerRole}`,
        `ClusterRole//${GRAPH.name}-unregister`,
        `ClusterRole//${GRAPH.webhookAccount}`,
        `ClusterRole//${GRAPH.name}-edit`,
        `ClusterRole//${GRAPH.name}-view`,
        `ClusterRoleBinding//${GRAPH.reconcilerRole}`,
        `ClusterRoleBinding//${GRAPH.name}-unregister`,
        `ClusterRoleBinding//${GRAPH.webhookAccount}`,
        'CustomResourceDefinition//resourcegraphs.platform.pequod.io',
        'CustomResourceDefinition//transforms.platform.pequod.io',
        `Job/${NAMESPACE}/${GRAPH.name}-unregister`,
        'Namespace//graphs',
        `ServiceAccount/${NAMESPACE}/${GRAPH.name}-unregister`,
        ...['accounts', 'resourcegraphs'].flatMap((name) => [
          `ValidatingAdmissionPolicy//${GRAPH.name}-${name}`,
          `ValidatingAdmissionPolicyBinding//${GRAPH.name}-${name}`,
        ]),
      ].sort(),
    )
  })

  await t.test('is what the program says, in any namespace', async (t) => {
    for (const namespace of ['graphs', '42']) {
      const wanted = [
        ...[TRANSFORM, RESOURCE_GRAPH].map(definitionOf),
        ...admissionPolicies(namespace),
        ...reconcilerAccount(namespace),
        ...webhookAccount(namespace),
        ...['shop', '7'].flatMap((home) => enrolment(home, namespace)),
      ]
      const objects = await render({ namespace, enroll: ['shop', '7'] })
      const found = new Map(objects.map((object) => [refOf(object), object]))
      for (const object of wanted) t.strictSame(found.get(refOf(object)), object, refOf(object))
    }
  })

  await t.test('outlives the release where objects would go with it', async (t) => {
    const definitions = (await render({})).filter(({ kind }) => kind === 'CustomResourceDefinition')
    t.equal(definitions.length, 2)
    for (const { metadata } of definitions)
      t.equal(metadata.annotations['helm.sh/resource-policy'], 'keep')
  })

  await t.test('makes its namespace, unless somebody else does', async (t) => {
    const namespaces = async (graph: Values) =>
      (await render(graph)).filter(({ kind }) => kind === 'Namespace')
    t.match(await namespaces({}), [
      { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    ])
    t.same(await namespaces({ createNamespace: false }), [])
  })

  await t.test('runs the image with the evaluator, beside the baseline’s', async (t) => {
    const digest = `sha256:${'1'.repeat(64)}`
    const image = { repository: 'example.com/a', tag: 'v1' }
    const imagesWith = async (graph: Values, values: Values) => {
      const pods = podsIn(await withoutIt(await render(graph, values)))
      const running = pods.filter(({ name }) => !name.endsWith('-unregister'))
      return [...new Set(running.map(({ spec }) => spec.containers[0].image))]
    }
    t.same(await imagesWith({}, { image }), ['example.com/a-graph:v1'])
    t.same(await imagesWith({ image: { tag: 'v2' } }, { image }), ['example.com/a-graph:v2'])
    t.same(await imagesWith({ image: { digest } }, { image: { ...image, digest: '' } }), [
      `example.com/a-graph@${digest}`,
    ])
    t.same(await imagesWith({ image: { repository: 'b', tag: 'c' } }, {}), ['b:c'])
  })

  await t.test('has memory for two evaluations beside a process', async (t) => {
    const running = podsIn(await withoutIt(await render({}))).filter(
      ({ name }) => !name.endsWith('-unregister'),
    )
    t.same(running.map(({ name }) => name).sort(), [GRAPH.reconcilerAccount, GRAPH.webhookAccount])
    for (const { spec } of running) {
      const [, limit] = /^(\d+)Mi$/.exec(spec.containers[0].resources.limits.memory) ?? []
      t.ok(Number(limit) * MB >= (2 * 256 + 150) * MB)
    }
  })

  await t.test(
    'serves with a certificate of somebody else’s, and says who is trusted',
    async (t) => {
      const name = GRAPH.webhookAccount
      const wired = async (mode: string) => {
        const objects = await render({ namespace: 'graphs' }, { certificates: { mode } })
        const find = (kind: string) =>
          objects.find(
            ({ kind: one, metadata }) =>
              one === kind && metadata.name === name && metadata.namespace === 'graphs',
          )
        const { spec } = podsIn(objects).find((pod) => pod.name === GRAPH.reconcilerAccount) ?? {}
        const mounted = find('Deployment').spec.template.spec.volumes[0].secret.secretName
        return { mounted, find, args: spec.containers[0].args }
      }
      const { mounted, find, args } = await wired('cert-manager')
      t.match(find('Certificate').spec, {
        secretName: mounted,
        dnsNames: [`${name}.graphs.svc`],
        issuerRef: { name: find('Issuer').metadata.name },
      })
      t.ok(args.includes(`--webhook-ca-injection=cert-manager.io/inject-ca-from=graphs/${name}`))
      const served = await wired('service-ca')
      t.equal(
        served.find('Service').metadata.annotations[
          'service.beta.openshift.io/serving-cert-secret-name'
        ],
        served.mounted,
      )
      t.ok(
        served.args.includes(
          '--webhook-ca-injection=service.beta.openshift.io/inject-cabundle=true',
        ),
      )
    },
  )

  await t.test('is scraped where somebody scrapes', async (t) => {
    const served = ['--api-versions=monitoring.coreos.com/v1/PodMonitor']
    const [monitor] = (await render({}, {}, served)).filter(({ kind }) => kind === 'PodMonitor')
    const pods = podsIn(await render({}))
    const selected = pods.filter(({ labels }) =>
      Object.entries(monitor.spec.selector.matchLabels).every(
        ([key, value]) => labels[key] === value,
      ),
    )
    t.same(selected.map(({ name }) => name).sort(), [GRAPH.reconcilerAccount, GRAPH.webhookAccount])
    for (const { spec } of selected)
      t.ok(spec.containers[0].ports.some(({ name }: Loose) => name === 'ops'))
    t.notOk((await render({})).some(({ kind }) => kind === 'PodMonitor'))
  })

  await t.test('is in the notes, and which namespaces are enrolled', async (t) => {
    const notes = async (graph: Values) =>
      (await helm(notesArgs(), { ...CHOSEN, systems: { graph } })).stdout
    t.match(await notes({ enabled: true, enroll: ['shop', 'bank'] }), 'They act in shop, bank.')
    t.match(await notes({ enabled: true }), 'They act in no namespace yet: systems.graph.enroll.')
    t.notMatch(await notes({}), 'Transforms')
  })
})
