import { generateKeyPair, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import type { pki } from 'node-forge'

/** A certificate and its private key, PEM. */
export interface KeyedCertificate {
  readonly certificate: string
  readonly key: string
}

const DAY_MS = 24 * 3_600_000
const AUTHORITY_DAYS = 365
/** How long a serving certificate lasts at most. */
export const SERVING_MS = 90 * DAY_MS
/** Clocks differ, between leaders and from the API server: a certificate is valid from a day before it was made. */
export const BACKDATED_MS = DAY_MS

const generate = promisify(generateKeyPair)
// Loaded where a certificate is made, which most starts have no need of: it takes 3 MB.
const loadForge = async () => (await import('node-forge')).default

/** Makes an authority with a name of its own, that signs itself. */
export function createAuthority(now: number): Promise<KeyedCertificate> {
  const value = `virt-platform-autopilot-ca-${randomBytes(4).toString('hex')}`
  const name = [{ name: 'commonName', value }]
  const end = now + AUTHORITY_DAYS * DAY_MS
  return issue({ subject: name, issuer: name, now, end }, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ])
}

/** Makes a serving certificate for these hosts, which ends no later than its authority. */
export async function createServing(
  { certificate, key: signingKey }: KeyedCertificate,
  hosts: readonly string[],
  now: number,
): Promise<KeyedCertificate> {
  const forge = await loadForge()
  const issuer = forge.pki.certificateFromPem(certificate).subject.attributes
  const subject = [{ name: 'commonName', value: 'virt-platform-autopilot-webhook' }]
  const end = Math.min(now + SERVING_MS, Date.parse(new X509Certificate(certificate).validTo))
  return issue({ subject, issuer, now, end, signingKey }, [
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: hosts.map(altName) },
  ])
}

const DNS_NAME = 2
const IP_ADDRESS = 7
const altName = (host: string) =>
  isIP(host) ? { type: IP_ADDRESS, ip: host } : { type: DNS_NAME, value: host }

interface Draft {
  readonly subject: pki.CertificateField[]
  readonly issuer: pki.CertificateField[]
  readonly now: number
  readonly end: number
  /** The issuer's, PEM; without one the certificate is signed by its own. */
  readonly signingKey?: string
}

async function issue(
  { subject, issuer, now, end, signingKey }: Draft,
  extensions: object[],
): Promise<KeyedCertificate> {
  // Keys come from node:crypto: forge makes them in JavaScript, which blocks for seconds.
  const { publicKey, privateKey: key } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const forge = await loadForge()
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  // Positive, as RFC 5280 asks: the first hexadecimal digit keeps the top bit clear.
  certificate.serialNumber = `1${randomBytes(16).toString('hex').slice(1)}`
  certificate.validity.notBefore = new Date(now - BACKDATED_MS)
  certificate.validity.notAfter = new Date(end)
  certificate.setSubject(subject)
  certificate.setIssuer(issuer)
  certificate.setExtensions(extensions)
  certificate.sign(forge.pki.privateKeyFromPem(signingKey ?? key), forge.md.sha256.create())
  const pem = new X509Certificate(forge.pki.certificateToPem(certificate)).toString()
  return { certificate: pem, key }
}
