import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

import { certificatesIn, isKeyOf, isSignedByOne } from '../../shared/ops/pem.ts'
import {
  BACKDATED_MS,
  createAuthority,
  createServing,
  type KeyedCertificate,
  SERVING_MS,
} from './issuance.ts'

/** Everything the webhook is trusted by. `bundle` holds every authority that a serving certificate in use may be signed by. */
export interface Certificates {
  readonly authority: KeyedCertificate
  readonly serving: KeyedCertificate
  readonly bundle: string
}

/** What is stored of them, whatever somebody made of it. */
export type StoredCertificates = Partial<Certificates>

/**
 * The certificates to use from now on, one step at a time: those that are stored while they are usable and younger
 * than two thirds of their life. A new authority joins the bundle first and signs when every API server trusts it; only where no
 * usable serving certificate is left, nothing is lost by signing at once. Returns the very same object when nothing
 * changes. `isRolledOut` says whether every API server had time to learn of the stored authority.
 */
export async function renewCertificates(
  stored: StoredCertificates,
  hosts: readonly string[],
  now: number,
  isRolledOut: boolean,
): Promise<Certificates> {
  const usable = usableOf(stored, hosts, now)
  const { trusted, serving } = usable
  // What is not valid yet another leader made, whose clock is ahead: no reason to drop it at once.
  if (!usable.authority || (serving && isDue(usable.authority.certificate, now))) {
    const authority = await createAuthority(now)
    const bundle = joined([new X509Certificate(authority.certificate), ...trusted])
    return {
      authority,
      bundle,
      serving: serving ?? (await createServing(authority, hosts, now)),
    }
  }
  const { authority } = usable
  const bundle = joined(prune(trusted, usable, now))
  const isToSign = !serving || (isRolledOut && !isFresh(serving, authority, now))
  if (isToSign) return { authority, bundle, serving: await createServing(authority, hosts, now) }
  return isComplete(stored) && stored.bundle === bundle ? stored : { authority, serving, bundle }
}

/** When renewCertificates has something to do again, the rollout left aside, in epoch milliseconds. */
export function nextRenewal({ authority, serving, bundle }: Certificates): number {
  const due = [authority, serving].map(({ certificate }) => dueAt(new X509Certificate(certificate)))
  const hasOthers = certificatesIn(bundle).length > 1
  const pruning = hasOthers ? unusedAt(new X509Certificate(authority.certificate)) : Infinity
  return Math.min(...due, pruning)
}

const isComplete = (stored: StoredCertificates): stored is Certificates =>
  stored.authority !== undefined && stored.serving !== undefined && stored.bundle !== undefined

interface Usable {
  /** The authorities that the bundle holds and that have not ended. */
  readonly trusted: readonly X509Certificate[]
  readonly authority: KeyedCertificate | undefined
  readonly serving: KeyedCertificate | undefined
}

function usableOf(stored: StoredCertificates, hosts: readonly string[], now: number): Usable {
  const listed = certificatesIn(stored.bundle ?? '').filter((one) => one.ca && endOf(one) > now)
  const authority = usableAuthority(stored.authority, listed, now)
  const own = authority ? certificatesIn(authority.certificate) : []
  const trusted = listed.length > 0 ? listed : own
  return { trusted, authority, serving: usableServing(stored.serving, trusted, hosts, now) }
}

// One that the bundle does not hold is a stranger. Where no bundle is left, nothing speaks against it.
function usableAuthority(
  stored: KeyedCertificate | undefined,
  listed: readonly X509Certificate[],
  now: number,
): KeyedCertificate | undefined {
  const certificate = keyed(stored)
  if (!certificate?.ca || endOf(certificate) <= now) return undefined
  const isListed = listed.length === 0 || listed.some((one) => isSame(one, certificate))
  return isListed ? stored : undefined
}

function usableServing(
  stored: KeyedCertificate | undefined,
  trusted: readonly X509Certificate[],
  hosts: readonly string[],
  now: number,
): KeyedCertificate | undefined {
  const certificate = keyed(stored)
  if (!certificate || endOf(certificate) <= now) return undefined
  const isForHosts = hosts.every((host) =>
    isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host),
  )
  return isForHosts && isSignedByOne(certificate, trusted) ? stored : undefined
}

/** A stored certificate, if it is one and its key fits. */
function keyed(stored: KeyedCertificate | undefined): X509Certificate | undefined {
  const [certificate] = certificatesIn(stored?.certificate ?? '')
  return certificate && isKeyOf(stored?.key ?? '', certificate) ? certificate : undefined
}

function isFresh(serving: KeyedCertificate, authority: KeyedCertificate, now: number): boolean {
  const certificate = new X509Certificate(serving.certificate)
  return (
    !isDue(serving.certificate, now) &&
    isSignedByOne(certificate, [new X509Certificate(authority.certificate)])
  )
}

/** What is left of the bundle when no certificate of the other authorities can be in use any more. */
function prune(
  trusted: readonly X509Certificate[],
  { authority, serving }: Usable,
  now: number,
): readonly X509Certificate[] {
  if (!authority) return trusted
  const current = new X509Certificate(authority.certificate)
  const inUse = serving && new X509Certificate(serving.certificate)
  return trusted.filter(
    (one) =>
      isSame(one, current) || now < unusedAt(current) || (inUse && isSignedByOne(inUse, [one])),
  )
}

// No earlier authority signs once a newer one is there, so that its last certificate has ended by then.
const unusedAt = (current: X509Certificate) => fromOf(current) + BACKDATED_MS + SERVING_MS

const fromOf = ({ validFrom }: X509Certificate) => Date.parse(validFrom)
const endOf = ({ validTo }: X509Certificate) => Date.parse(validTo)
const dueAt = (one: X509Certificate) => fromOf(one) + (2 / 3) * (endOf(one) - fromOf(one))
function isDue(pem: string, now: number): boolean {
  const certificate = new X509Certificate(pem)
  return now >= dueAt(certificate) || now < fromOf(certificate)
}
const isSame = (one: X509Certificate, other: X509Certificate) =>
  one.fingerprint256 === other.fingerprint256
const joined = (all: readonly X509Certificate[]) => all.map(String).join('')
