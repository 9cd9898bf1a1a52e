import t from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { createClock } from '../faults/clocks.ts'
import { type AutopilotCluster, autopilotCluster, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import type { TestCluster } from '../harness/fixture.ts'
import { MUTATING, VALIDATING } from '../harness/objects.ts'
import { LOAD_FLAGS, losesNone, underLoad } from './admission-load.ts'
import { AUTHORITY, dataOf, inUse, SERVING, untilInUse } from './certificates.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
// Ages at which two thirds of their lives are over: 366 and 91 days, back-dating included.
const AUTHORITY_AGE = 243 * DAY
const SERVING_AGE = (59 + 2 / 3) * DAY
const CERTIFICATE_OF = 'virt_platform_webhook_certificate_expiry_timestamp_seconds'
const AUTHORITY_OF = 'virt_platform_webhook_ca_expiry_timestamp_seconds'

t.test('certificates that grow old', async (t) => {
  const clock = createClock(t)
  const cluster = await autopilotCluster(t, {
    // What is due is looked at as often as everything else.
    reconcilerFlags: ['--resync=1s'],
    webhookFlags: LOAD_FLAGS,
    env: clock.env,
    // The serving certificate is due in half an hour, its authority in an hour and a half.
    through: async (plane) => {
      await seed(plane)
      return plane
    },
  })
  const seeded = await untilInUse(cluster, 'what was stored is in use', () => true)
  t.equal(seeded.bundles[0]?.length, 1)

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the serving certificate is due under load',
      outcome: 'it is renewed and taken up; no call fails',
    },
    async (t) => {
      const judged = await underLoad(cluster, async () => {
        clock.set(HOUR)
        await untilInUse(cluster, 'another is served', ({ served }) => served !== seeded.served)
      })
      losesNone(t, judged)
      const renewed = await inUse(cluster)
      t.same(renewed?.authority, seeded.authority)
      t.same(renewed?.bundles, seeded.bundles)
    },
  )

  await faultTest(
    t,
    {
      part: 'certificates',
      fault: 'the authority is due under load',
      outcome:
        'a new one is trusted a minute before it signs, and the old one beside it; no call fails',
    },
    async (t) => {
      const judged = await underLoad(cluster, async () => {
        clock.set(2 * HOUR)
        await untilInUse(
          cluster,
          'the new one signed what is served',
          ({ authority, isSigned }) => authority !== seeded.authority && isSigned,
        )
      })
      losesNone(t, judged)
      const rotated = await inUse(cluster)
      t.same(rotated?.bundles[0], [rotated?.authority, seeded.authority])
      await toldBeforeSigned(t, cluster)
    },
  )

  await t.test('are told as metrics when they are renewed', async (t) => {
    const now = await untilInUse(cluster, 'all is settled', () => true)
    t.equal(await cluster.metric('webhook', CERTIFICATE_OF), now.ends.serving)
    t.equal(await cluster.metric('reconciler', AUTHORITY_OF), now.ends.authority)
  })
})

/** Stores certificates of a leader that was here long ago. */
async function seed(plane: TestCluster): Promise<void> {
  const now = Date.now()
  const authority = await createAuthority(now - AUTHORITY_AGE + 1.5 * HOUR)
  const serving = await createServing(authority, ['127.0.0.1'], now - SERVING_AGE + 0.5 * HOUR)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await plane.admin('POST', '/api/v1/namespaces', namespace)
  for (const [path, texts] of [
    [AUTHORITY, { 'tls.crt': authority.certificate, 'tls.key': authority.key }],
    [
      SERVING,
      { 'tls.crt': serving.certificate, 'tls.key': serving.key, 'ca.crt': authority.certificate },
    ],
  ] as const) {
    const [collection = '', name = ''] = path.split(/\/(?=[^/]*$)/)
    await plane.admin('POST', collection, {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name },
      data: dataOf(texts),
    })
  }
}

/** Revisions of one store are in the order of its writes. */
async function toldBeforeSigned(
  t: { ok(is: boolean, ...message: [string]): unknown },
  { read }: AutopilotCluster,
): Promise<void> {
  const paths = [SERVING, MUTATING, VALIDATING]
  const [signed = 0, ...told] = (await Promise.all(paths.map(read))).map(({ metadata }) =>
    Number(metadata.resourceVersion),
  )
  t.ok(
    told.every((revision) => revision < signed),
    'both configurations were written before what it signed',
  )
}
