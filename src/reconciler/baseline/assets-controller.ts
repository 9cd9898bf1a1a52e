import {
  type Asset,
  type Catalog,
  isHyperConverged,
} from '../../shared/baseline/catalog/catalog.ts'
import {
  createStandings,
  type DecideStandings,
  identityOn,
} from '../../shared/baseline/standing.ts'
import { type Client, isConflict, isUnknownField } from '../../shared/cluster/client.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import type { Change, Controller, Due } from '../manager/manager.ts'
import { act, type Target, take } from './act.ts'
import { Approvals } from './approvals.ts'
import { decide } from './decide/decide.ts'
import { type AssetMemory, remember, requeueAfterMs } from './decide/memory.ts'
import type { Outcome } from './decide/outcome.ts'
import { ReconcileOrder } from './decide/reconcile-order.ts'
import { gatherInput } from './gather/asset-input.ts'
import { isWithoutHyperConverged, type Snapshot } from './gather/availability.ts'
import type { ClusterView } from './gather/cluster-view.ts'
import { affected, type Evaluation, evaluate } from './gather/evaluation.ts'
import { assetIndex } from './gather/sources.ts'
import type { Ledger } from './ledger.ts'
import { waitsOn, warningsOn } from './report/hco-notes.ts'
import type { Reporter } from './report/report.ts'

export interface AssetsControllerOptions {
  /** Has an asset looked at. */
  readonly enqueue: (name: string) => void
  readonly client: Client
  readonly catalog: Catalog
  readonly view: ClusterView
  readonly reporter: Reporter
  /** The flag; the HyperConverged's annotation goes before it. */
  readonly disruptiveChanges: 'apply' | 'hold'
  /** Computes and reports, and writes nothing, whatever the HyperConverged says. */
  readonly isObserver: boolean
  readonly isLeader: () => boolean
  readonly ledger: Ledger
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly uptime: () => number
  readonly healLimits: HealLimits
}

// What is written one after the other would make the last asset wait for the first.
const CONCURRENCY = 4

// Against a writer who is always faster, the queue's backoff is better than another try at once.
const CONFLICTS_AT_ONCE = 3

const HCO_CONFLICT_WAIT_MS = 1_000

/** What came of one attempt, and when to look again; no outcome where somebody else was faster. */
interface Attempt {
  readonly outcome?: Outcome
  readonly requeueMs?: number
}

/** Keeps every asset's object at its desired state: gather, decide, act, report. */
export class AssetsController implements Controller {
  readonly name = 'assets'
  readonly concurrency = CONCURRENCY
  readonly #options: AssetsControllerOptions
  readonly #byName: ReadonlyMap<string, Asset>
  readonly #hcoName: string | undefined
  readonly #concerned: (source: string) => readonly string[]
  readonly #standings: DecideStandings
  readonly #approvals: Approvals
  readonly #order: ReconcileOrder
  readonly #memories = new Map<string, AssetMemory>()
  readonly #conflicts = new Map<string, number>()
  #evaluation: Evaluation | undefined
  #resyncs = 0

  constructor(options: AssetsControllerOptions) {
    const { catalog, view } = options
    this.#options = options
    this.#byName = new Map(catalog.map((asset) => [asset.name, asset]))
    this.#hcoName = catalog.find(isHyperConverged)?.name
    this.#standings = createStandings(catalog, sha256)
    this.#approvals = new Approvals({ ...options, pools: () => view.watches.objects('pools') })
    this.#order = new ReconcileOrder(catalog, (asset) => view.isObjectKnown(asset))
    this.#concerned = assetIndex(catalog)
  }

  /** What was last decided for the whole cluster; undefined while that is not known. */
  get evaluation(): Evaluation | undefined {
    return this.#evaluation
  }

  /** Works without leading where it only looks. */
  get isReader(): boolean {
    return this.#options.isObserver
  }

  keysOf({ source }: Change): readonly Due[] {
    return this.#evaluation ? this.#concerned(source).map((key) => ({ key })) : []
  }

  orderOf(name: string): number {
    return this.#asset(name).order
  }

  /** Everything is compared anew. */
  resync(): Iterable<string> {
    this.#resyncs++
    return this.#evaluation ? this.#byName.keys() : []
  }

  /** Takes over from an earlier leader: what it published is where we go on. */
  async onElected(): Promise<void> {
    this.#approvals.resume()
    this.onLost()
  }

  /** Forgets what was decided: it was for a cluster, or a leadership, that is no more. */
  onLost(): void {
    this.#evaluation = undefined
    this.#order.reset()
  }

