import { APPROVE } from '../../shared/baseline/annotations.ts'
import type { Asset, Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { annotationOf, type KubeObject } from '../../shared/engine/json/object.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import { Disruption, type DisruptiveChange, type Permission } from './decide/disruption.ts'
import type { Outcome } from './decide/outcome.ts'
import type { Outlook } from './gather/outlook.ts'
import type { Ledger } from './ledger.ts'
import type { Reporter } from './report/report.ts'

export interface ApprovalsOptions {
  readonly catalog: Catalog
  readonly ledger: Ledger
  readonly reporter: Reporter
  /** The flag; the HyperConverged's annotation goes before it. */
  readonly disruptiveChanges: 'apply' | 'hold'
  /** A person looks at what would be done, and nothing is written. */
  readonly isObserver: boolean
  /** The MachineConfigPools that there are now. */
  readonly pools: () => readonly KubeObject[]
}

// An object that was left to others for a while is as they wanted it.
const LEFT: ReadonlySet<string> = new Set([
  'Unmanaged',
  'Paused',
  'Off',
  'Inactive',
  'DependencyMissing',
  'Waiting',
  'NotOurs',
  'Observing',
])

// After these the cluster holds what was planned; during these a change may wait for approval still.
const IN_FORCE: ReadonlySet<Outcome['kind']> = new Set(['unchanged', 'created', 'configured'])
const WAITING: ReadonlySet<Outcome['kind']> = new Set(['pending', 'condemned', 'throttled'])

/** Changes that reboot nodes, from what waits to what an admin approved and what came of it. */
export class Approvals {
  readonly #options: ApprovalsOptions
  #disruption: Disruption
  readonly #seen = new Set<string>()

  constructor(options: ApprovalsOptions) {
    this.#options = options
    this.#disruption = new Disruption(sha256, options.ledger.memory)
  }

  /** Goes on where an earlier leader was. */
  resume(): void {
    this.#disruption = new Disruption(sha256, this.#options.ledger.memory)
    this.#seen.clear()
  }

  /** Names of the assets whose change waits for anything. */
  get waiting(): readonly string[] {
    return this.#disruption.waiting
  }

  /**
   * Takes in what the HyperConverged approves, once every disruptive asset was looked at: a part of the set
   * could have the digest of an older one. Whether changes may be made now that could not before.
   */
  takeIn(hco: KubeObject): boolean {
    const { ledger } = this.#options
    if (!this.#hasSeenAll()) return false
    const isNew = this.#disruption.approve(annotationOf(hco, APPROVE))
    if (isNew) ledger.note(this.#disruption.memory)
    return isNew
  }

  #hasSeenAll(): boolean {
    const isUnseen = ({ name, disruption }: Asset) => disruption !== 'none' && !this.#seen.has(name)
    return !this.#options.catalog.some(isUnseen)
  }

  /** An approval that the HyperConverged no longer states is none. */
  takeBack(hco: KubeObject): void {
    this.#disruption.takeBack(annotationOf(hco, APPROVE))
    this.#options.ledger.note(this.#disruption.memory)
  }

  /** The asset was looked at, whatever came of it. */
  saw({ name }: Asset): void {
    this.#seen.add(name)
  }

  /** Whether a change may be made now. */
  permit(asset: Asset, change: DisruptiveChange, { stated }: Outlook): Permission {
    const { activation, disruptiveChanges } = stated.settings
    // Nobody is to approve what is not made anyway; a person who looks wants to know what would wait.
    if (activation.kind === 'observe' && !this.#options.isObserver) return 'yes'
    const mode = disruptiveChanges ?? this.#options.disruptiveChanges
    const pool = this.#options.pools().find(({ metadata }) => metadata.name === asset.pool)
    return this.#disruption.permit(asset, change, { mode, pool })
  }

  /** Records what came of a disruptive asset. */
  note(asset: Asset, outcome: Outcome): void {
    this.saw(asset)
    if (asset.disruption === 'none') return
    this.#settle(asset, outcome)
    this.#options.ledger.note(this.#disruption.memory)
  }

  #settle(asset: Asset, outcome: Outcome): void {
    const reason = 'reason' in outcome ? outcome.reason : undefined
    const isLeft = outcome.kind === 'removed' || outcome.kind === 'leftover'
    if (isLeft || LEFT.has(reason ?? '')) this.#disruption.forget(asset)
    else if (IN_FORCE.has(outcome.kind) && 'plan' in outcome)
      this.#disruption.settle(asset, outcome.plan.desired)
    else if (!WAITING.has(outcome.kind)) this.#disruption.drop(asset)
  }

  /** Tells what waits, as one set, and what is stated as its approval and is none. */
  report({ hco, facts }: Outlook): void {
    const { pending, pendingDigest: digest } = this.#disruption
    const { catalog, reporter } = this.#options
    const changes = pending.flatMap(({ name, reasons }) =>
      catalog.filter((asset) => asset.name === name).map((asset) => ({ asset, reasons })),
    )
    const stated = annotationOf(hco, APPROVE)
    const isVain = stated !== undefined && this.#hasSeenAll() && this.#disruption.isUnknown(stated)
    reporter.pending({ hco, facts, changes, digest, ...(isVain && { vain: stated }) })
  }
}
