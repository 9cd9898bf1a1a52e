import t from 'tap'
import { webhookConfigurations } from '../../src/shared/catalog/webhook-rules.ts'
import { HEALTH_CHECK, type Loose, METALLB } from './autopilot-fixture.ts'
import { testCluster } from './fixture.ts'
import { ownProgram } from './program.ts'
import { until } from './until.ts'
import { startWitness } from './witness.ts'

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const ERRORS = /^apiserver_admission_match_condition_evaluation_errors_total\{.*\} [^0]/m
const CHECKS = HEALTH_CHECK.slice(0, HEALTH_CHECK.lastIndexOf('/'))
const METALLBS = METALLB.slice(0, METALLB.lastIndexOf('/'))
const MERGE = 'application/merge-patch+json'
const JSON_PATCH = 'application/json-patch+json'
const APPLY = 'application/apply-patch+yaml'

const SERVED = {
  'remediation.medik8s.io/NodeHealthCheck': ['v1alpha1'],
  'metallb.io/MetalLB': ['v1beta1'],
}
const check = (metadata: object | undefined) => ({
  apiVersion: 'remediation.medik8s.io/v1alpha1',
  kind: 'NodeHealthCheck',
  ...(metadata && { metadata }),
  spec: { minHealthy: '51%', selector: { matchLabels: { a: 'b' } } },
})
const metallb = (metadata: object) => ({
  apiVersion: 'metallb.io/v1beta1',
  kind: 'MetalLB',
  metadata,
  spec: {},
})

/** A person's request, so that only the condition on the object tells one from another. */
interface Case {
  readonly says: string
  readonly ask: readonly [method: string, path: string, body?: object, type?: string]
  readonly isOurs: boolean
  /** The object is being deleted: with failure policy Fail it is left alone. */
  readonly isEnding?: true
}

const NAME = 'virt-node-health-check'
const ON_ABSENT: readonly Case[] = [
  { says: 'a create', ask: ['POST', CHECKS, check({ name: NAME })], isOurs: true },
  { says: 'another’s create', ask: ['POST', CHECKS, check({ name: 'x' })], isOurs: false },
  {
    says: 'a create with a generated name that begins as ours',
    ask: ['POST', CHECKS, check({ generateName: NAME })],
    isOurs: false,
  },
  {
    says: 'a create with our name and a generated one',
    ask: ['POST', CHECKS, check({ name: NAME, generateName: 'x-' })],
    isOurs: true,
  },
  {
    says: 'a create with null for all that metadata may hold',
    ask: ['POST', CHECKS, check({ name: NAME, labels: null, annotations: null, finalizers: null })],
    isOurs: true,
  },
  {
    says: 'an apply of what is not there',
    ask: ['PATCH', `${HEALTH_CHECK}?fieldManager=x`, check({ name: NAME }), APPLY],
    isOurs: true,
  },
  {
    says: 'a create in a namespace',
    ask: ['POST', METALLBS, metallb({ name: 'metallb' })],
    isOurs: true,
  },
  {
    says: 'a create of our name in another namespace',
    ask: [
      'POST',
      METALLBS.replace('metallb-system', 'default'),
      metallb({ name: 'metallb', namespace: 'default' }),
    ],
    isOurs: false,
  },
]

const removed = (path: string) => [{ op: 'remove', path }]
const ON_PRESENT: readonly Case[] = [
  {
    says: 'an update of an object without labels and annotations',
    ask: ['PATCH', HEALTH_CHECK, { spec: { minHealthy: '1%' } }, MERGE],
    isOurs: true,
  },
  {
    says: 'an update that takes a field away',
    ask: ['PATCH', HEALTH_CHECK, removed('/spec/minHealthy'), JSON_PATCH],
    isOurs: true,
  },
  { says: 'a delete', ask: ['DELETE', HEALTH_CHECK], isOurs: true },
  { says: 'a delete of the collection', ask: ['DELETE', CHECKS], isOurs: true },
  {
    says: 'a delete of what a selector finds',
    ask: ['DELETE', `${CHECKS}?fieldSelector=metadata.name%3D${NAME}`],
    isOurs: true,
  },
  { says: 'a delete of another’s', ask: ['DELETE', `${CHECKS}/another`], isOurs: false },
  {
    says: 'a delete of another’s by a selector',
    ask: ['DELETE', `${CHECKS}?fieldSelector=metadata.name%3Danother`],
    isOurs: false,
  },
]
const ON_ENDING: readonly Case[] = [
  {
    says: 'an edit of what is being deleted',
    ask: ['PATCH', HEALTH_CHECK, { spec: { minHealthy: '1%' } }, MERGE],
    isOurs: true,
    isEnding: true,
  },
  { says: 'another delete of it', ask: ['DELETE', HEALTH_CHECK], isOurs: true, isEnding: true },
]

