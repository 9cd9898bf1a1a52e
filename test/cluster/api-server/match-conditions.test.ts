import t, { type Test } from 'tap'
import { baselineWebhooks } from '../../../src/shared/baseline/generated/webhook-rules.ts'
import type { Loose } from '../harness/autopilot-fixture.ts'
import { testCluster } from '../harness/fixture.ts'
import { HEALTH_CHECK, METALLB } from '../harness/objects.ts'
import { NAMESPACE, ownProgram } from '../harness/program.ts'
import { until } from '../harness/until.ts'
import { type RivalOptions, startRival } from '../verdicts/rival.ts'
import {
  LADEN,
  LATE,
  NAMESPACES,
  ON_BARE,
  ON_BUILT_IN,
  ON_LABELLED,
  ON_LADEN,
  SERVICE,
  SERVICES,
} from './last-look-cases.ts'
import {
  type Case,
  CHECKS,
  check,
  MERGE,
  NAME,
  ON_ABSENT,
  ON_ENDING,
  ON_PRESENT,
} from './match-cases.ts'
import { startWitness } from './witness.ts'

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const ERRORS = /^apiserver_admission_match_condition_evaluation_errors_total\{.*\} [^0]/m
const SERVED = {
  'remediation.medik8s.io/NodeHealthCheck': ['v1alpha1'],
  'metallb.io/MetalLB': ['v1beta1'],
  '/Service': ['v1'],
}
const CUSTOM = ['nodehealthchecks.remediation.medik8s.io', 'metallbs.metallb.io']
const RIVAL: Omit<RivalOptions, 'patch'> = {
  name: 'zz-rival',
  users: ['admin'],
  reinvocationPolicy: 'Never',
}
const PROBE = ['PATCH', `${HEALTH_CHECK}?dryRun=All`, {}, MERGE] as const

t.test('each match condition is evaluated without a fault', async (t) => {
  const cluster = await testCluster(t)
  const { admin } = cluster
  const witness = await startWitness(t)
  await admin('DELETE', HEALTH_CHECK)
  await admin('DELETE', METALLB)

  // One webhook for each condition, so that none hides what becomes of another; a fault would refuse the write.
  const names = new Set<string>()
  for (const failurePolicy of ['Ignore', 'Fail'] as const) {
    const configurations = baselineWebhooks({
      catalog: ownProgram().catalog,
      customResources: new Set(CUSTOM),
      facts: { served: SERVED, hco: { namespace: 'openshift-cnv' } as Loose },
      endpoint: { url: 'https://127.0.0.1' },
      trust: { bundle: '' },
      failurePolicy,
      // A machine that stalls must not look like a condition that cannot be evaluated.
      timeoutS: 30,
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

  const judgeAll = async (t: Test, cases: readonly Case[]) => {
    for (const { says, ask, isOurs, isEnding, isUnchanged } of cases) {
      await t.test(says, async (t) => {
        const [method, path, body, type] = ask
        const dry = `${path}${path.includes('?') ? '&' : '?'}dryRun=All`
        const { status, body: answer } = await admin<Loose>(method, dry, body, type)
        t.ok(status < 300, JSON.stringify(answer))
        const wanted = [...names].filter(
          (name) =>
            (isOurs || !name.startsWith('managed-object')) &&
            !(isEnding && name === 'not-cleaning-up-fail') &&
            !(isUnchanged && name.startsWith('content-changed')),
        )
        t.strictSame(witness.asked(), wanted.sort())
      })
    }
  }
  await judgeAll(t, ON_ABSENT)

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
  await judgeAll(t, ON_PRESENT)
  await judgeAll(t, ON_BARE)

  await t.test('a write of the status is nobody’s', async (t) => {
    const status = { status: { healthyNodes: 2 } }
    t.match(await admin('PATCH', `${HEALTH_CHECK}/status`, status, MERGE), { status: 200 })
    t.strictSame(witness.asked(), [])
  })

  for (const [manner, { patch, cases }] of Object.entries(LATE)) {
    await t.test(`beside another webhook ${manner}`, async (t) => {
      const options = { ...RIVAL, patch: () => patch }
      const rival = await startRival(t, cluster, options, () => admin(...PROBE))
      witness.asked()
      await judgeAll(t, cases)
      await rival.leave()
    })
  }

  const label = { labels: { a: 'b' }, annotations: { a: 'b' } }
  for (const [metadata, cases] of [
    [label, ON_LABELLED],
    [LADEN, ON_LADEN],
  ] as const) {
    const { status } = await admin('PATCH', HEALTH_CHECK, { metadata }, MERGE)
    t.equal(status, 200)
    witness.asked()
    await judgeAll(t, cases)
  }
  await admin('PATCH', HEALTH_CHECK, { metadata: { labels: null, annotations: null } }, MERGE)

  await admin('POST', NAMESPACES, { metadata: { name: NAMESPACE } })
  for (const generation of [undefined, 7]) {
    await t.test(
      `of a kind of the API server’s own, made with generation ${generation}`,
      async (t) => {
        const made = await admin<Loose>('POST', SERVICES, {
          metadata: { name: SERVICE.slice(SERVICES.length + 1), generation },
          spec: { clusterIP: 'None', ports: [{ port: 80 }] },
        })
        t.equal(made.status, 201)
        t.equal(made.body.metadata.generation, generation, 'what a client made up is kept')
        witness.asked()
        await judgeAll(t, ON_BUILT_IN)
        await admin('DELETE', SERVICE)
      },
    )
  }

  await admin('PATCH', HEALTH_CHECK, { metadata: { finalizers: ['example.com/hold'] } }, MERGE)
  await admin('DELETE', HEALTH_CHECK)
  witness.asked()
  await judgeAll(t, ON_ENDING)

  const { body: metrics } = await admin<string>('GET', '/metrics')
  t.notMatch(metrics, ERRORS, 'by its own count, too, the API server evaluated all of them')
})
