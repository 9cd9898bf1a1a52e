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
  const { trusted, authority, serving } = usableOf(stored, hosts, now)
  // What is not valid yet another leader made, whose clock is ahead: no reason to drop it at once.
  if (!authority || (serving && isDue(authority.certificate, now))) {
    const made = await createAuthority(now)
    const bundle = joined([new X509Certificate(made.certificate), ...trusted])
    return { authority: made, bundle, serving: serving ?? (await createServing(made, hosts, now)) }
  }
  const current = new X509Certificate(authority.certificate)
  const inUse = serving && new X509Certificate(serving.certificate)
  const bundle = joined(prune(trusted, current, inUse, now))
  const isFresh = inUse && !isDue(serving.certificate, now) && isSignedByOne(inUse, [current])
  const isToSign = !serving || (isRolledOut && !isFresh)
  if (isToSign) return { authority, bundle, serving: await createServing(authority, hosts, now) }
  // What is of use is stored's own.
  return stored.bundle === bundle ? (stored as Certificates) : { authority, serving, bundle }
}

/** When renewCertificates has something to do again, the rollout left aside, in epoch milliseconds. */
export function nextRenewal({ authority, serving, bundle }: Certificates): number {
  const due = [authority, serving].map(({ certificate }) => dueAt(new X509Certificate(certificate)))
  const hasOthers = certificatesIn(bundle).length > 1
  const pruning = hasOthers ? unusedAt(new X509Certificate(authority.certificate)) : Infinity
  return Math.min(...due, pruning)
}

/** What of the stored is of use, with the authorities that the bundle holds and that have not ended. */
function usableOf(
  { bundle = '', ...stored }: StoredCertificates,
  hosts: readonly string[],
  now: number,
) {
  const listed = certificatesIn(bundle).filter((one) => one.ca && endOf(one) > now)
  const authority = keyed(stored.authority, now)
  // One that the bundle does not hold is a stranger. Where no bundle is left, nothing speaks against it.
  const isListed = listed.length === 0 || listed.some((one) => authority && isSame(one, authority))
  const own = authority?.ca && isListed ? authority : undefined
  const trusted = own && listed.length === 0 ? [own] : listed
  const serving = keyed(stored.serving, now)
  const isForHosts = hosts.every((host) =>
    isIP(host) ? serving?.checkIP(host) : serving?.checkHost(host),
  )
  const isServing = serving && isForHosts && isSignedByOne(serving, trusted)
  return {
    trusted,
    authority: own && stored.authority,
    serving: isServing ? stored.serving : undefined,
  }
}

/** A stored certificate, if it is one that has not ended and its key fits. */
function keyed(stored: KeyedCertificate | undefined, now: number): X509Certificate | undefined {
  const [certificate] = certificatesIn(stored?.certificate ?? '')
  const isUsable =
    certificate && endOf(certificate) > now && isKeyOf(stored?.key ?? '', certificate)
  return isUsable ? certificate : undefined
}

/** What is left of the bundle when no certificate of the other authorities can be in use any more. */
const prune = (
  trusted: readonly X509Certificate[],
  current: X509Certificate,
  inUse: X509Certificate | undefined,
  now: number,
) =>
  trusted.filter(
    (one) =>
      isSame(one, current) || now < unusedAt(current) || (inUse && isSignedByOne(inUse, [one])),
  )

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