t.test('each match condition is evaluated without a fault', async (t) => {
  const cluster = await testCluster(t)
  const { admin } = cluster
  const witness = await startWitness(t)
  await admin('DELETE', HEALTH_CHECK)
  await admin('DELETE', METALLB)

  // One webhook for each condition, so that none hides what becomes of another; a fault would refuse the write.
  const names = new Set<string>()
  for (const failurePolicy of ['Ignore', 'Fail'] as const) {
    const configurations = webhookConfigurations({
      catalog: ownProgram().catalog,
      facts: { served: SERVED, hco: { namespace: 'openshift-cnv' } as Loose },
      endpoint: { url: 'https://127.0.0.1' },
      trust: { bundle: '' },
      failurePolicy,
      trustedUser: 'system:serviceaccount:a:reconciler',
      owner: undefined,
    }) as readonly Loose[]
    const [webhook] = configurations.find(({ kind }) => /^Validating/.test(kind))?.webhooks ?? []
    for (const condition of webhook.matchConditions) {
      const name = `${condition.name}-${failurePolicy.toLowerCase()}`
      names.add(name)
      const { status, body } = await admin('POST', HOOKS, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name },
        webhooks: [
          {
            ...webhook,
            name: `${name}.example.com`,
            clientConfig: witness.clientConfig(name),
            failurePolicy: 'Fail',
            // A machine that stalls must not look like a condition that cannot be evaluated.
            timeoutSeconds: 30,
            sideEffects: 'None',
            matchConditions: [condition],
          },
        ],
      })
      t.equal(status, 201, JSON.stringify(body))
    }
  }
  await until('all of them are asked', async () => {
    await admin('POST', `${CHECKS}?dryRun=All`, check({ name: NAME }))
    return witness.asked().length === names.size
  })

  const judgeAll = async (cases: readonly Case[]) => {
    for (const { says, ask, isOurs, isEnding } of cases) {
      await t.test(says, async (t) => {
        const [method, path, body, type] = ask
        const dry = `${path}${path.includes('?') ? '&' : '?'}dryRun=All`
        const { status, body: answer } = await admin<Loose>(method, dry, body, type)
        t.ok(status < 300, JSON.stringify(answer))
        const wanted = [...names].filter(
          (name) =>
            (isOurs || !name.startsWith('managed-object')) &&
            !(isEnding && name === 'not-cleaning-up-fail'),
        )
        t.strictSame(witness.asked(), wanted.sort())
      })
    }
  }
  await judgeAll(ON_ABSENT)

  await t.test('a create without any metadata is refused for that alone', async (t) => {
    for (const metadata of [undefined, {}]) {
      const { status, body } = await admin<Loose>('POST', `${CHECKS}?dryRun=All`, check(metadata))
      t.equal(status, 422, JSON.stringify(body))
      t.match(body.message, /name or generateName is required/)
      witness.asked()
    }
  })

  await admin('POST', CHECKS, check({ name: 'another' }))
  const { body: made } = await admin<Loose>('POST', CHECKS, check({ name: NAME }))
  t.notOk(made.metadata.labels ?? made.metadata.annotations, 'it has neither')
  witness.asked()
  await judgeAll(ON_PRESENT)

  await admin('PATCH', HEALTH_CHECK, { metadata: { finalizers: ['example.com/hold'] } }, MERGE)
  await admin('DELETE', HEALTH_CHECK)
  witness.asked()
  await judgeAll(ON_ENDING)

  const { body: metrics } = await admin<string>('GET', '/metrics')
  t.notMatch(metrics, ERRORS, 'by its own count, too, the API server evaluated all of them')
})
