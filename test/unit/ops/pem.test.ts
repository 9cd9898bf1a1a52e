import t from 'tap'
import { createAuthority, createServing } from '../../../src/reconciler/admission/issuance.ts'
import { certificatesIn, isKeyOf, isSignedByOne, servableIn } from '../../../src/shared/ops/pem.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

t.test('PEM texts', async (t) => {
  const authority = await createAuthority(NOW)
  const other = await createAuthority(NOW)
  const serving = await createServing(authority, ['127.0.0.1'], NOW)
  const [ca, stranger, leaf] = [authority, other, serving].map((one) =>
    servableIn(one.certificate, one.key),
  ) as [ReturnType<typeof servableIn>, ReturnType<typeof servableIn>, ReturnType<typeof servableIn>]

  t.test('are read in order, whatever is between their certificates', async (t) => {
    const broken = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'
    const text = `a comment\r\n${authority.certificate.replaceAll('\n', '\r\n')}${broken}${other.certificate}`
    t.same(certificatesIn(text).map(String), [authority.certificate, other.certificate])
    for (const none of ['', 'garbage', broken, authority.key, authority.certificate.slice(0, 300)])
      t.same(certificatesIn(none), [])
  })

  t.test('a certificate is served with its own key alone', async (t) => {
    t.equal(isKeyOf(serving.key, leaf), true)
    for (const key of [authority.key, '', 'garbage']) t.equal(isKeyOf(key, leaf), false)
    t.throws(() => servableIn(serving.certificate, other.key), {
      message: /tls\.key is not the key/,
    })
    t.throws(() => servableIn('garbage', serving.key), { message: /tls\.crt holds no certificate/ })
  })

  t.test('only an authority signs', async (t) => {
    t.equal(isSignedByOne(leaf, [stranger, ca]), true)
    t.equal(isSignedByOne(leaf, [stranger]), false)
    t.equal(isSignedByOne(leaf, [leaf]), false)
    t.equal(isSignedByOne(leaf, []), false)
  })
})
