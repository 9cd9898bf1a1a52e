import type { Asset, Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { annotationOf, type KubeObject } from '../../shared/engine/json/object.ts'
import { APPROVE } from '../../shared/engine/overrides/annotations.ts'
import {
  type ApprovalPolicy,
  type ApprovalState,
  afterOutcome,
  approve,
  initialApprovals,
  pendingDigest,
  takeBack,
  withoutPending,
} from './decide/approval.ts'
import type { Outcome } from './decide/outcome.ts'
import type { Evaluation } from './gather/evaluation.ts'
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

/** Changes that reboot nodes, from what waits to what an admin approved and what came of it. */
export class Approvals {
  readonly #options: ApprovalsOptions
  #state: ApprovalState
  readonly #seen = new Set<string>()

  constructor(options: ApprovalsOptions) {
    this.#options = options
    this.#state = initialApprovals(options.ledger.memory)
  }

  /** Goes on where an earlier leader was. */
  resume(): void {
    this.#state = initialApprovals(this.#options.ledger.memory)
    this.#seen.clear()
  }

  /** Names of the assets whose change waits for approval, or for a pool that is busy. */
  get waiting(): readonly string[] {
    return [...Object.keys(this.#state.pending), ...this.#state.behindPool]
  }

  /**
   * Takes in what the HyperConverged approves, once every disruptive asset was looked at: a part of the set
   * could have the digest of an older one. Whether changes may be made now that could not before.
   */
  takeIn(hco: KubeObject): boolean {
    if (!this.#hasSeenAll()) return false
    const state = approve(this.#state, annotationOf(hco, APPROVE))
    const isNew = state !== this.#state
    if (isNew) this.#become(state)
    return isNew
  }

  #hasSeenAll(): boolean {
    const isUnseen = ({ name, disruption }: Asset) => disruption !== 'none' && !this.#seen.has(name)
    return !this.#options.catalog.some(isUnseen)
  }

  /** An approval that the HyperConverged no longer states is none. */
  takeBack(hco: KubeObject): void {
    this.#become(takeBack(this.#state, annotationOf(hco, APPROVE)))
  }

  /** What decides whether a change of this asset may be made now. */
  policyFor({ name, pool }: Asset, { stated }: Evaluation): ApprovalPolicy {
    const { pools, isObserver, disruptiveChanges } = this.#options
    const { activation, disruptiveChanges: mode = disruptiveChanges } = stated.settings
    return {
      mode,
      // Nobody is to approve what is not made anyway; a person who looks wants to know what would wait.
      isWaived: activation.kind === 'observe' && !isObserver,
      pool: pools().find(({ metadata }) => metadata.name === pool),
      inForce: this.#state.applied[name],
      approved: this.#state.approval.changes[name],
    }
  }

  /** The asset was looked at, whatever came of it. */
  saw({ name }: Asset): void {
    this.#seen.add(name)
  }

  /** A change may be made: it waits no more, even if making it fails. */
  permit({ name }: Asset): void {
    this.#state = withoutPending(this.#state, name)
  }

  /** Records what came of a disruptive asset. */
  note(asset: Asset, outcome: Outcome): void {
    this.saw(asset)
    if (asset.disruption !== 'none') this.#become(afterOutcome(this.#state, asset.name, outcome))
  }

  /** Tells what waits, as one set, and what is stated as its approval and is none. */
  report({ hco, facts }: Evaluation): void {
    const { pending, approval } = this.#state
    const { catalog, reporter } = this.#options
    const digest = pendingDigest(this.#state)
    const byName = Object.entries(pending).sort(([a], [b]) => (a < b ? -1 : 1))
    const changes = byName.flatMap(([name, { reasons }]) =>
      catalog.filter((asset) => asset.name === name).map((asset) => ({ asset, reasons })),
    )
    const stated = annotationOf(hco, APPROVE)
    const isUnknown = stated !== undefined && stated !== digest && stated !== approval.digest
    const isTold = isUnknown && this.#hasSeenAll()
    reporter.pending({ hco, facts, changes, digest, ...(isTold && { unknownApproval: stated }) })
  }

  #become(state: ApprovalState): void {
    this.#state = state
    const { approval, applied } = state
    const sorted = Object.fromEntries(Object.entries(applied).sort())
    this.#options.ledger.note({ approval, applied: sorted })
  }
}
