import type { Asset } from '../shared/catalog/catalog.ts'
import type { Digest } from '../shared/catalog/standing.ts'
import { canonicalJson } from '../shared/engine/canonical.ts'
import { isMap, type KubeObject } from '../shared/engine/object.ts'

export type Permission = 'yes' | 'Held' | 'PoolBusy'

export interface DisruptionPolicy {
  readonly mode: 'apply' | 'hold'
  /** The pool that the change would roll; undefined where the cluster has none of that name. */
  readonly pool: KubeObject | undefined
}

/**
 * Which changes that reboot nodes may be made. Changes that wait form one set with one digest: an
 * admin who approves the digest approves exactly that set, and pools roll once for all of it.
 */
export class Disruption {
  readonly #digest: Digest
  readonly #pending = new Map<string, string>()
  readonly #waiting = new Set<string>()
  #approved: ReadonlyMap<string, string> = new Map()
  #applied: Map<string, string>

  constructor(digest: Digest, applied: Readonly<Record<string, string>> = {}) {
    this.#digest = digest
    this.#applied = new Map(Object.entries(applied))
  }

  /** For each disruptive asset, the digest of the desired state that is in force on the cluster. */
  get applied(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#applied].sort())
  }

  /** Names of the assets whose change waits for approval. */
  get pending(): readonly string[] {
    return [...this.#pending.keys()].sort()
  }

  /** Names of the assets whose change waits for anything: approval, or a pool that is busy. */
  get waiting(): readonly string[] {
    return [...this.#pending.keys(), ...this.#waiting]
  }

  /** The digest to approve; undefined while nothing waits. Short enough to type. */
  get pendingDigest(): string | undefined {
    if (this.#pending.size === 0) return undefined
    return this.#digest(canonicalJson([...this.#pending].sort())).slice(0, 12)
  }

  /** Approves the set that waits now, if the digest is its own; an old digest approves nothing. Whether that is news. */
  approve(digest: string | undefined): boolean {
    if (digest === undefined || digest !== this.pendingDigest) return false
    const isNew = [...this.#pending].some(([name, wanted]) => this.#approved.get(name) !== wanted)
    this.#approved = new Map(this.#pending)
    return isNew
  }

  /** Whether the change may be made now; if not, it joins the set that waits. */
  permit(asset: Asset, desired: KubeObject, { mode, pool }: DisruptionPolicy): Permission {
    const digest = this.#digest(canonicalJson(desired))
    // Putting back what was in force stops a rollout that nobody wanted; it never waits.
    if (this.#applied.get(asset.name) === digest) return 'yes'
    const isApproved = mode === 'apply' || this.#approved.get(asset.name) === digest
    const permission = isApproved ? (isBusy(pool) ? 'PoolBusy' : 'yes') : 'Held'
    this.drop(asset)
    if (permission === 'Held') this.#pending.set(asset.name, digest)
    if (permission === 'PoolBusy') this.#waiting.add(asset.name)
    return permission
  }

  /** Records that the cluster now holds this desired state. */
  settle(asset: Asset, desired: KubeObject): void {
    this.drop(asset)
    this.#applied.set(asset.name, this.#digest(canonicalJson(desired)))
  }

  /** Forgets an asset that wants nothing any more. */
  drop(asset: Asset): void {
    this.#pending.delete(asset.name)
    this.#waiting.delete(asset.name)
  }
}

/** Whether a MachineConfigPool is paused or rolls a change out already. */
function isBusy(pool: KubeObject | undefined): boolean {
  const spec = pool?.spec
  const status = pool?.status
  if (isMap(spec) && spec.paused === true) return true
  const conditions = isMap(status) && Array.isArray(status.conditions) ? status.conditions : []
  return conditions.some(
    (condition: unknown) =>
      isMap(condition) && condition.type === 'Updating' && condition.status === 'True',
  )
}
