import { X509Certificate } from 'node:crypto'

import { type Client, isConflict } from '../../shared/cluster/client.ts'
import { certificatesIn } from '../../shared/ops/pem.ts'
import {
  readSecrets,
  type SecretPlace,
  type Secrets,
  storedIn,
  writeSecrets,
} from './certificate-secrets.ts'
import { nextRenewal, renewCertificates, type StoredCertificates } from './certificates.ts'
import type { KeyedCertificate } from './issuance.ts'

export interface RotatorOptions extends SecretPlace {
  readonly client: Client
  /** What the webhook is called by: names and addresses. */
  readonly hosts: readonly string[]
  /** Asked before each write; throws where we no longer lead. */
  readonly requireLease: () => void
  /** The bundles of the configurations that there are, PEM; undefined while these are not read. */
  readonly registered: () => readonly string[] | undefined
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime: () => number
}

/** The authorities to trust the webhook by, PEM, and after how many milliseconds something is due again. */
export interface RotatedCertificates {
  readonly bundle: string
  readonly dueInMs: number
}

/** How often in a row a Secret that somebody else changed meanwhile is read again at once. */
const CONFLICTS_AT_ONCE = 3

/** Keeps our own certificates in their Secrets, as the leader does. */
export class CertificateRotator {
  readonly #options: RotatorOptions
  #rollout = new AuthorityRollout()
  #secrets: Secrets | undefined
  /** An authority that was made and that perhaps is not stored: nobody else has its key. */
  #unwritten: KeyedCertificate | undefined
  #rereads = 0

  constructor(options: RotatorOptions) {
    this.#options = options
  }

  /** Forgets everything: another leader may have changed it. */
  resume(): void {
    this.#rollout = new AuthorityRollout()
    this.#unwritten = undefined
    this.reread()
  }

  /** Reads the Secrets again next time: somebody changed them. */
  reread(): void {
    this.#secrets = undefined
    this.#rereads++
  }

  /** Does what is due now. Throws what the API server says; an authority that the bundle lists is not made another time. */
  async rotate(): Promise<RotatedCertificates> {
    for (let conflicts = 0; ; conflicts++) {
      try {
        return await this.#decideAndWrite()
      } catch (error) {
        // What was read may be no more, and what was written may be stored all the same.
        this.reread()
        if (!isConflict(error) || conflicts === CONFLICTS_AT_ONCE) throw error
      }
    }
  }

  async #decideAndWrite(): Promise<RotatedCertificates> {
    const { client, hosts, requireLease, now } = this.#options
    const rereads = this.#rereads
    const secrets = this.#secrets ?? (await readSecrets(client, this.#options))
    const stored = withUnwritten(storedIn(secrets), this.#unwritten)
    const trustedInMs = this.#trustedIn(stored)
    const certificates = await renewCertificates(stored, hosts, now(), trustedInMs === 0)
    let written = secrets
    if (certificates !== stored || this.#unwritten) {
      this.#unwritten = certificates.authority
      written = await writeSecrets(client, this.#options, certificates, secrets, requireLease)
      this.#unwritten = undefined
    }
    // Somebody may have deleted meanwhile what was read or written: then it is to be read again.
    if (rereads === this.#rereads) this.#secrets = written
    const dueInMs = Math.min(nextRenewal(certificates) - now(), trustedInMs || Infinity)
    return { bundle: certificates.bundle, dueInMs }
  }

  /** In how many milliseconds the stored authority may sign what replicas are to serve with instead of what they have. */
  #trustedIn({ authority }: StoredCertificates): number {
    const { registered, uptime } = this.#options
    const [certificate] = certificatesIn(authority?.certificate ?? '')
    return certificate ? this.#rollout.remaining(String(certificate), registered(), uptime()) : 0
  }
}

// The bundle is written first: where it holds an authority that could not be stored then, another would make it longer.
function withUnwritten(
  stored: StoredCertificates,
  unwritten: KeyedCertificate | undefined,
): StoredCertificates {
  const isListed = unwritten && stored.bundle?.includes(unwritten.certificate)
  return isListed ? { ...stored, authority: unwritten } : stored
}

// A server that has not heard of a change for so long is behind with everything else too.
const ROLLOUT_MS = 60_000

/** Follows how long the API servers have been told to trust an authority, by a clock that nobody sets. */
export class AuthorityRollout {
  #fingerprint: string | undefined
  #since: number | undefined

  /**
   * In how many milliseconds every API server has learned of the authority that is among the bundles of all
   * registrations; 0 when it has, or where nobody is asked. Undefined registrations are not read yet: there may be
   * some. Times are of a monotonic clock.
   */
  remaining(authority: string, registered: readonly string[] | undefined, uptime: number): number {
    if (!registered) return ROLLOUT_MS
    if (registered.length === 0) return 0
    const { fingerprint256 } = new X509Certificate(authority)
    const isInAll = registered.every((bundle) =>
      certificatesIn(bundle).some((one) => one.fingerprint256 === fingerprint256),
    )
    if (this.#fingerprint !== fingerprint256 || !isInAll) this.#since = undefined
    this.#fingerprint = fingerprint256
    if (!isInAll) return ROLLOUT_MS
    this.#since ??= uptime
    return Math.max(0, ROLLOUT_MS - (uptime - this.#since))
  }
}
