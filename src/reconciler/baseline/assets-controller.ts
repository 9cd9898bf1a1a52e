import {
  createStatusDecider,
  type DecideStatuses,
  identityOn,
} from '../../shared/baseline/asset-status.ts'
import { type Asset, isHyperConverged } from '../../shared/baseline/catalog/catalog.ts'
import { reachOf } from '../../shared/baseline/facts/pools.ts'
import type { DefaultActivation } from '../../shared/baseline/settings/settings.ts'
import { type Client, isConflict, isUnknownField } from '../../shared/cluster/client.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Change, Controller, Due } from '../manager/manager.ts'
import { act, decideInSteps, type Result, type Target, takeStep } from './act.ts'
import { Approvals, type ApprovalsOptions } from './approvals.ts'
import { withGrounds } from './decide/cause.ts'
import type { AssetInput } from './decide/decision.ts'
import { type AssetMemory, remember, requeueAfterMs } from './decide/memory.ts'
import type { Outcome } from './decide/outcome.ts'
import { ReconcileOrder } from './decide/reconcile-order.ts'
import { gatherInput } from './gather/asset-input.ts'
import { isWithoutHyperConverged, type Snapshot } from './gather/availability.ts'
import type { ClusterView } from './gather/cluster-view.ts'
import { affected, type Evaluation, evaluate } from './gather/evaluation.ts'
import { assetIndex } from './gather/sources.ts'
import { waitsOn, warningsOn } from './report/hco-notes.ts'

export interface AssetsControllerOptions extends Omit<ApprovalsOptions, 'pools'> {
  /** Has an asset reconciled. */
  readonly enqueue: (name: string) => void
  readonly client: Client
  readonly view: ClusterView
  readonly isLeader: () => boolean
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: () => number
  readonly healLimits: HealLimits
  /** What the product does where the HyperConverged does not say; left out, what the last leader published. */
  readonly activation?: DefaultActivation
}

// One at a time would make the last asset wait for all others.
const CONCURRENCY = 4
// After so many conflicts in a row the queue backs off: somebody else writes all the time.
const CONFLICTS_AT_ONCE = 3
const HCO_CONFLICT_WAIT_MS = 1_000

/** Keeps every asset's object at its desired state: gather, decide, act, report. */
export class AssetsController implements Controller {
  readonly name = 'assets'
  readonly concurrency = CONCURRENCY
  readonly #options: AssetsControllerOptions
  readonly #assetsOf: (source: string) => readonly string[]
  readonly #statuses: DecideStatuses
  readonly #approvals: Approvals
  readonly #order: ReconcileOrder
  readonly #memories = new Map<string, AssetMemory>()
  readonly #conflicts = new Map<string, number>()
  #evaluation: Evaluation | undefined
  #resyncs = 0

  constructor(options: AssetsControllerOptions) {
    const { catalog, view } = options
    this.#options = options
    this.#statuses = createStatusDecider(catalog, sha256)
    this.#approvals = new Approvals({ ...options, pools: () => view.store.objects('pools') })
    this.#order = new ReconcileOrder(catalog, (asset) => view.isObjectKnown(asset))
    this.#assetsOf = assetIndex(catalog)
  }

  /** The last evaluation of the cluster; undefined while too little of it is known. */
  get evaluation(): Evaluation | undefined {
    return this.#evaluation
  }

  /** Whether it works without leading: it only looks then. */
  get isReader(): boolean {
    return this.#options.isObserver
  }

  keysOf({ source }: Change): readonly Due[] {
    return this.#evaluation ? this.#assetsOf(source).map((key) => ({ key })) : []
  }

  orderOf(name: string): number {
    return this.#asset(name).order
  }

  /** Every asset; their ownership may be taken back once more. */
  resync(): readonly string[] {
    this.#resyncs++
    return this.#evaluation ? this.#options.catalog.map(({ name }) => name) : []
  }

  /** Starts over from what an earlier leader published. */
  async onElected(): Promise<void> {
    const { catalog, ledger } = this.#options
    this.#approvals.resume()
    // Of the baselines that another leader kept there is word, of the overrides none.
    for (const { name } of catalog) {
      const grounds = { baseline: ledger.state?.baselines[name] }
      this.#memories.set(name, { ...this.#memories.get(name), grounds })
    }
    this.onLost()
  }

  /** Drops the evaluation: the cluster, or the leadership, that it was made for is gone. */
  onLost(): void {
    this.#evaluation = undefined
    this.#order.reset()
  }

