import t, { type Test } from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { certificatesIn } from '../../../src/shared/ops/pem.ts'
import { audited, isWrite } from '../harness/audit.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { faultTest } from '../harness/fault.ts'
import { MUTATING, STATE, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { LOAD_FLAGS, losesNone, underLoad } from './admission-load.ts'
import { caBundleOf, isJudged, servedAt } from './certificates.ts'
import { mountFiles } from './mounted.ts'

const CERTIFICATE_OF = 'virt_platform_webhook_certificate_expiry_timestamp_seconds'
const CONFIGURATIONS = [MUTATING, VALIDATING]
// Both processes look every ten seconds; this is for a slow machine.
const TAKEN_UP_MS = 120_000

t.test('certificates that somebody else mounts', async (t) => {
  const files = mountFiles(t, ['tls.crt', 'tls.key', 'ca.crt'])
  const first = await createAuthority(Date.now())
  const second = await createAuthority(Date.now())
  const leaf = async (authority = first) => {
    const { certificate, key } = await createServing(authority, ['127.0.0.1'], Date.now())
    return { 'tls.crt': certificate, 'tls.key': key }
  }
  const bundle = { 'ca.crt': first.certificate }
  let mounted: Readonly<Record<string, string>> = { ...(await leaf()), ...bundle }
  const mount = (change: Readonly<Record<string, string>>) => {
    mounted = { ...mounted, ...change }
    files.swap(mounted)
  }
  mount({})
  const cluster = await autopilotCluster(t, {
    isAudited: true,
    webhookFlags: ['--cert-mode=files', `--cert-dir=${files.folder}`, ...LOAD_FLAGS],
    reconcilerFlags: ['--resync=1s', `--webhook-ca=${files.folder}/ca.crt`],
  })
  const { autopilot, read, metric, log } = cluster
  const served = async () => String(await servedAt(autopilot.webhookPort))
  const untilServed = ({ 'tls.crt': cert }: { 'tls.crt': string }) =>
    until('it is served', async () => (await served()) === cert, TAKEN_UP_MS)
  const untilTrusted = (pem: string) =>
    until(
      'both configurations trust it',
      async () => {
        const bundles = (await Promise.all(CONFIGURATIONS.map(read))).map(caBundleOf)
        return bundles.every((text) => text === Buffer.from(pem).toString('base64'))
      },
      TAKEN_UP_MS,
    )
  const said = (of: 'webhook' | 'reconciler', since: number, text: string) =>
    log(of).slice(since).split(text).length - 1

  await t.test('are served and trusted, and nothing is made of our own', async (t) => {
    t.equal(await served(), mounted['tls.crt'])
    await untilTrusted(first.certificate)
    const secrets = audited(cluster).filter(
      (one) => isWrite(one) && one.objectRef.resource === 'secrets',
    )
    t.same(secrets, [])
  })

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'a mounted certificate is swapped under load',
      outcome: 'it is taken up; no call fails',
    },
    async (t) => {
      const next = await leaf()
      const judged = await underLoad(cluster, async () => {
        mount(next)
        await untilServed(next)
      })
      losesNone(t, judged)
      const [{ validTo } = { validTo: '' }] = certificatesIn(next['tls.crt'])
      t.equal(await metric('webhook', CERTIFICATE_OF), Date.parse(validTo) / 1000)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the mounted authority is swapped under load, first beside the old one',
      outcome: 'the registrations follow; no call fails',
    },
    async (t) => {
      const both = `${first.certificate}${second.certificate}`
      const next = await leaf(second)
      const judged = await underLoad(cluster, async () => {
        mount({ 'ca.crt': both })
        await untilTrusted(both)
        mount(next)
        await untilServed(next)
        mount({ 'ca.crt': second.certificate })
        await untilTrusted(second.certificate)
      })
      losesNone(t, judged)
    },
  )

  const unusable =
    (change: Readonly<Record<string, string>>, reason: string) => async (t: Test) => {
      const [good, open] = [mounted, (await callsOf(cluster)).failedOpen]
      const since = log('webhook').length
      mount(change)
      await until(
        'the replica says so',
        async () => said('webhook', since, reason) > 0,
        TAKEN_UP_MS,
      )
      t.equal(await served(), good['tls.crt'], 'the one in use stays')
      t.ok(await isJudged(cluster))
      const next = await leaf(second)
      mount(next)
      await untilServed(next)
      t.equal(said('webhook', since, reason), 1, 'it said so once')
      t.equal((await callsOf(cluster)).failedOpen, open)
    }
  const { 'tls.key': otherKey, 'tls.crt': other } = await leaf(second)
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'a mounted key is another’s',
      outcome: 'replicas keep the certificate in use, say so once, and take the next up',
    },
    unusable({ 'tls.key': otherKey }, 'tls.key is not the key of tls.crt'),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'a mounted certificate is half written',
      outcome: 'replicas keep the certificate in use, say so once, and take the next up',
    },
    unusable(
      { 'tls.crt': other.slice(0, 400), 'tls.key': otherKey },
      'tls.crt holds no certificate',
    ),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the mounted files are away',
      outcome: 'replicas keep the certificate in use, say so once, and take the next up',
    },
    async (t) => {
      const [good, since] = [mounted, log('webhook').length]
      files.swap({})
      const away = 'no such file or directory'
      await until('the replica says so', async () => said('webhook', since, away) > 0, TAKEN_UP_MS)
      t.equal(await served(), good['tls.crt'])
      t.ok(await isJudged(cluster))
      const next = await leaf(second)
      mount(next)
      await untilServed(next)
      t.equal(said('webhook', since, away), 1, 'it said so once')
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the file of --webhook-ca holds no authority any more',
      outcome: 'the one that was read before stays registered, and the leader says so once',
    },
    async (t) => {
      const since = log('reconciler').length
      const reason = `${files.folder}/ca.crt holds no authority`
      mount({ 'ca.crt': '' })
      await until('it says so', async () => said('reconciler', since, reason) > 0, TAKEN_UP_MS)
      await cluster.untilCompared('kubevirt-hyperconverged')
      await untilTrusted(second.certificate)
      t.ok(await isJudged(cluster))
      mount({ 'ca.crt': second.certificate })
      await untilTrusted(second.certificate)
      t.equal(said('reconciler', since, reason), 1)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the file of --webhook-ca holds no authority from the start',
      outcome: 'nothing is registered until it does',
    },
    async (t) => {
      const since = log('reconciler').length
      const remove = () => {
        mount({ 'ca.crt': 'garbage' })
        // Whoever knew that they were there would take it for broken glass, and keep them away.
        const paths = [...CONFIGURATIONS, STATE]
        return Promise.all(paths.map((path) => cluster.admin('DELETE', path)))
      }
      await cluster.restart('reconciler', { meanwhile: remove })
      const reason = `${files.folder}/ca.crt holds no authority`
      await until('it says so', async () => said('reconciler', since, reason) > 0, TAKEN_UP_MS)
      t.same(await Promise.all(CONFIGURATIONS.map(read)), [undefined, undefined])
      mount({ 'ca.crt': second.certificate })
      await untilTrusted(second.certificate)
      await until('writes are judged', () => isJudged(cluster), TAKEN_UP_MS)
    },
  )
})
