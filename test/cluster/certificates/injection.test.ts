import t from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { faultTest } from '../harness/fault.ts'
import { HEALTH_CHECK, MUTATING, VALIDATING } from '../harness/objects.ts'
import { PATIENCE_S } from '../harness/stalls.ts'
import { until } from '../harness/until.ts'
import { caBundleOf, dataOf, isJudged, untilKept } from './certificates.ts'
import { mountFiles } from './mounted.ts'

const CONFIGURATIONS = [MUTATING, VALIDATING]
const ANNOTATION = 'cert-manager.io/inject-ca-from'
const SERVICE_CA = 'service.beta.openshift.io/inject-cabundle'
const MERGE = 'application/merge-patch+json'
const APPLY = 'application/apply-patch+yaml'
const AUTHORITY_OF = 'virt_platform_webhook_ca_expiry_timestamp_seconds'

t.test('authorities that somebody else injects', async (t) => {
  const files = mountFiles(t, ['tls.crt', 'tls.key'])
  const authority = await createAuthority(Date.now())
  const next = await createAuthority(Date.now())
  const { certificate, key } = await createServing(authority, ['127.0.0.1'], Date.now())
  files.swap({ 'tls.crt': certificate, 'tls.key': key })
  const cluster = await autopilotCluster(t, {
    webhookFlags: ['--cert-mode=files', `--cert-dir=${files.folder}`],
    reconcilerFlags: [
      '--resync=1s',
      '--failure-policy=Fail',
      `--webhook-ca-injection=${ANNOTATION}=autopilot-test/webhook`,
    ],
    isEarly: true,
  })
  const { admin, read } = cluster
  const live = () => Promise.all(CONFIGURATIONS.map(read))
  const base64 = (text: string) => dataOf({ text }).text
  const bundles = async () => (await live()).map(caBundleOf)

  /** Does what an injector does: one kind as an update of the whole object, one by its own apply. */
  const inject = async (pem: string) => {
    const caBundle = base64(pem)
    await until('the whole object is updated', async () => {
      const whole = await read(MUTATING)
      whole.webhooks[0].clientConfig.caBundle = caBundle
      return (await admin('PUT', `${MUTATING}?fieldManager=injector`, whole)).status === 200
    })
    const { apiVersion, kind, metadata, webhooks } = await read(VALIDATING)
    const { name } = webhooks[0]
    const query = 'fieldManager=injector&force=true'
    const patch = {
      apiVersion,
      kind,
      metadata: { name: metadata.name },
      webhooks: [{ name, clientConfig: { caBundle } }],
    }
    await admin('PATCH', `${VALIDATING}?${query}`, patch, APPLY)
  }

  const untilUnasked = () =>
    until('nobody is asked', async () => (await live()).every(isNever), 90_000)
  // The second configuration follows the first, by which alone writes are judged already.
  const untilAsked = () =>
    until('both are asked', async () => !(await live()).some(isNever), 90_000)
  const label = { metadata: { labels: { 'example.com/early': 'yes' } } }
  const passes = async () =>
    (await admin('PATCH', `${HEALTH_CHECK}?dryRun=All`, label, MERGE)).status === 200

  await t.test(
    'are asked for by an annotation; until they are there no call is made',
    async (t) => {
      await until('both are registered', async () => (await live()).every(Boolean), 90_000)
      await cluster.untilCompared('kubevirt-hyperconverged')
      for (const { metadata, webhooks } of await live()) {
        t.equal(metadata.annotations[ANNOTATION], 'autopilot-test/webhook')
        t.notOk(webhooks[0].clientConfig.caBundle)
        t.equal(webhooks[0].failurePolicy, 'Fail')
      }
      await until('it is there', () => read(HEALTH_CHECK), 90_000)
      t.ok(await passes(), 'an empty bundle would have every write refused')
      t.equal(await cluster.asked(), 0)
    },
  )

  await t.test('are the injector’s alone, and writes are judged by them', async (t) => {
    await inject(authority.certificate)
    await until('writes are judged', () => isJudged(cluster), 90_000)
    await untilAsked()
    for (const { metadata, webhooks } of await live()) {
      t.equal(webhooks[0].clientConfig.caBundle, base64(authority.certificate))
      const owners = metadata.managedFields.filter(ownsBundle)
      t.same(
        owners.map(({ manager }: Loose) => manager),
        ['injector'],
      )
    }
    await untilKept(cluster)
    t.ok((await cluster.metric('reconciler', AUTHORITY_OF)) * 1000 > Date.now())
  })

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'an injector changes the authorities',
      outcome:
        'nobody contests it: not a new leader, and not when something else there is put back',
    },
    async (t) => {
      const both = `${next.certificate}${authority.certificate}`
      await inject(both)
      const before = (await live()).map(({ metadata }) => metadata.generation)
      await cluster.restart('reconciler')
      await untilKept(cluster)
      await cluster.untilCompared('kubevirt-hyperconverged')
      const after = (await live()).map(({ metadata }) => metadata.generation)
      t.same(after, before, 'neither was written again')
      const slow = [{ op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 30 }]
      for (const path of CONFIGURATIONS) {
        await admin('PATCH', path, slow, 'application/json-patch+json')
        await until(
          'it is put back',
          async () => (await read(path)).webhooks[0].timeoutSeconds === PATIENCE_S,
          90_000,
        )
      }
      t.same(await bundles(), [base64(both), base64(both)])
      t.ok(await isJudged(cluster))
      t.equal((await callsOf(cluster)).failedOpen, 0)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody adds an entry to a configuration that an injector serves',
      outcome: 'it is taken out again, and the authorities stay the injector’s',
    },
    async (t) => {
      const before = await bundles()
      for (const path of CONFIGURATIONS) {
        const { webhooks } = await read(path)
        const value = { ...webhooks[0], name: 'other.example.com' }
        const add = [{ op: 'add', path: '/webhooks/-', value }]
        await admin('PATCH', path, add, 'application/json-patch+json')
        await until('it is gone', async () => (await read(path)).webhooks.length === 1, 90_000)
      }
      t.same(await bundles(), before)
      t.ok(await isJudged(cluster))
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the authorities were ours before an injector was asked for',
      outcome: 'ours go, and no call is made until the injector was there',
    },
    async (t) => {
      for (const path of CONFIGURATIONS) {
        const { apiVersion, kind, metadata, webhooks } = await read(path)
        const { name, ownerReferences } = metadata
        const [webhook] = webhooks
        const clientConfig = { ...webhook.clientConfig, caBundle: base64(next.certificate) }
        const ours = {
          apiVersion,
          kind,
          metadata: { name, ownerReferences },
          webhooks: [{ ...webhook, clientConfig }],
        }
        const query = 'fieldManager=virt-platform-autopilot&force=true'
        const { status } = await admin('PATCH', `${path}?${query}`, ours, APPLY)
        t.equal(status, 200)
      }
      await untilUnasked()
      t.same(await bundles(), [undefined, undefined])
      await until('writes pass', passes, 90_000)
      await inject(authority.certificate)
      await until('writes are judged', () => isJudged(cluster), 90_000)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'an injected authority is taken away',
      outcome: 'no call is made until it is back',
    },
    async (t) => {
      await inject('')
      await untilUnasked()
      await until('writes pass', passes, 90_000)
      await inject(authority.certificate)
      await until('writes are judged', () => isJudged(cluster), 90_000)
      t.same(await bundles(), [base64(authority.certificate), base64(authority.certificate)])
    },
  )
})

