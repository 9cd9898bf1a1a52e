import type { Digest } from '../../../shared/baseline/asset-status.ts'
import type { Asset } from '../../../shared/baseline/catalog/catalog.ts'
import type { Classification } from '../../../shared/baseline/machine-config/disruption-class.ts'
import type { Approval, Memory } from '../../../shared/baseline/state.ts'
import { canonicalJson } from '../../../shared/engine/json/canonical.ts'
import { isMap, type KubeObject } from '../../../shared/engine/json/object.ts'

export type Permission = 'yes' | 'Held' | 'PoolBusy'

export interface DisruptionPolicy {
  readonly mode: 'apply' | 'hold'
  /** The pool that the change would roll; undefined where the cluster has none of that name. */
  readonly pool: KubeObject | undefined
}

/** A change of a disruptive asset's object. */
export interface DisruptiveChange extends Classification {
  /** What the object is to be; undefined where it is to go. */
  readonly desired: KubeObject | undefined
}

/** What the leader remembers of disruptive changes, from one process to the next. */
export type DisruptionMemory = Pick<Memory, 'applied' | 'approval'>

interface Pending {
  readonly digest: string
  readonly reasons: readonly string[]
}

/**
 * Which changes that reboot nodes may be made. Changes that wait form one set with one digest: an
 * admin who approves the digest approves exactly that set, and pools roll once for all of it.
 */
export class Disruption {
  readonly #digest: Digest
  readonly #pending = new Map<string, Pending>()
  readonly #waiting = new Set<string>()
  readonly #applied: Map<string, string>
  #approval: Approval

  constructor(digest: Digest, { applied, approval }: DisruptionMemory) {
    this.#digest = digest
    this.#applied = new Map(Object.entries(applied))
    this.#approval = approval
  }

  get memory(): DisruptionMemory {
    return { applied: Object.fromEntries([...this.#applied].sort()), approval: this.#approval }
  }

  /** The assets whose change waits for approval, and what it does to the nodes. */
  get pending(): readonly { readonly name: string; readonly reasons: readonly string[] }[] {
    const byName = [...this.#pending].sort(([a], [b]) => (a < b ? -1 : 1))
    return byName.map(([name, { reasons }]) => ({ name, reasons }))
  }

  /** Names of the assets whose change waits for anything: approval, or a pool that is busy. */
  get waiting(): readonly string[] {
    return [...this.#pending.keys(), ...this.#waiting]
  }

  /** The digest to approve, new after each approval; undefined while nothing waits. Short enough to type. */
  get pendingDigest(): string | undefined {
    if (this.#pending.size === 0) return undefined
    const set = [this.#approval.count, this.#pendingDigests()]
    return this.#digest(canonicalJson(set)).slice(0, 12)
  }

  /** Approves the set that waits, if the digest is its own: an old one approves nothing. Whether it was. */
  approve(digest: string | undefined): boolean {
    if (digest === undefined || digest !== this.pendingDigest) return false
    const count = this.#approval.count + 1
    this.#approval = { digest, count, changes: this.#pendingDigests() }
    return true
  }

  /** Whether a digest that somebody states is that of no set: neither of the one that waits nor of the last approved. */
  isUnknown(digest: string): boolean {
    return digest !== this.pendingDigest && digest !== this.#approval.digest
  }

  /** Whatever was approved by another digest than this is approved no more. */
  takeBack(digest: string | undefined): void {
    const { count } = this.#approval
    if (digest !== this.#approval.digest) this.#approval = { count, changes: {} }
  }

  /** Whether the change may be made now; if not, it joins the set that waits. */
  permit(asset: Asset, change: DisruptiveChange, { mode, pool }: DisruptionPolicy): Permission {
    const { name } = asset
    this.drop(asset)
    // What reboots nobody needs no approval; what puts back what was in force stops a rollout that nobody wanted.
    const isBack = this.#applied.get(name) === this.#digestOf(change.desired)
    if (change.effect !== 'reboot' || isBack) return 'yes'
    // To the same end from another start is another change.
    const digest = this.#digest(canonicalJson([change.desired ?? null, change.reasons]))
    if (mode === 'hold' && this.#approval.changes[name] !== digest) {
      this.#pending.set(name, { digest, reasons: change.reasons })
      return 'Held'
    }
    if (!isBusy(pool)) return 'yes'
    this.#waiting.add(name)
    return 'PoolBusy'
  }

  /** Records that the cluster now holds this desired state. What was approved for it is used up. */
  settle(asset: Asset, desired: KubeObject): void {
    this.forget(asset)
    this.#applied.set(asset.name, this.#digestOf(desired))
  }

  /** Forgets what was in force or approved: the object went other ways, and to bring it back is a change like any other. */
  forget(asset: Asset): void {
    this.drop(asset)
    this.#applied.delete(asset.name)
    const { [asset.name]: _used, ...changes } = this.#approval.changes
    this.#approval = { ...this.#approval, changes }
  }

  /** Forgets an asset that wants nothing any more. */
  drop(asset: Asset): void {
    this.#pending.delete(asset.name)
    this.#waiting.delete(asset.name)
  }

  #pendingDigests(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#pending].map(([name, { digest }]) => [name, digest]))
  }

  #digestOf(desired: KubeObject | undefined): string {
    return this.#digest(canonicalJson(desired ?? null))
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
