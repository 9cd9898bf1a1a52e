import { X509Certificate } from 'node:crypto'

import { certificatesIn } from '../../shared/ops/pem.ts'

// A server that has not heard of a change for so long is behind with everything else too.
const LEARNED_MS = 60_000

/** Follows how long the API servers have been told to trust an authority, by a clock that nobody sets. */
export class Learning {
  #fingerprint: string | undefined
  #since: number | undefined

  /**
   * In how many milliseconds every API server has learned of the authority that is among the bundles of all
   * registrations; 0 when it has, or where nobody is asked. Undefined registrations are not read yet: there may be
   * some. Times are of a monotonic clock.
   */
  remaining(authority: string, registered: readonly string[] | undefined, uptime: number): number {
    if (!registered) return LEARNED_MS
    const { fingerprint256 } = new X509Certificate(authority)
    const isIn = (bundle: string) =>
      certificatesIn(bundle).some((one) => one.fingerprint256 === fingerprint256)
    if (registered.length === 0) return 0
    if (this.#fingerprint !== fingerprint256 || !registered.every(isIn)) this.#since = undefined
    this.#fingerprint = fingerprint256
    if (!registered.every(isIn)) return LEARNED_MS
    this.#since ??= uptime
    return Math.max(0, LEARNED_MS - (uptime - this.#since))
  }
}
