import { createPrivateKey, X509Certificate } from 'node:crypto'
import t from 'tap'

import {
  type Certificates,
  nextRenewal,
  renewCertificates,
} from '../../../src/reconciler/certificates.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')
const DAY = 86_400_000
const HOSTS = ['webhook.ns.svc', '127.0.0.1']

const parsed = ({ certificate }: { certificate: string }) => new X509Certificate(certificate)
const isSignedByAuthority = ({ serving, authority }: Certificates) =>
  parsed(serving).verify(parsed(authority).publicKey)

t.test('certificates', async (t) => {
  const first = await renewCertificates(undefined, HOSTS, NOW)

  t.test(
    'the first ones are valid from an hour ago, for the hosts, signed by their own authority',
    async (t) => {
      const serving = parsed(first.serving)
      t.equal(serving.checkHost('webhook.ns.svc'), 'webhook.ns.svc')
      t.equal(serving.checkIP('127.0.0.1'), '127.0.0.1')
      t.equal(serving.checkHost('other.ns.svc'), undefined)
      t.equal(Date.parse(serving.validFrom), NOW - 3_600_000)
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
    t.equal(await renewCertificates(first, HOSTS, NOW + 10 * DAY), first)
  })

  t.test(
    'the serving certificate is renewed at two thirds of its life, by the same authority',
    async (t) => {
      const at = nextRenewal(first)
      t.ok(
        Math.abs(at - (NOW + 60 * DAY)) < DAY,
        `due after about 60 of 90 days: ${new Date(at).toISOString()}`,
      )
      const renewed = await renewCertificates(first, HOSTS, at)
      t.equal(renewed.authority, first.authority)
      t.not(renewed.serving.certificate, first.serving.certificate)
      t.ok(isSignedByAuthority(renewed))
    },
  )

  t.test('are made anew for other hosts', async (t) => {
    const moved = await renewCertificates(first, ['elsewhere.ns.svc'], NOW + DAY)
    t.equal(parsed(moved.serving).checkHost('elsewhere.ns.svc'), 'elsewhere.ns.svc')
    t.equal(moved.authority, first.authority)
  })

  t.test(
    'a new authority is trusted beside the old one before anything is signed by it',
    async (t) => {
      const late = NOW + 245 * DAY
      const overlapping = await renewCertificates(first, HOSTS, late)
      t.not(overlapping.authority.certificate, first.authority.certificate)
      t.equal(overlapping.serving, first.serving, 'still the old one')
      t.ok(overlapping.bundle.includes(first.authority.certificate))
      t.ok(overlapping.bundle.startsWith(overlapping.authority.certificate))
      t.equal(await renewCertificates(overlapping, HOSTS, late + 30_000), overlapping)
      t.equal(
        nextRenewal(overlapping) <= late + 60_000,
        true,
        'and the next step is due in a minute',
      )
      const settled = await renewCertificates(overlapping, HOSTS, late + 60_000)
      t.ok(isSignedByAuthority(settled))
      t.equal(settled.bundle, overlapping.bundle, 'both stay trusted')
    },
  )

  t.test('all are made anew when what is stored cannot be used', async (t) => {
    const broken: Record<string, Certificates> = {
      'expired authority': first,
      'no PEM': { ...first, authority: { certificate: 'x', key: 'y' } },
      'a bundle without the authority': { ...first, bundle: '' },
      'a serving certificate that is none': { ...first, serving: { certificate: '', key: '' } },
    }
    for (const [what, existing] of Object.entries(broken)) {
      const at = what === 'expired authority' ? NOW + 400 * DAY : NOW
      const made = await renewCertificates(existing, HOSTS, at)
      t.not(made.authority.certificate, first.authority.certificate, what)
      t.ok(isSignedByAuthority(made), what)
    }
  })

  t.test('a clock that went back makes them anew', async (t) => {
    const made = await renewCertificates(first, HOSTS, NOW - DAY)
    t.equal(Date.parse(parsed(made.authority).validFrom), NOW - DAY - 3_600_000)
  })
})
