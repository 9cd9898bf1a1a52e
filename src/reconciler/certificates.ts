import { generateKeyPair, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import forge from 'node-forge'

/** A certificate and its private key, PEM. */
export interface KeyedCertificate {
  readonly certificate: string
  readonly key: string
}

/** Everything the webhook is trusted by. `bundle` holds every authority that a serving certificate in use may be signed by. */
export interface Certificates {
  readonly authority: KeyedCertificate
  readonly serving: KeyedCertificate
  readonly bundle: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const AUTHORITY_DAYS = 365
const SERVING_DAYS = 90
// Clocks differ: a certificate is valid from an hour before it was made.
const BACKDATED_MS = HOUR_MS
// A new authority signs only after every API server had time to learn the bundle that contains it.
const OVERLAP_MS = 60_000

/**
 * The certificates to use from now on: those that exist as long as they are sound and younger than two
 * thirds of their life, new ones otherwise. Returns the very same object when nothing changes.
 */
export async function renewCertificates(
  existing: Certificates | undefined,
  hosts: readonly string[],
  now: number,
): Promise<Certificates> {
  if (!existing || !isSound(existing, now)) {
    const authority = await createAuthority(now)
    return {
      authority,
      bundle: authority.certificate,
      serving: await createServing(authority, hosts, now),
    }
  }
  if (isDue(existing.authority.certificate, now)) {
    const authority = await createAuthority(now)
    return {
      ...existing,
      authority,
      bundle: `${authority.certificate}${existing.authority.certificate}`,
    }
  }
  if (isSettled(existing.authority.certificate, now) && !serves(existing, hosts, now)) {
    const serving = await createServing(existing.authority, hosts, now)
    return { ...existing, serving }
  }
  return existing
}

/** When renewCertificates has something to do again, in epoch milliseconds. */
export function nextRenewal({ authority, serving }: Certificates): number {
  const due = [authority, serving].map(({ certificate }) => dueAt(new X509Certificate(certificate)))
  const isSigner = new X509Certificate(serving.certificate).checkIssued(
    new X509Certificate(authority.certificate),
  )
  const overlapEnd = isSigner
    ? Number.POSITIVE_INFINITY
    : madeAt(authority.certificate) + OVERLAP_MS
  return Math.min(...due, overlapEnd)
}

const madeAt = (pem: string) => Date.parse(new X509Certificate(pem).validFrom) + BACKDATED_MS
const isSettled = (pem: string, now: number) => now - madeAt(pem) >= OVERLAP_MS

const dueAt = ({ validFrom, validTo }: X509Certificate) => {
  const from = Date.parse(validFrom)
  return from + (2 / 3) * (Date.parse(validTo) - from)
}
const isDue = (pem: string, now: number) => now >= dueAt(new X509Certificate(pem))

function isSound({ authority, serving, bundle }: Certificates, now: number): boolean {
  try {
    const certificate = new X509Certificate(authority.certificate)
    return (
      Date.parse(certificate.validTo) > now &&
      Date.parse(certificate.validFrom) <= now &&
      new X509Certificate(serving.certificate).publicKey !== undefined &&
      bundle.includes(authority.certificate.trim())
    )
  } catch {
    return false
  }
}

// The serving certificate is good while it is young, for these hosts and signed by the newest authority.
function serves(
  { authority, serving }: Certificates,
  hosts: readonly string[],
  now: number,
): boolean {
  const certificate = new X509Certificate(serving.certificate)
  return (
    now < dueAt(certificate) &&
    now >= Date.parse(certificate.validFrom) &&
    certificate.verify(new X509Certificate(authority.certificate).publicKey) &&
    hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)))
  )
}

const generate = promisify(generateKeyPair)

// Keys come from node:crypto: forge makes them in JavaScript, which blocks for seconds.
async function newKeys() {
  const { publicKey, privateKey } = await generate('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey: forge.pki.publicKeyFromPem(publicKey), privateKey }
}

async function createAuthority(now: number): Promise<KeyedCertificate> {
  const keys = await newKeys()
  const name = [
    { name: 'commonName', value: `virt-platform-autopilot-ca-${randomBytes(4).toString('hex')}` },
  ]
  const certificate = draft(keys.publicKey, name, name, now, AUTHORITY_DAYS)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ])
  return sign(certificate, keys.privateKey, keys.privateKey)
}

async function createServing(
  authority: KeyedCertificate,
  hosts: readonly string[],
  now: number,
): Promise<KeyedCertificate> {
  const keys = await newKeys()
  const issuer = forge.pki.certificateFromPem(authority.certificate).subject.attributes
  const subject = [{ name: 'commonName', value: 'virt-platform-autopilot-webhook' }]
  const certificate = draft(keys.publicKey, subject, issuer, now, SERVING_DAYS)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: hosts.map(altName) },
  ])
  return sign(certificate, keys.privateKey, authority.key)
}

const DNS_NAME = 2
const IP_ADDRESS = 7
const altName = (host: string) =>
  isIP(host) ? { type: IP_ADDRESS, ip: host } : { type: DNS_NAME, value: host }

function draft(
  publicKey: forge.pki.PublicKey,
  subject: forge.pki.CertificateField[],
  issuer: forge.pki.CertificateField[],
  now: number,
  days: number,
) {
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = publicKey
  // Positive, as RFC 5280 asks: the first hexadecimal digit keeps the top bit clear.
  certificate.serialNumber = `1${randomBytes(16).toString('hex').slice(1)}`
  certificate.validity.notBefore = new Date(now - BACKDATED_MS)
  certificate.validity.notAfter = new Date(now + days * DAY_MS)
  certificate.setSubject(subject)
  certificate.setIssuer(issuer)
  return certificate
}

function sign(
  certificate: forge.pki.Certificate,
  key: string,
  signingKey: string,
): KeyedCertificate {
  certificate.sign(forge.pki.privateKeyFromPem(signingKey), forge.md.sha256.create())
  return { certificate: forge.pki.certificateToPem(certificate), key }
}
