import { APPROVE } from '../../shared/baseline/annotations.ts'
import type { Asset, Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { poolsReached } from '../../shared/baseline/facts/pools.ts'
import { annotationOf, type KubeObject } from '../../shared/engine/json/object.ts'
import {
  type ApprovalPolicy,
  type ApprovalState,
  afterOutcome,
  approve,
  heldChanges,
  initialApprovals,
  pendingDigest,
  revoke,
  withoutWaiting,
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
  /** Nothing is written, whatever the HyperConverged says: a person looks at what would be done. */
  readonly isObserver: boolean
  /** The MachineConfigPools that there are now. */
  readonly pools: () => readonly KubeObject[]
}

/** The leader's record of changes that reboot nodes: which wait, which are approved, what is in force. */
export class Approvals {
  readonly #options: ApprovalsOptions
  #state: ApprovalState
  readonly #seen = new Set<string>()

  constructor(options: ApprovalsOptions) {
    this.#options = options
    this.#state = initialApprovals(options.ledger.memory)
  }

  /** Starts over from what an earlier leader published. */
  resume(): void {
    this.#state = initialApprovals(this.#options.ledger.memory)
    this.#seen.clear()
  }

  /** Names of the assets whose change waits for approval, or for a pool that is busy. */
  get waiting(): readonly string[] {
    return Object.keys(this.#state.waiting)
  }

  /**
   * Approves the waiting set if the HyperConverged names its digest, and says whether it did. Not before every
   * disruptive asset was looked at: a part of the set could have the digest of an older one.
   */
  approve(hco: KubeObject): boolean {
    if (!this.#hasSeenAll()) return false
    const state = approve(this.#state, annotationOf(hco, APPROVE))
    const isNew = state !== this.#state
    if (isNew) this.#set(state)
    return isNew
  }

  #hasSeenAll(): boolean {
    const isUnseen = ({ name, disruption }: Asset) => disruption !== 'none' && !this.#seen.has(name)
    return !this.#options.catalog.some(isUnseen)
  }

  /** Revokes an approval that the HyperConverged no longer states. */
  revoke(hco: KubeObject): void {
    this.#set(revoke(this.#state, annotationOf(hco, APPROVE)))
  }

  /** What decides whether a change of this asset may be made now. */
  policyFor({ name, pool }: Asset, { stated }: Pick<Evaluation, 'stated'>): ApprovalPolicy {
    const { pools, isObserver, disruptiveChanges } = this.#options
    const { activation, disruptiveChanges: mode = disruptiveChanges } = stated.settings
    return {
      mode,
      // While observing nothing is written, so nothing needs approval; `diff` still shows what would wait.
      isWaived: activation.kind === 'observe' && !isObserver,
      pools: pool === undefined ? [] : poolsReached(pool, pools()),
      inForce: this.#state.applied[name],
      approved: this.#state.approval.changes[name],
    }
  }

  /** The asset was looked at, whatever came of it. */
  noteSeen({ name }: Asset): void {
    this.#seen.add(name)
  }

  /** The asset's change may be made: it waits no more, even if making it fails. */
  permit({ name }: Asset): void {
    this.#state = withoutWaiting(this.#state, name)
  }

  /** Records what came of a disruptive asset. */
  note(asset: Asset, outcome: Outcome): void {
    this.noteSeen(asset)
    if (asset.disruption !== 'none') this.#set(afterOutcome(this.#state, asset.name, outcome))
  }

  /** Reports the waiting set, and an approval that is neither for it nor for the last one. */
  report({ hco, facts }: Pick<Evaluation, 'hco' | 'facts'>): void {
    const { catalog, reporter } = this.#options
    const digest = pendingDigest(this.#state)
    const changes = heldChanges(this.#state).flatMap(([name, { reasons }]) =>
      catalog.filter((asset) => asset.name === name).map((asset) => ({ asset, reasons })),
    )
    const stated = annotationOf(hco, APPROVE)
    const isUnknown =
      stated !== undefined && stated !== digest && stated !== this.#state.approval.digest
    const isTold = isUnknown && this.#hasSeenAll()
    reporter.pending({ hco, facts, changes, digest, ...(isTold && { unknownApproval: stated }) })
  }

  #set(state: ApprovalState): void {
    this.#state = state
    const { approval, applied } = state
    const sorted = Object.fromEntries(Object.entries(applied).sort())
    this.#options.ledger.note({ approval, applied: sorted })
  }
}
