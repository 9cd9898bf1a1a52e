import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  type Certificates,
  renewCertificates,
} from '../../../src/reconciler/admission/certificates.ts'
import { NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { brickableCluster } from './brickable-cluster.ts'

const LONG_MS = 120_000
const EXPIRED_MS = 100 * 24 * 3_600_000
const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/virt-platform-autopilot-webhook`
const EXPIRY = 'virt_platform_webhook_certificate_expiry_timestamp_seconds'

t.test('a webhook that cannot be reached or trusted, with the policy Ignore', async (t) => {
  const cluster = await brickableCluster(t, { isOwn: true })
  const { admin, autopilot, read, metric, spare, pass, untilFate, untilHealed } = cluster
  const { reconciler } = autopilot
  const serverLog = () => readFileSync(join(cluster.dataDir, 'kube-apiserver.log'), 'utf8')

  /** Sets how the API server finds the webhook, and whom it trusts; the reconciler must be away, since it puts that back. */
  const misdirect = async (clientConfig: object) => {
    const patch = [{ op: 'replace', path: '/webhooks/0/clientConfig', value: clientConfig }]
    for (const at of [MUTATING, VALIDATING])
      await admin('PATCH', at, patch, 'application/json-patch+json')
  }
  const trusting = (bundle: string) => ({
    url: `${autopilot.webhookUrl}/mutate`,
    caBundle: btoa(bundle),
  })

  /** Proves that writes pass while it is so, and that the first leader mends and heals. */
  const passesUntilLed = async (t: Test, complaint: RegExp) => {
    const since = serverLog().length
    await untilFate('unjudged')
    await spare(t)
    const value = await pass(t)
    t.match(serverLog().slice(since), complaint, 'it is for this that nobody is asked')
    reconciler.start()
    await untilHealed(value)
    await untilFate('judged')
  }
  const expiredCertificates = () =>
    renewCertificates({}, ['127.0.0.1'], Date.now() - EXPIRED_MS, true)

  /** Has the webhook serve these, and the next leader find them. */
  const store = async ({ authority, serving, bundle }: Certificates) => {
    const parts = { tls: [serving, bundle], ca: [authority, authority.certificate] } as const
    for (const [name, [{ certificate, key }, trusted]] of Object.entries(parts)) {
      const data = { 'tls.crt': btoa(certificate), 'tls.key': btoa(key), 'ca.crt': btoa(trusted) }
      await admin('PATCH', `${SECRET}-${name}`, { data }, 'application/merge-patch+json')
    }
  }

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its registration trusts another authority, and nobody leads',
      outcome: 'every write passes; the first leader puts the registration back, heals and tells',
    },
    async (t) => {
      await reconciler.stop()
      await misdirect(trusting((await expiredCertificates()).bundle))
      await passesUntilLed(t, /certificate signed by unknown authority/)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its registration names a Service that there is not, and nobody leads',
      outcome: 'every write passes; the first leader puts the registration back, heals and tells',
    },
    async (t) => {
      await reconciler.stop()
      const service = { name: 'gone', namespace: NAMESPACE, path: '/mutate', port: 443 }
      await misdirect({ service, caBundle: '' })
      await passesUntilLed(t, /service "gone" not found/)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'its certificate has expired, since nobody led for long',
      outcome: 'every write passes; the first leader renews it, heals and tells',
    },
    async (t) => {
      await reconciler.stop()
      const expired = await expiredCertificates()
      await store(expired)
      await until(
        'the webhook serves it',
        async () => (await metric('webhook', EXPIRY)) < Date.now() / 1000,
        LONG_MS,
      )
      await misdirect(trusting(expired.bundle))
      await passesUntilLed(t, /certificate has expired/)
      t.ok((await metric('webhook', EXPIRY)) > Date.now() / 1000)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'somebody adds an entry to its configuration, about pods and with the policy Fail',
      outcome: 'the leader takes it out again',
    },
    async (t) => {
      const entry = {
        name: 'all.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        clientConfig: { url: 'https://127.0.0.1:1' },
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] },
        ],
      }
      const patch = [{ op: 'add', path: '/webhooks/-', value: entry }]
      for (const at of [MUTATING, VALIDATING]) {
        await admin('PATCH', at, patch, 'application/json-patch+json')
        await until('it is gone', async () => (await read(at)).webhooks.length === 1, LONG_MS)
        t.match((await read(at)).webhooks, [{ name: /[.]platform[.]kubevirt[.]io$/ }])
      }
      // The API server learns of changes late, but in their order: who honours a later one has heard of these.
      await reconciler.stop()
      await misdirect({ url: 'https://127.0.0.1:1/gone', caBundle: '' })
      await untilFate('unjudged')
      await spare(t)
    },
  )
})
