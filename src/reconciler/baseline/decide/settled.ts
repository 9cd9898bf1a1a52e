import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { type KubeObject, titleOf } from '../../../shared/engine/json/object.ts'
import type { Foresight } from './outcome.ts'

const REMEMBERED = 1_000

/** What the server said of pairs of a desired and a stored state, bounded in number: mostly that it sees no difference. */
export class Settled {
  readonly #pairs = new Map<string, string>()
  readonly #foreseen = new Map<string, { readonly pair: string; readonly foresight: Foresight }>()
  readonly #claimed = new Map<string, { readonly desired: string; readonly version: string }>()
  readonly #digest: (text: string) => string

  constructor(digest: (text: string) => string) {
    this.#digest = digest
  }

  has(desired: KubeObject, live: KubeObject): boolean {
    return this.#pairs.get(uidOf(live)) === this.#pair(desired, live)
  }

  add(desired: KubeObject, live: KubeObject): void {
    if (this.#pairs.size >= REMEMBERED) this.#pairs.clear()
    this.#pairs.set(uidOf(live), this.#pair(desired, live))
  }

  /** What a write would change that nobody makes; undefined where the server was not asked about this very pair. */
  foreseen(desired: KubeObject, live: KubeObject | undefined): Foresight | undefined {
    const known = this.#foreseen.get(nameOf(desired))
    return known?.pair === this.#pair(desired, live) ? known.foresight : undefined
  }

  foresee(desired: KubeObject, live: KubeObject | undefined, foresight: Foresight): void {
    if (this.#foreseen.size >= REMEMBERED) this.#foreseen.clear()
    this.#foreseen.set(nameOf(desired), { pair: this.#pair(desired, live), foresight })
  }

  /**
   * Whether the ownership of these very fields was taken back since the last resync; where some are nobody's, whether it
   * was since the object was last written.
   */
  isClaimed(desired: KubeObject, live: KubeObject, isOrphaned: boolean): boolean {
    const claimed = this.#claimed.get(uidOf(live))
    if (claimed?.desired !== this.#digest(canonicalJson(desired))) return false
    return !isOrphaned || claimed.version === live.metadata.resourceVersion
  }

  claim(desired: KubeObject, live: KubeObject): void {
    const version = live.metadata.resourceVersion ?? ''
    this.#claimed.set(uidOf(live), { desired: this.#digest(canonicalJson(desired)), version })
  }

  /** At a resync ownership may be taken back once more. */
  forgetClaims(): void {
    this.#claimed.clear()
  }

  #pair(desired: KubeObject, live: KubeObject | undefined): string {
    return this.#digest(canonicalJson([desired, live ? projectionOf(live) : null]))
  }
}

// What others write to status and to their own managed fields changes nothing for us.
const projectionOf = ({ metadata, status: _status, ...rest }: KubeObject) => ({
  ...rest,
  labels: metadata.labels,
  annotations: metadata.annotations,
})

const uidOf = ({ metadata }: KubeObject) => metadata.uid ?? ''
const nameOf = (object: KubeObject) => `${object.apiVersion} ${titleOf(object)}`
