import {
  type Asset,
  type Catalog,
  isHyperConverged,
} from '../../../shared/baseline/catalog/catalog.ts'
import type { Outcome } from './outcome.ts'

/**
 * What goes before what: first the tombstones, then the HyperConverged, which is read back as the source of
 * facts where we change it, then all others. Nothing waits for more than one attempt.
 */
export class ReconcileOrder {
  readonly #catalog: Catalog
  readonly #isKnown: (asset: Asset) => boolean
  readonly #attempted = new Set<string>()
  #isHcoDone = false
  #isHcoRepeated = false

  /** `isKnown` says whether an asset's object was read: one that cannot be holds up nobody else. */
  constructor(catalog: Catalog, isKnown: (asset: Asset) => boolean) {
    this.#catalog = catalog
    this.#isKnown = isKnown
  }

  /** Begins anew. */
  reset(): void {
    this.#attempted.clear()
    this.#isHcoDone = false
    this.#isHcoRepeated = false
  }

  /** Whether it is the asset's turn. */
  isDue(asset: Asset): boolean {
    if (!this.#isKnown(asset)) return false
    if (asset.isTombstone) return true
    return !this.#isTombstoneDue() && (this.#isHcoDone || isHyperConverged(asset))
  }

  /** Records an attempt, whatever came of it; says whether others may start that had to wait for it. */
  note(asset: Asset, outcome: Outcome | undefined): boolean {
    if (asset.isTombstone) return this.#noteTombstone(asset)
    if (!isHyperConverged(asset) || this.#isHcoDone) return false
    this.#isHcoDone = outcome?.kind !== 'configured' || this.#isHcoRepeated
    this.#isHcoRepeated = true
    return this.#isHcoDone
  }

  #noteTombstone({ name }: Asset): boolean {
    const isFirst = !this.#attempted.has(name)
    this.#attempted.add(name)
    return isFirst && !this.#isTombstoneDue()
  }

  #isTombstoneDue(): boolean {
    return this.#catalog.some(
      (asset) => asset.isTombstone && !this.#attempted.has(asset.name) && this.#isKnown(asset),
    )
  }
}
