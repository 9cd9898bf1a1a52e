import { createPrivateKey, X509Certificate } from 'node:crypto'
import t from 'tap'
import { AuthorityRollout } from '../../../../src/reconciler/admission/certificate-rotator.ts'
import {
  type Certificates,
  nextRenewal,
  renewCertificates,
  type StoredCertificates,
} from '../../../../src/reconciler/admission/certificates.ts'
import { isEqual } from '../../../../src/shared/engine/json/equal.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const HOSTS = ['webhook.ns.svc', '127.0.0.1']

const parsed = ({ certificate }: { certificate: string }) => new X509Certificate(certificate)
const isSignedByAuthority = ({ serving, authority }: Certificates) =>
  parsed(serving).verify(parsed(authority).publicKey)

t.test('certificates', async (t) => {
  const first = await renewCertificates({}, HOSTS, NOW, true)

  t.test(
    'the first ones are valid from a day ago, for the hosts, signed by their own authority',
    async (t) => {
      const serving = parsed(first.serving)
      t.equal(serving.checkHost('webhook.ns.svc'), 'webhook.ns.svc')
      t.equal(serving.checkIP('127.0.0.1'), '127.0.0.1')
      t.equal(serving.checkHost('other.ns.svc'), undefined)
      t.equal(Date.parse(serving.validFrom), NOW - DAY)
      t.equal(parsed(first.authority).ca, true)
      t.equal(serving.ca, false)
      t.ok(isSignedByAuthority(first))
      t.ok(
        serving.checkPrivateKey(createPrivateKey(first.serving.key)),
        'the key is the certificate’s',
      )
      t.equal(first.bundle, first.authority.certificate)
    },
  )

  t.test('stay the same object while nothing is due', async (t) => {
    t.equal(await renewCertificates(first, HOSTS, NOW + 10 * DAY, true), first)
  })

  t.test(
    'the serving certificate is renewed at two thirds of its life, by the same authority',
    async (t) => {
      const at = nextRenewal(first)
      t.ok(
        Math.abs(at - (NOW + 60 * DAY)) < DAY,
        `due after about 60 of 90 days: ${new Date(at).toISOString()}`,
      )
      const renewed = await renewCertificates(first, HOSTS, at, true)
      t.equal(renewed.authority, first.authority)
      t.not(renewed.serving.certificate, first.serving.certificate)
      t.ok(isSignedByAuthority(renewed))
    },
  )

  t.test('a serving certificate that is signed late ends with its authority', async (t) => {
    const { serving, authority } = await renewCertificates(first, HOSTS, NOW + 300 * DAY, true)
    t.equal(authority, first.authority, 'one step at a time')
    t.equal(parsed(serving).validTo, parsed(authority).validTo)
  })

  t.test('the alert has three weeks before it after a renewal that did not come', async (t) => {
    const weekBefore = Date.parse(parsed(first.serving).validTo) - 7 * DAY
    t.ok(weekBefore - nextRenewal(first) > 21 * DAY)
  })

  await t.test('a new authority', async (t) => {
    const inUse = await renewCertificates(first, HOSTS, NOW + 200 * DAY, true)
    const late = NOW + 245 * DAY
    const overlapping = await renewCertificates(inUse, HOSTS, late, true)
    const learned = await renewCertificates(overlapping, HOSTS, late, true)

    t.test('is trusted beside the old one before anything is signed by it', async (t) => {
      t.not(overlapping.authority.certificate, first.authority.certificate)
      t.equal(overlapping.serving, inUse.serving, 'still the old one')
      const authorities = [overlapping, first].map(({ authority }) => authority.certificate)
      t.equal(overlapping.bundle, authorities.join(''))
      t.equal(await renewCertificates(overlapping, HOSTS, late, false), overlapping)
    })

    t.test('signs when it is learned; the old one stays trusted', async (t) => {
      t.ok(isSignedByAuthority(learned))
      t.equal(learned.bundle, overlapping.bundle)
      t.equal(await renewCertificates(learned, HOSTS, late, true), learned)
    })

    t.test('is alone when no certificate of the old one can be in use', async (t) => {
      const renewed = await renewCertificates(learned, HOSTS, late + 61 * DAY, true)
      const before = await renewCertificates(renewed, HOSTS, late + 90 * DAY - 1000, true)
      t.equal(before, renewed)
      t.equal(nextRenewal(renewed), late + 90 * DAY, 'and that is when something is due')
      const alone = await renewCertificates(renewed, HOSTS, late + 90 * DAY, true)
      t.equal(alone.bundle, overlapping.authority.certificate)
      t.equal(alone.serving, renewed.serving)
    })

    t.test('never leaves out the one that the stored certificate is of', async (t) => {
      const stuck = await renewCertificates(overlapping, HOSTS, late + 44 * DAY, false)
      t.equal(stuck, overlapping)
      const { serving } = await renewCertificates(
        { authority: first.authority, bundle: overlapping.bundle },
        HOSTS,
        late + 20 * DAY,
        true,
      )
      const kept = await renewCertificates(
        { ...overlapping, serving },
        HOSTS,
        late + 91 * DAY,
        false,
      )
      t.equal(kept.bundle, overlapping.bundle)
    })
  })

  const stranger = await renewCertificates({}, HOSTS, NOW, true)
  const garbage = { certificate: 'x', key: 'y' }

  await t.test(
    'an authority that is of no use is replaced, and what it signed stays',
    async (t) => {
      const { authority: _deleted, ...withoutAuthority } = first
      const cases: Record<string, StoredCertificates> = {
        deleted: withoutAuthority,
        garbage: { ...first, authority: garbage },
        'another’s key': {
          ...first,
          authority: { ...first.authority, key: stranger.authority.key },
        },
        'a stranger that the bundle does not hold': { ...first, authority: stranger.authority },
        'no authority at all': { ...first, authority: first.serving },
      }
      for (const [what, stored] of Object.entries(cases)) {
        const made = await renewCertificates(stored, HOSTS, NOW, true)
        t.notOk(
          [first, stranger].some((one) => isEqual(one.authority, made.authority)),
          what,
        )
        t.equal(made.serving, first.serving, what)
        t.equal(made.bundle, `${made.authority.certificate}${first.authority.certificate}`, what)
      }
    },
  )

  await t.test('a serving certificate that is of no use is replaced at once', async (t) => {
    const { serving: _deleted, ...withoutServing } = first
    const { authority } = first
    const cases: Record<string, StoredCertificates> = {
      deleted: withoutServing,
      'deleted with the bundle': { authority },
      'with a bundle that holds nothing': { ...first, bundle: 'x' },
      garbage: { ...first, serving: garbage },
      'another’s key': { ...first, serving: { ...first.serving, key: stranger.serving.key } },
      'of a stranger': { ...first, serving: stranger.serving },
      'for other hosts': {
        ...first,
        serving: (await renewCertificates({ authority }, ['other.svc'], NOW, true)).serving,
      },
    }
    for (const [what, stored] of Object.entries(cases)) {
      const made = await renewCertificates(stored, HOSTS, NOW, false)
      t.equal(made.authority, authority, what)
      t.ok(isSignedByAuthority(made), what)
      t.equal(made.bundle, first.bundle, what)
    }
  })

  t.test('where nothing is left, or all has expired, all is made anew at once', async (t) => {
    for (const stored of [first, { bundle: first.bundle }, {}]) {
      const made = await renewCertificates(stored, HOSTS, NOW + 400 * DAY, false)
      t.not(made.authority.certificate, first.authority.certificate)
      t.ok(isSignedByAuthority(made))
      t.equal(made.bundle, made.authority.certificate)
    }
  })

  t.test('a leader whose clock is up to a day off changes nothing', async (t) => {
    for (const hours of [-24, -2, 2, 24])
      t.equal(await renewCertificates(first, HOSTS, NOW + hours * HOUR, true), first, `${hours} h`)
  })

  t.test('what a clock far ahead made is replaced, and trusted until then', async (t) => {
    const back = NOW - 2 * DAY
    const overlapping = await renewCertificates(first, HOSTS, back, true)
    t.equal(Date.parse(parsed(overlapping.authority).validFrom), back - DAY)
    t.equal(overlapping.serving, first.serving)
    t.equal(overlapping.bundle, `${overlapping.authority.certificate}${first.bundle}`)
    t.equal(await renewCertificates(overlapping, HOSTS, back, false), overlapping)
    t.ok(isSignedByAuthority(await renewCertificates(overlapping, HOSTS, back, true)))
  })
})

t.test('an authority is rolled out a minute after every registration holds it', async (t) => {
  const { authority, bundle } = await renewCertificates({}, HOSTS, NOW, true)
  const other = await renewCertificates({}, HOSTS, NOW, true)
  const rollout = new AuthorityRollout()
  const remaining = (registered: readonly string[] | undefined, uptime: number) =>
    rollout.remaining(authority.certificate, registered, uptime)
  t.equal(remaining(undefined, 0), 60_000, 'there may be registrations that are not read yet')
  t.equal(remaining([], 0), 0, 'nobody is asked')
  t.equal(remaining([other.bundle, bundle], 0), 60_000)
  t.equal(remaining([bundle, `${other.bundle}${bundle}`], 10_000), 60_000)
  t.equal(remaining([bundle, bundle], 50_000), 20_000)
  t.equal(remaining([bundle, bundle], 70_000), 0)
  t.equal(rollout.remaining(other.authority.certificate, [other.bundle], 70_000), 60_000)
  t.equal(remaining([bundle], 80_000), 60_000, 'not at once when it is back')
})
