import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { embeddedModules, folderModule } from '../../../src/shared/modules/folder.ts'
import { evaluatorOf, faultsOf, moduleOf, PROGRAM } from './evaluations.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SHIPPED = join(ROOT, 'assets/graph')

const loaded = folderModule(join(SHIPPED, 'policies'))
if (!loaded.ok) throw new Error(loaded.error.message)
const policies = loaded.value

const webservice = embeddedModules(join(SHIPPED, 'modules')).get('webservice')
if (!webservice) throw new Error('webservice does not come with the program')
const inputOf = (sample: string): Record<string, unknown> =>
  parse(readFileSync(join(SHIPPED, 'samples', sample), 'utf8')).spec.input

t.test('the sample of webservice becomes what we have looked at', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const input = inputOf('webservice.yaml')
  const outcome = await evaluate({ module: webservice, policies, input })
  const golden = readFileSync(join(ROOT, 'test/fixtures/graph/webservice.yaml'), 'utf8')
  t.same(outcome, {
    kind: 'Rendered',
    nodes: parseAllDocuments(golden).map((document) => document.toJS()),
    violations: [],
    overridable: ['resource-limits'],
  })
})

t.test('the sample that violates does', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const input = inputOf('webservice-violates.yaml')
  const outcome = await evaluate({ module: webservice, policies, input })
  const { violations } = outcome.kind === 'Rendered' ? outcome : { violations: [] }
  t.same(
    violations.map(({ source, severity, name, path }) => [source, severity, name, path].join(' ')),
    [
      'module Warning several-replicas spec.input.replicas',
      'module Error no-plain-secrets spec.input.env.DATABASE_PASSWORD',
      'platform Error image-registry graph.nodes[0].object.spec.template.spec.containers[0].image',
    ],
  )
  t.equal(
    violations[2]?.message,
    'registry.example.com/leaky:1.0 comes from registry.example.com: allowed are docker.io, ghcr.io, quay.io, registry.k8s.io',
  )
})

t.test('webservice takes what it says, and nothing else', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const faults = async (input: Record<string, unknown>) =>
    faultsOf(await evaluate({ module: webservice, input })).map((fault) => fault.split(':')[0])
  const image = 'a:1'
  for (const right of [
    { image: 'a/b:v1.2', name: 'other' },
    { image: `registry.example.com:5000/a@sha256:${'0'.repeat(64)}` },
    { image, command: ['a'], args: ['b'], port: 1, servicePort: 65_535, replicas: 0 },
    { image, resources: { requests: { cpu: '1.5' }, limits: { cpu: '2', memory: '1Gi' } } },
    { image, serviceAccountName: 'shop', writableRoot: true, labels: { 'a.b/c': '' } },
  ])
    t.same(await faults(right), ['Rendered'], JSON.stringify(right))
  for (const [wrong, path] of [
    [{}, 'image'],
    [{ image: 'a' }, 'image'],
    [{ image: 'a:latest' }, 'image'],
    [{ image: 'localhost:5000/a' }, 'image'],
    [{ image, name: 'A' }, 'name'],
    [{ image, port: 65_536 }, 'port'],
    [{ image, replicas: 101 }, 'replicas'],
    [{ image, env: { 'a-b': '1' } }, 'env[a-b]'],
    [{ image, env: { A: 1 } }, 'env.A'],
    [{ image, secretEnv: { A: { secret: 'a' } } }, 'secretEnv.A.key'],
    [{ image, resources: { limits: { memory: 'much' } } }, 'resources.limits.memory'],
    [{ image, healthPath: 'health' }, 'healthPath'],
    [{ image, replica: 1 }, 'replica'],
    [{ image, labels: { 'app.kubernetes.io/name': 'x' } }, 'labels[app.kubernetes.io/name]'],
  ] as const)
    t.same(await faults(wrong), [`input spec.input.${path}`], path)
})

t.test('the default policies look into every pod, wherever it is described', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const violationsOf = async (nodes: readonly object[]) => {
    const text = `package m\n#Input: {...}\ngraph: nodes: ${JSON.stringify(nodes)}\n`
    const outcome = await evaluate({ module: moduleOf(text), policies })
    if (outcome.kind !== 'Rendered') return faultsOf(outcome)
    return outcome.violations.map(({ name, path }) => `${name} ${path.replace(/^graph\./, '')}`)
  }
  const node = (kind: string, spec?: object) => ({
    id: kind,
    object: { apiVersion: 'v1', kind, metadata: { name: 'a' }, ...(spec && { spec }) },
  })
  const good = {
    name: 'good',
    image: 'docker.io/a:1',
    resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
    securityContext: {
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      seccompProfile: { type: 'RuntimeDefault' },
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    },
  }
  t.same(
    await violationsOf([node('Pod', { containers: [good] }), node('ConfigMap'), node('Pod')]),
    [],
  )
  t.same(await violationsOf([node('Deployment', {}), node('CronJob', { jobTemplate: {} })]), [])

  const image = { ...good, image: 'example.com/a:1' }
  const pod = { initContainers: [image], containers: [good, image] }
  t.same(
    await violationsOf([
      node('Pod', pod),
      node('StatefulSet', { template: { spec: pod } }),
      node('CronJob', { jobTemplate: { spec: { template: { spec: pod } } } }),
    ]),
    [
      'nodes[0].object.spec.',
      'nodes[1].object.spec.template.spec.',
      'nodes[2].object.spec.jobTemplate.spec.template.spec.',
    ].flatMap((at) => [
      `image-registry ${at}initContainers[0].image`,
      `image-registry ${at}containers[1].image`,
    ]),
  )

  const bare = {
    name: 'bare',
    image: 'a',
    securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN'] } },
  }
  const insecure = { hostNetwork: true, hostPID: false, volumes: [{ name: 'a' }, { hostPath: {} }] }
  const at = 'nodes[0].object.spec.'
  t.same(await violationsOf([node('Pod', { ...insecure, containers: [bare] })]), [
    ...['limits.memory', 'requests.memory', 'requests.cpu'].map(
      (field) => `resource-limits ${at}containers[0].resources.${field}`,
    ),
    `pod-security ${at}hostNetwork`,
    `pod-security ${at}volumes[1].hostPath`,
    ...[
      'privileged',
      'allowPrivilegeEscalation',
      'runAsNonRoot',
      'capabilities.drop',
      'capabilities.add',
      'seccompProfile.type',
    ].map((field) => `pod-security ${at}containers[0].securityContext.${field}`),
  ])
})
