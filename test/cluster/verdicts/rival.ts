import { json } from 'node:stream/consumers'
import type { Loose } from '../harness/autopilot-fixture.ts'
import type { Scope, TestCluster } from '../harness/fixture.ts'
import { startHttpsServer } from '../harness/network/https-server.ts'
import { until } from '../harness/until.ts'

const HOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'

/** Another vendor's webhook, which sees each update of NodeHealthChecks by these users. */
export interface RivalOptions {
  /** Webhooks are asked in the order of their names. */
  readonly name: string
  readonly users: readonly string[]
  /** Whether it wants to see what others changed after it. */
  readonly reinvocationPolicy: 'Never' | 'IfNeeded'
  /** What it does to an object, by how often it was asked. */
  readonly patch: (calls: number) => readonly object[]
}

export interface Rival {
  /** How often it was asked so far. */
  readonly asked: () => number
  /** Settles when the API server asks it no more. */
  readonly leave: () => Promise<void>
}

/** Starts a real webhook and registers it; settles when the API server asks it. */
export async function startRival(
  t: Scope,
  { admin }: Pick<TestCluster, 'admin'>,
  { name, users, reinvocationPolicy, patch }: RivalOptions,
  probe: () => Promise<unknown>,
): Promise<Rival> {
  let asked = 0
  const { url, bundle } = await startHttpsServer(t, async (request, response) => {
    asked++
    const { request: review } = (await json(request)) as Loose
    const answer = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: review.uid,
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch(asked))).toString('base64'),
      },
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const leave = async () => {
    await admin('DELETE', `${HOOKS}/${name}`)
    await until('the other webhook is asked no more', async () => {
      const before = asked
      await probe()
      return asked === before
    })
  }
  t.teardown(async () => {
    await admin('DELETE', `${HOOKS}/${name}`)
  })
  const { status, body } = await admin('POST', HOOKS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: {
          url,
          caBundle: Buffer.from(bundle).toString('base64'),
        },
        rules: [
          {
            apiGroups: ['remediation.medik8s.io'],
            apiVersions: ['*'],
            operations: ['UPDATE'],
            resources: ['nodehealthchecks'],
          },
        ],
        matchConditions: [
          { name: 'users', expression: `request.userInfo.username in ${JSON.stringify(users)}` },
        ],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 30,
        reinvocationPolicy,
      },
    ],
  })
  if (status !== 201) throw new Error(`${name} is not registered: ${JSON.stringify(body)}`)
  await until('the API server asks the other webhook', async () => {
    await probe()
    return asked > 0
  })
  return { asked: () => asked, leave }
}
