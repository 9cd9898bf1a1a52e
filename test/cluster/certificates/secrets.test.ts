import t, { type Test } from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { autopilotCluster, type Loose, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { callsOf } from '../harness/calls.ts'
import { faultTest } from '../harness/fault.ts'
import { MUTATING, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { LOAD_FLAGS, losesNone, underLoad } from './admission-load.ts'
import {
  AUTHORITY,
  dataOf,
  type InUse,
  inUse,
  isJudged,
  SERVING,
  servedAt,
  untilInUse,
} from './certificates.ts'

const HOSTS = ['127.0.0.1']
const YEAR = 366 * 86_400_000
const MERGE = 'application/merge-patch+json'
const STAYS = 'the serving certificate is not usable; the one in use stays'

t.test('certificates that somebody breaks', async (t) => {
  const cluster = await autopilotCluster(t, {
    reconcilerFlags: ['--resync=1s'],
    webhookFlags: LOAD_FLAGS,
  })
  const { autopilot, admin, metric, log } = cluster
  const { reconciler, webhook } = autopilot
  const known = async () => untilInUse(cluster, 'what is stored is in use', () => true)
  const put = (path: string, data: Readonly<Record<string, string | null>>) =>
    admin('PATCH', path, { data }, MERGE)
  const said = (since: number) => log('webhook').slice(since).split(STAYS).length - 1
  const stranger = await createAuthority(Date.now())
  const strange = await createServing(stranger, HOSTS, Date.now())

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the Secret of the serving certificate is deleted under load',
      outcome: 'the same authority signs another at once; no call fails',
    },
    async (t) => {
      const before = await known()
      const judged = await underLoad(cluster, async () => {
        await admin('DELETE', SERVING)
        await untilInUse(cluster, 'another is served', ({ served }) => served !== before.served)
      })
      losesNone(t, judged)
      const after = await inUse(cluster)
      t.same(after?.authority, before.authority)
      t.same(after?.bundles, before.bundles)
    },
  )

  const joins = (before: InUse) => (now: InUse) =>
    now.authority !== before.authority && now.bundles[0]?.[0] === now.authority

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the Secret of the authority is deleted under load',
      outcome: 'a new one is trusted beside the old one before it signs; no call fails',
    },
    async (t) => {
      const before = await known()
      const judged = await underLoad(cluster, async () => {
        await admin('DELETE', AUTHORITY)
        const joined = await untilInUse(cluster, 'a new one is trusted', joins(before))
        t.equal(joined.served, before.served, 'it does not sign yet')
        t.ok(joined.bundles[0]?.includes(before.authority))
        await untilInUse(cluster, 'it signs', ({ isSigned }) => isSigned)
      })
      losesNone(t, judged)
    },
  )

  const broken = (breakIt: () => Promise<unknown>) => async (t: Test) => {
    const before = await known()
    const open = (await callsOf(cluster)).failedOpen
    await breakIt()
    const after = await untilInUse(cluster, 'a new one is trusted', joins(before))
    t.equal(after.served, before.served, 'what is served stays')
    t.ok(after.bundles[0]?.includes(before.authority))
    t.ok(await isJudged(cluster))
    t.equal((await callsOf(cluster)).failedOpen, open)
  }
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the Secret of the authority holds garbage',
      outcome: 'a new one takes over as if it were due; no call fails',
    },
    broken(() => put(AUTHORITY, dataOf({ 'tls.crt': 'garbage', 'tls.key': 'garbage' }))),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the authority’s key is another’s',
      outcome: 'a new one takes over as if it were due; no call fails',
    },
    broken(() => put(AUTHORITY, dataOf({ 'tls.key': stranger.key }))),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody stores an authority of their own in its place',
      outcome: 'it is never trusted; a new one takes over as if it were due; no call fails',
    },
    async (t) => {
      const data = dataOf({ 'tls.crt': stranger.certificate, 'tls.key': stranger.key })
      await broken(() => put(AUTHORITY, data))(t)
      t.notMatch((await cluster.read(SERVING)).data['ca.crt'], data['tls.crt'])
    },
  )

  const unusable = (data: Readonly<Record<string, string | null>>) => async (t: Test) => {
    const before = await known()
    const open = (await callsOf(cluster)).failedOpen
    await reconciler.stop()
    const since = log('webhook').length
    await put(SERVING, data)
    await until('the replica says so', async () => said(since) > 0)
    t.equal((await servedAt(autopilot.webhookPort)).fingerprint256, before.served)
    t.ok(await isJudged(cluster))
    t.equal(await metric('webhook', CERTIFICATE_OF), before.ends.serving)
    reconciler.start()
    await untilInUse(cluster, 'another is served', ({ served }) => served !== before.served)
    t.ok(await isJudged(cluster))
    t.equal(said(since), 1, 'it said so once')
    t.equal((await callsOf(cluster)).failedOpen, open)
  }
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the serving certificate is garbage',
      outcome: 'replicas keep the one in use and say so once, until the leader makes another',
    },
    unusable(dataOf({ 'tls.crt': 'garbage', 'tls.key': 'garbage' })),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the serving certificate’s key is another’s',
      outcome: 'replicas keep the one in use and say so once, until the leader makes another',
    },
    unusable(dataOf({ 'tls.key': strange.key })),
  )
  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody stores a certificate of another authority',
      outcome: 'replicas keep the one in use and say so once, until the leader makes another',
    },
    unusable(dataOf({ 'tls.crt': strange.certificate, 'tls.key': strange.key })),
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'both Secrets are deleted',
      outcome:
        'all is made anew at once and the old authority is trusted no more; calls fail until the API server has learned the new one',
    },
    async (t) => {
      const before = await known()
      const uids = await Promise.all([AUTHORITY, SERVING].map(cluster.read))
      await reconciler.stop()
      await Promise.all([AUTHORITY, SERVING].map((path) => admin('DELETE', path)))
      t.ok(await isJudged(cluster), 'replicas serve without it')
      t.equal((await servedAt(autopilot.webhookPort)).fingerprint256, before.served)
      reconciler.start()
      const after = await untilInUse(
        cluster,
        'all is new',
        ({ authority, isSigned }) => authority !== before.authority && isSigned,
      )
      t.same(after.bundles[0], [after.authority])
      await until('writes are judged', () => isJudged(cluster))
      const made = await Promise.all([AUTHORITY, SERVING].map(cluster.read))
      t.notMatch(made[0].metadata.uid, uids[0].metadata.uid)
      t.ok(made.every(isOurs), 'the leader owns what it made')
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'somebody makes the Secret before us, of another type',
      outcome: 'it is used as it is',
    },
    async (t) => {
      const before = await known()
      await reconciler.stop()
      await admin('DELETE', SERVING)
      const name = SERVING.slice(SERVING.lastIndexOf('/') + 1)
      await admin('POST', SERVING.slice(0, SERVING.lastIndexOf('/')), {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'Opaque',
        metadata: { name, namespace: NAMESPACE },
      })
      reconciler.start()
      await untilInUse(cluster, 'another is served', ({ served }) => served !== before.served)
      t.equal((await cluster.read(SERVING)).type, 'Opaque')
      t.ok(await isJudged(cluster))
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'authority and certificate have expired, after a year without a leader',
      outcome: 'a leader makes both anew at once, and writes are judged again without a restart',
    },
    async (t) => {
      await autopilot.stop()
      const old = await createAuthority(Date.now() - YEAR)
      const leaf = await createServing(old, HOSTS, Date.now() - YEAR)
      await put(AUTHORITY, dataOf({ 'tls.crt': old.certificate, 'tls.key': old.key }))
      const data = { 'tls.crt': leaf.certificate, 'tls.key': leaf.key, 'ca.crt': old.certificate }
      await put(SERVING, dataOf(data))
      const caBundle = dataOf({ bundle: old.certificate }).bundle
      const replace = [
        { op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: caBundle },
      ]
      for (const path of [MUTATING, VALIDATING])
        await admin('PATCH', path, replace, 'application/json-patch+json')
      webhook.start()
      await until('it listens', () => isListening(autopilot.webhookPort), 90_000)
      const expired = await untilInUse(cluster, 'it is served', ({ isSigned }) => isSigned)
      t.ok(expired.ends.serving * 1000 < Date.now())
      t.equal(await metric('webhook', CERTIFICATE_OF), expired.ends.serving)
      await until('no call succeeds', async () => !(await isJudged(cluster)))
      const { pid } = webhook.child()
      reconciler.start()
      const anew = await untilInUse(
        cluster,
        'all is new',
        ({ authority, isSigned }) => authority !== expired.authority && isSigned,
      )
      t.same(anew.bundles[0], [anew.authority])
      await until('writes are judged', () => isJudged(cluster))
      t.equal(webhook.child().pid, pid)
    },
  )
})

const isListening = (port: number) =>
  servedAt(port).then(
    () => true,
    () => false,
  )
const CERTIFICATE_OF = 'virt_platform_webhook_certificate_expiry_timestamp_seconds'
const isOurs = ({ metadata }: Loose) =>
  metadata.managedFields.some(
    ({ manager, operation }: Loose) =>
      manager === 'virt-platform-autopilot' && operation === 'Apply',
  )
