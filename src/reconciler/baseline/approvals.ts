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
  readonly #seen = new Set<string>()
  #waiting: ApprovalState['waiting'] = {}

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  // What the next leader must know is in the ledger.
  get #state(): ApprovalState {
    const { applied, approval } = this.#options.ledger.memory
    return { applied, approval, waiting: this.#waiting }
  }

  /** Starts over from what an earlier leader published. */
  resume(): void {
    this.#waiting = {}
    this.#seen.clear()
  }

  /** Names of the assets whose change waits for approval, or for a pool that is busy. */
  get waiting(): readonly string[] {
    return Object.keys(this.#waiting)
  }

  /** Approves the waiting set if the HyperConverged names its digest; not before all was looked at, since a part may have an older digest. */
  approve(hco: KubeObject): boolean {
    if (!this.#hasSeenAll()) return false
    const before = this.#state
    const state = approve(before, annotationOf(hco, APPROVE))
    if (state !== before) this.#set(state)
    return state !== before
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
    const { applied, approval } = this.#state
    return {
      mode,
      // While observing nothing is written, so nothing needs approval; `diff` still shows what would wait.
      isWaived: activation.kind === 'observe' && !isObserver,
      pools: pool === undefined ? [] : poolsReached(pool, pools()),
      inForce: applied[name],
      approved: approval.changes[name],
    }
  }

  /** The asset was looked at, whatever came of it. */
  noteSeen({ name }: Asset): void {
    this.#seen.add(name)
  }

  /** The asset's change may be made: it waits no more, even if making it fails. */
  permit({ name }: Asset): void {
    this.#waiting = withoutWaiting(this.#state, name).waiting
  }

  /** Records what came of a disruptive asset. */
  note(asset: Asset, outcome: Outcome): void {
    this.noteSeen(asset)
    if (asset.disruption !== 'none') this.#set(afterOutcome(this.#state, asset.name, outcome))
  }

  /** Reports the waiting set, and an approval that is neither for it nor for the last one. */
  report({ hco, facts }: Pick<Evaluation, 'hco' | 'facts'>): void {
    const { catalog, reporter } = this.#options
    const state = this.#state
    const digest = pendingDigest(state)
    const changes = heldChanges(state).flatMap(([name, { reasons, why }]) =>
      catalog
        .filter((asset) => asset.name === name)
        .map((asset) => ({ asset, reasons, ...(why !== undefined && { why }) })),
    )
    const stated = annotationOf(hco, APPROVE)
    const isComplete = this.#hasSeenAll()
    const isUnknown = stated !== digest && stated !== state.approval.digest && isComplete
    const unknown = isUnknown && stated !== undefined && { unknownApproval: stated }
    reporter.pending({ hco, facts, changes, digest, isComplete, ...unknown })
  }

  #set({ waiting, approval, applied }: ApprovalState): void {
    this.#waiting = waiting
    const sorted = Object.fromEntries(Object.entries(applied).sort())
    this.#options.ledger.note({ approval, applied: sorted })
  }
}