t.test('authorities that the service CA of OpenShift injects', async (t) => {
  const files = mountFiles(t, ['tls.crt', 'tls.key'])
  const authority = await createAuthority(Date.now())
  const { certificate, key } = await createServing(authority, ['127.0.0.1'], Date.now())
  files.swap({ 'tls.crt': certificate, 'tls.key': key })
  const cluster = await autopilotCluster(t, {
    webhookFlags: ['--cert-mode=files', `--cert-dir=${files.folder}`],
    reconcilerFlags: ['--resync=1s', `--webhook-ca-injection=${SERVICE_CA}=true`],
    isEarly: true,
  })
  const { admin, read } = cluster
  const live = () => Promise.all(CONFIGURATIONS.map(read))
  const caBundle = dataOf({ text: authority.certificate }).text

  await until('both are registered', async () => (await live()).every(Boolean), 90_000)
  for (const path of CONFIGURATIONS)
    await until('it is injected, as an update of the whole object', async () => {
      const whole = await read(path)
      t.equal(whole.metadata.annotations[SERVICE_CA], 'true')
      for (const { clientConfig } of whole.webhooks) clientConfig.caBundle = caBundle
      const { status } = await admin('PUT', `${path}?fieldManager=service-ca-operator`, whole)
      return status === 200
    })
  await until('writes are judged', () => isJudged(cluster), 90_000)
  // The second configuration follows the first, by which alone writes are judged already.
  await until('both are asked', async () => !(await live()).some(isNever), 90_000)
  await untilKept(cluster)
  const before = (await live()).map(({ metadata }) => metadata.generation)
  await cluster.restart('reconciler')
  await untilKept(cluster)
  await cluster.untilCompared('kubevirt-hyperconverged')
  t.same(
    (await live()).map(({ metadata }) => metadata.generation),
    before,
    'a new leader writes neither again',
  )
  for (const { metadata, webhooks } of await live()) {
    t.equal(webhooks[0].clientConfig.caBundle, caBundle)
    t.same(
      metadata.managedFields.filter(ownsBundle).map(({ manager }: Loose) => manager),
      ['service-ca-operator'],
    )
  }
  t.ok(await isJudged(cluster))
})

const isNever = ({ webhooks }: Loose) =>
  webhooks[0].matchConditions.some(({ expression }: Loose) => expression === 'false')
const ownsBundle = ({ fieldsV1 }: Loose) => JSON.stringify(fieldsV1).includes('"f:caBundle"')
