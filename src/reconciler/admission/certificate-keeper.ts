import { type Client, isConflict } from '../../shared/cluster/client.ts'
import { certificatesIn } from '../../shared/ops/pem.ts'
import { readSecrets, type Secrets, storedIn, writeSecrets } from './certificate-secrets.ts'
import {
  type Certificates,
  nextRenewal,
  renewCertificates,
  type StoredCertificates,
} from './certificates.ts'
import type { KeyedCertificate } from './issuance.ts'
import { Learning } from './learning.ts'

export interface CertificateKeeperOptions {
  readonly client: Client
  readonly namespace: string
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

/** The certificates to trust the webhook by, and after how many milliseconds something is due again. */
export interface KeptCertificates {
  readonly certificates: Certificates
  readonly dueInMs: number
}

/** How often in a row a Secret that somebody else changed meanwhile is read again at once. */
const CONFLICTS_AT_ONCE = 3

/** Keeps our own certificates in their Secrets, as the leader does. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions
  #learning = new Learning()
  #secrets: Secrets | undefined
  /** An authority that was made and that perhaps is not stored: nobody else has its key. */
  #unwritten: KeyedCertificate | undefined
  #rereads = 0

  constructor(options: CertificateKeeperOptions) {
    this.#options = options
  }

  /** Forgets everything: another leader may have changed it. */
  resume(): void {
    this.#learning = new Learning()
    this.#unwritten = undefined
    this.reread()
  }

  /** Reads the Secrets again next time: somebody changed them. */
  reread(): void {
    this.#secrets = undefined
    this.#rereads++
  }

  /** Does what is due now. Throws what the API server says; an authority that the bundle lists is not made another time. */
  async keep(): Promise<KeptCertificates> {
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

  async #decideAndWrite(): Promise<KeptCertificates> {
    const { client, namespace, hosts, requireLease, now } = this.#options
    const rereads = this.#rereads
    const secrets = this.#secrets ?? (await readSecrets(client, namespace))
    const stored = withUnwritten(storedIn(secrets), this.#unwritten)
    const learnedInMs = this.#learnedIn(stored)
    const certificates = await renewCertificates(stored, hosts, now(), learnedInMs === 0)
    let written = secrets
    if (certificates !== stored || this.#unwritten) {
      this.#unwritten = certificates.authority
      written = await writeSecrets(client, namespace, certificates, {
        before: secrets,
        requireLease,
      })
      this.#unwritten = undefined
    }
    // Somebody may have deleted meanwhile what was read or written: then it is to be read again.
    if (rereads === this.#rereads) this.#secrets = written
    const dueInMs = Math.min(nextRenewal(certificates) - now(), learnedInMs || Infinity)
    return { certificates, dueInMs }
  }

  /** In how many milliseconds the stored authority may sign what replicas are to serve with instead of what they have. */
  #learnedIn({ authority }: StoredCertificates): number {
    const { registered, uptime } = this.#options
    const [certificate] = certificatesIn(authority?.certificate ?? '')
    return certificate ? this.#learning.remaining(String(certificate), registered(), uptime()) : 0
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
