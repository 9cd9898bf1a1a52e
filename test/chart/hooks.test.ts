import t from 'tap'
import { BASELINE } from '../../src/shared/baseline/names.ts'
import { GRAPH } from '../../src/shared/graph/names.ts'
import { helmOn, NAMESPACE, objectsIn, templateArgs } from './helm.ts'
import { CHOSEN } from './matrix.ts'
import type { Loose } from './pods.ts'

const ROLES = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']

t.test('what helm runs beside the installation', async (t) => {
  const helm = await helmOn()
  const hooks = async (what: string, values = {}): Promise<readonly Loose[]> => {
    const { stdout, stderr } = await helm(templateArgs(), { ...CHOSEN, ...values })
    const found = objectsIn(stdout).filter(({ metadata }) => metadata.name === what)
    if (found.length === 0) throw new Error(`there is no ${what}: ${stderr}`)
    return found
  }
  const look = () => hooks(`${BASELINE.name}-diff`, { preInstall: { diff: { enabled: true } } })
  const end = () => hooks(`${BASELINE.name}-unregister`)
  const endOfGraph = () =>
    hooks(`${GRAPH.name}-unregister`, { systems: { graph: { enabled: true } } })
  const kindsOf = (objects: readonly Loose[]) => objects.map(({ kind }) => kind).sort()
  const rulesOf = (objects: readonly Loose[]): readonly Loose[] =>
    objects.flatMap(({ rules = [] }) => rules)

  for (const [what, find, events] of [
    ['an installation and every upgrade', look, 'pre-install,pre-upgrade'],
    ['the end', end, 'pre-delete'],
    ['the end of graphs', endOfGraph, 'pre-delete'],
  ] as const) {
    await t.test(`the Job before ${what} runs as an account that is made for it`, async (t) => {
      const objects = await find()
      const weightOf = ({ metadata }: Loose) =>
        Number(metadata.annotations['helm.sh/hook-weight'] ?? 0)
      const job = objects.find(({ kind }) => kind === 'Job')
      const account = objects.find(({ kind }) => kind === 'ServiceAccount')
      t.equal(job.spec.template.spec.serviceAccountName, account.metadata.name)
      for (const object of objects) {
        t.match(object.metadata.annotations, {
          'helm.sh/hook': events,
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        })
        if (object !== job) t.ok(weightOf(object) < weightOf(job), object.kind)
      }
      const bindings = objects.filter(({ subjects }) => subjects)
      const { name, namespace } = account.metadata
      for (const { subjects, roleRef } of bindings) {
        t.same(subjects, [{ kind: 'ServiceAccount', name, namespace }])
        t.equal(roleRef.name, name)
      }
    })
  }

  await t.test('the look may read, and nothing else', async (t) => {
    const objects = await look()
    t.same(kindsOf(objects), [...ROLES, 'Job', 'ServiceAccount'].sort())
    const rules = rulesOf(objects)
    t.ok(rules.length > 10)
    for (const { resources, verbs } of rules) {
      t.notOk(resources.includes('secrets'))
      t.same(
        verbs.filter((verb: string) => !['get', 'list', 'watch'].includes(verb)),
        [],
      )
    }
  })

  await t.test('the look fails where nodes would reboot by what was chosen', async (t) => {
    const argsWith = async (activation: string) => {
      const preInstall = { diff: { enabled: true } }
      const objects = await hooks(`${BASELINE.name}-diff`, { preInstall, activation })
      const [container] = objects.find(({ kind }) => kind === 'Job').spec.template.spec.containers
      return container.args
    }
    for (const activation of ['on', 'observe']) {
      const args = await argsWith(activation)
      t.ok(args.includes('--fail-on=reboot'))
      t.ok(args.includes(`--activation=${activation}`))
    }
  })

  await t.test('before the end it may delete the registration, and nothing else', async (t) => {
    const objects = await end()
    t.same(kindsOf(objects), ['ClusterRole', 'ClusterRoleBinding', 'Job', 'ServiceAccount'])
    t.strictSame(rulesOf(objects), [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
        resourceNames: [BASELINE.webhookConfiguration],
        verbs: ['delete'],
      },
    ])
  })

  await t.test('before the end of graphs it may let them go, and delete none', async (t) => {
    const objects = await endOfGraph()
    t.same(kindsOf(objects), ['ClusterRole', 'ClusterRoleBinding', 'Job', 'ServiceAccount'])
    for (const { metadata } of objects)
      t.ok([undefined, NAMESPACE].includes(metadata.namespace), 'its own namespace may be gone')
    t.strictSame(rulesOf(objects), [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
        resourceNames: [GRAPH.webhookConfiguration],
        verbs: ['delete'],
      },
      {
        apiGroups: ['platform.pequod.io'],
        resources: ['transforms', 'resourcegraphs'],
        verbs: ['list', 'patch'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [GRAPH.lease],
        verbs: ['get', 'create', 'patch'],
      },
    ])
  })
})
