import { createPrivateKey, X509Certificate } from 'node:crypto'

/** The certificates in a PEM text, in order; what does not parse is left out. */
export function certificatesIn(text: string): readonly X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.flatMap((block) => parse(block) ?? [])
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

/** Whether a private key, PEM, is the one of a certificate; false for what is no key. */
export function isKeyOf(key: string, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

/** The first certificate of a PEM text, which is to be served with. Throws where there is none, or the key is another's. */
export function servableIn(cert: string, key: string): X509Certificate {
  const [certificate] = certificatesIn(cert)
  if (!certificate) throw new Error('tls.crt holds no certificate')
  if (!isKeyOf(key, certificate)) throw new Error('tls.key is not the key of tls.crt')
  return certificate
}

/** Whether one of these authorities signed the certificate itself. */
export const isSignedByOne = (
  certificate: X509Certificate,
  authorities: readonly X509Certificate[],
): boolean =>
  authorities.some(
    (authority) =>
      authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  )