  /** Evaluates a snapshot of the cluster and queues the assets that it affects. */
  evaluate(snapshot: Snapshot): void {
    const { reporter, catalog, ledger, now, disruptiveChanges } = this.#options
    const { activation = ledger.memory.activation } = this.#options
    if (snapshot.kind === 'unavailable') {
      this.onLost()
      if (isWithoutHyperConverged(snapshot)) ledger.noteAbsence()
      reporter.unavailable(snapshot)
      return
    }
    const before = this.#evaluation
    const tools = { catalog, decide: this.#statuses }
    const memory = { ...ledger.memory, activation }
    const evaluation = evaluate(tools, snapshot.observations, memory, now())
    this.#evaluation = evaluation
    const { hco, stated, state } = evaluation
    reporter.settings(hco, stated, warningsOn(catalog, evaluation), waitsOn(catalog, evaluation))
    ledger.note({ ...state, hasHyperConverged: true, disruptiveChanges, activation })
    this.#approvals.revoke(hco)
    // What waits for approval or a pool is looked at again at every change: it costs no request.
    for (const name of [...affected(catalog, before, evaluation), ...this.#approvals.waiting])
      this.#options.enqueue(name)
  }

  /** Brings one asset's object to its desired state. Rejects only where the cluster does. */
  async reconcile(name: string): Promise<number | undefined> {
    const asset = this.#asset(name)
    const evaluation = this.#evaluation
    // An asset whose turn has not come, or whose object is not read yet, is queued again then.
    if (!evaluation || !this.#order.isDue(asset)) return undefined
    const startedAt = performance.now()
    let outcome: Outcome | undefined
    try {
      const result = await this.#resultOf(asset, evaluation)
      if (!result) return isHyperConverged(asset) ? HCO_CONFLICT_WAIT_MS : 0
      outcome = result.outcome
      this.#note(asset, evaluation, result, performance.now() - startedAt)
      return requeueAfterMs(outcome, this.#memories.get(name), this.#options.uptime())
    } finally {
      if (this.#order.note(asset, outcome)) this.#queueAll((other) => !other.isTombstone)
    }
  }

  /** What comes of an asset; undefined where somebody wrote between our reading and our writing, so that it is read again. */
  async #resultOf(asset: Asset, evaluation: Evaluation): Promise<Result | undefined> {
    try {
      const result = await this.#decideAndAct(asset, evaluation)
      this.#conflicts.delete(asset.name)
      return result
    } catch (error) {
      // Retrying does not help: the template writes a field that the schema does not know.
      if (isUnknownField(error))
        return { outcome: { kind: 'failed', reason: 'RenderFailed', message: error.message } }
      const conflicts = (this.#conflicts.get(asset.name) ?? 0) + 1
      if (!isConflict(error) || conflicts > CONFLICTS_AT_ONCE) throw error
      this.#conflicts.set(asset.name, conflicts)
      return this.#readAgain(asset, evaluation)
    }
  }

  async #readAgain(asset: Asset, evaluation: Evaluation): Promise<undefined> {
    // A newer HyperConverged may hold other settings: its watch has everything evaluated again.
    if (isHyperConverged(asset)) return
    const { live } = await takeStep({ kind: 'read' }, this.#targetOf(asset, evaluation, false))
    if (live) this.#options.view.update(asset, live)
  }

  async #decideAndAct(asset: Asset, evaluation: Evaluation): Promise<Result> {
    const { view, isObserver, healLimits, now, uptime } = this.#options
    const { name } = asset
    const gathered: AssetInput = {
      ...gatherInput(asset, evaluation, view, isObserver),
      approval: this.#approvals.policyFor(asset, evaluation),
      memory: this.#memories.get(name) ?? {},
      healLimits,
      resyncs: this.#resyncs,
      now: now(),
      uptime: uptime(),
    }
    const target = this.#targetOf(asset, evaluation, gathered.isObserving)
    const permit = () => this.#approvals.permit(asset)
    const { input, decision } = await decideInSteps(gathered, target, permit)
    const { memory = input.memory, write } = decision
    if (write) permit()
    this.#memories.set(name, memory)
    const result = await act(decision, target)
    const { outcome, object } = result
    const time = { ...input, uptime: uptime() }
    const learnt = remember(memory, { ...decision, outcome }, object, time)
    this.#memories.set(name, withGrounds(learnt, outcome, input))
    return result
  }

  #targetOf(asset: Asset, { facts }: Evaluation, isObserving: boolean): Target {
    const { client, isLeader, view } = this.#options
    const { name, resource } = asset.object
    const identity = identityOn(asset, facts)
    const at = identity && { ...identity, resource }
    const onStored: Target['onStored'] = (object) => view.update(asset, object)
    return { client, at, name, isLeader, isObserving, onStored }
  }

  #note(asset: Asset, { hco, facts }: Evaluation, result: Result, durationMs: number): void {
    const { view, reporter, isObserver, isLeader } = this.#options
    // The watch may not have told yet of what we have just created.
    const { outcome, object = view.live(asset) } = result
    const reach = asset.pool === undefined ? undefined : reachOf(asset.pool, facts)
    this.#approvals.note(asset, outcome)
    // Once the Lease is lost, the next leader reports.
    if (isObserver || isLeader())
      reporter.report({ asset, outcome, object, hco, reach, durationMs })
  }

  onError(name: string, error: Error, retryInMs: number): void {
    const asset = this.#asset(name)
    this.#approvals.noteSeen(asset)
    const { hco } = this.#evaluation ?? {}
    if (hco) this.#options.reporter.failed(asset, hco, error, retryInMs)
  }

  onIdle(): void {
    if (!this.#evaluation) return
    // After an approval everything is looked at again, and what still waits is reported then.
    if (this.#approvals.approve(this.#evaluation.hco)) this.#queueAll()
    else this.#approvals.report(this.#evaluation)
  }

  #queueAll(isMeant: (asset: Asset) => boolean = () => true): void {
    for (const asset of this.#options.catalog.filter(isMeant)) this.#options.enqueue(asset.name)
  }

  #asset(wanted: string): Asset {
    const asset = this.#options.catalog.find(({ name }) => name === wanted)
    if (!asset) throw new Error(`no asset is named ${wanted}`)
    return asset
  }
}