  /** Takes in what the cluster looks like now and queues what it changes. */
  evaluate(snapshot: Snapshot): void {
    const { reporter, catalog, ledger, now } = this.#options
    if (snapshot.kind === 'unavailable') {
      this.onLost()
      if (isWithoutHyperConverged(snapshot)) ledger.noteAbsence()
      reporter.unavailable(snapshot)
      return
    }
    const before = this.#evaluation
    const tools = { catalog, decide: this.#standings }
    const evaluation = evaluate(tools, snapshot.observations, ledger.memory, now())
    this.#evaluation = evaluation
    const { hco, stated, state } = evaluation
    reporter.settings(hco, stated, warningsOn(catalog, evaluation), waitsOn(catalog, evaluation))
    ledger.note({ ...state, hasHyperConverged: true })
    this.#approvals.takeBack(hco)
    // What waits for a pool looks again whenever anything changes: it costs no request.
    this.#add([...affected(before, evaluation), ...this.#approvals.waiting])
    if (before?.hco !== hco && this.#hcoName) this.#add([this.#hcoName])
  }

  /** Brings one asset's object to its desired state. Rejects only where the cluster does. */
  async reconcile(name: string): Promise<number | undefined> {
    const asset = this.#asset(name)
    const { catalog } = this.#options
    // What has to wait, for its turn or for its object to be read, is queued again then.
    if (!this.#evaluation || !this.#order.isDue(asset)) return undefined
    let attempt: Attempt = {}
    try {
      attempt = await this.#attempt(asset, this.#evaluation)
      return attempt.requeueMs
    } finally {
      const others = catalog.filter(({ isTombstone }) => !isTombstone)
      if (this.#order.note(asset, attempt.outcome)) this.#add(others.map((other) => other.name))
    }
  }

  async #attempt(asset: Asset, evaluation: Evaluation): Promise<Attempt> {
    const startedAt = performance.now()
    const finish = (outcome: Outcome) =>
      this.#finish(asset, evaluation, outcome, performance.now() - startedAt)
    try {
      const outcome = await this.#decideAndAct(asset, evaluation)
      this.#conflicts.delete(asset.name)
      return finish(outcome)
    } catch (error) {
      // No waiting mends a template that writes what the schema does not know.
      if (isUnknownField(error))
        return finish({ kind: 'failed', reason: 'RenderFailed', message: error.message })
      if (!isConflict(error)) throw error
      const conflicts = (this.#conflicts.get(asset.name) ?? 0) + 1
      this.#conflicts.set(asset.name, conflicts)
      if (conflicts > CONFLICTS_AT_ONCE) throw error
      return this.#readAgain(asset, evaluation)
    }
  }

  async #decideAndAct(asset: Asset, evaluation: Evaluation): Promise<Outcome> {
    const { view, isObserver, healLimits, now, uptime } = this.#options
    const { name } = asset
    let input = gatherInput(asset, evaluation, view, isObserver, {
      approval: this.#approvals.policyFor(asset, evaluation),
      memory: this.#memoryOf(name),
      healLimits,
      resyncs: this.#resyncs,
      now: now(),
      uptime: uptime(),
    })
    const target = this.#targetOf(asset, evaluation, input.isObserving)
    let decision = decide(input)
    while (decision.kind !== 'final') {
      if (decision.kind === 'dryRun') this.#approvals.permit(asset)
      input = { ...input, ...(await take(decision, target)) }
      decision = decide(input)
    }
    const { memory = input.memory, write } = decision
    if (write) this.#approvals.permit(asset)
    this.#memories.set(name, memory)
    const { outcome, object } = await act(decision, target)
    const time = { ...input, uptime: uptime() }
    this.#memories.set(name, remember(memory, { outcome, ...(write && { write }) }, object, time))
    return outcome
  }

  #memoryOf(name: string): AssetMemory {
    return this.#memories.get(name) ?? {}
  }

  #targetOf(asset: Asset, { facts }: Evaluation, isObserving: boolean): Target {
    const { client, isLeader, view } = this.#options
    const { name, resource } = asset.object
    const identity = identityOn(asset, facts)
    const at = identity && { ...identity, resource }
    const onStored: Target['onStored'] = (object) => view.update(asset, object)
    return { client, at, name, isLeader, isObserving, onStored }
  }

  // Somebody wrote between our reading and our writing: read again and decide again, at once.
  async #readAgain(asset: Asset, evaluation: Evaluation): Promise<Attempt> {
    // A newer HyperConverged may hold other settings: its watch has everything decided anew.
    if (asset.name === this.#hcoName) return { requeueMs: HCO_CONFLICT_WAIT_MS }
    const { live } = await take({ kind: 'read' }, this.#targetOf(asset, evaluation, false))
    if (live) this.#options.view.update(asset, live)
    return { requeueMs: 0 }
  }

  #finish(asset: Asset, { hco }: Evaluation, outcome: Outcome, durationMs: number): Attempt {
    const { view, reporter, isObserver, isLeader, uptime } = this.#options
    this.#approvals.note(asset, outcome)
    // What was written while the Lease went is not ours to tell of any more.
    if (isObserver || isLeader())
      reporter.report({ asset, outcome, object: view.live(asset), hco, durationMs })
    const requeueMs = requeueAfterMs(outcome, this.#memoryOf(asset.name), uptime())
    return { outcome, ...(requeueMs !== undefined && { requeueMs }) }
  }

  onError(name: string, error: Error, retryInMs: number): void {
    const asset = this.#asset(name)
    this.#approvals.saw(asset)
    if (this.#evaluation)
      this.#options.reporter.failed(asset, this.#evaluation.hco, error, retryInMs)
  }

  onIdle(): void {
    if (!this.#evaluation) return
    // What is approved waits no more: what does is told once that was looked at again.
    if (this.#approvals.takeIn(this.#evaluation.hco)) this.#add(this.#byName.keys())
    else this.#approvals.report(this.#evaluation)
  }

  #add(names: Iterable<string>): void {
    for (const name of names) this.#options.enqueue(name)
  }

  #asset(name: string): Asset {
    const asset = this.#byName.get(name)
    if (!asset) throw new Error(`no asset is named ${name}`)
    return asset
  }
}
