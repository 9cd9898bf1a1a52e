import {
  createStatusDecider,
  type DecideStatuses,
  identityOn,
} from '../../shared/baseline/asset-status.ts'
import {
  type Asset,
  type Catalog,
  isHyperConverged,
} from '../../shared/baseline/catalog/catalog.ts'
import { classifyChange } from '../../shared/baseline/machine-config/disruption-class.ts'
import { type Client, isConflict, isUnknownField } from '../../shared/cluster/client.ts'
import { type Resource, read } from '../../shared/cluster/resource.ts'
import type { HealLimits } from '../../shared/engine/throttle.ts'
import { sha256 } from '../../shared/ops/digest.ts'
import { WorkQueue } from '../../shared/ops/work-queue.ts'
import { Approvals } from './approvals.ts'
import { Heals } from './decide/heals.ts'
import type { Outcome } from './decide/outcome.ts'
import { Precedence } from './decide/precedence.ts'
import { reconcile } from './decide/reconcile.ts'
import { STUCK_MS } from './decide/removal.ts'
import { Settled } from './decide/settled.ts'
import { type ClusterView, isWithoutHyperConverged, type Sight } from './gather/cluster-view.ts'
import { createObjectPort } from './gather/object-port.ts'
import { affected, lookOut, type Outlook } from './gather/outlook.ts'
import { situationOf } from './gather/situation.ts'
import type { Ledger } from './ledger.ts'
import { remarksOn, waitsOn } from './report/remarks.ts'
import type { Reporter } from './report/report.ts'

export interface ControllerOptions {
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

const SHORTEST_WAIT_MS = 1_000

/** Keeps every asset's object at its desired state, from the first sight of the cluster on. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #byName: ReadonlyMap<string, Asset>
  readonly #hcoName: string | undefined
  readonly #queue: WorkQueue
  readonly #settled = new Settled(sha256)
  readonly #decide: DecideStatuses
  readonly #heals: Heals
  readonly #approvals: Approvals
  #outlook: Outlook | undefined
  readonly #conflicts = new Map<string, number>()
  readonly #precedence: Precedence

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#byName = new Map(options.catalog.map((asset) => [asset.name, asset]))
    this.#decide = createStatusDecider(options.catalog, sha256)
    this.#heals = new Heals(options.healLimits, sha256, options.uptime)
    const pools = () => options.view.watches.objects('pools')
    this.#approvals = new Approvals({ ...options, pools })
    this.#precedence = new Precedence(options.catalog, (asset) => options.view.isObjectKnown(asset))
    this.#hcoName = options.catalog.find(isHyperConverged)?.name
    this.#queue = new WorkQueue({
      work: (name) => this.#work(this.#asset(name)),
      onError: (name, error, retryInMs) => this.#failed(this.#asset(name), error, retryInMs),
      orderOf: (name) => this.#asset(name).order,
      concurrency: CONCURRENCY,
      onIdle: () => this.#reportPending(),
    })
  }

  /** What was last decided; undefined while the cluster is not known. */
  get outlook(): Outlook | undefined {
    return this.#outlook
  }

  /** Takes over from an earlier leader: what it published is where we go on. */
  resume(): void {
    this.#approvals.resume()
    this.lose()
  }

  /** Forgets what was decided: it was for a cluster, or a leadership, that is no more. */
  lose(): void {
    this.#outlook = undefined
    this.#precedence.reset()
  }

  /** Takes in what the cluster looks like now and queues what it changes. */
  evaluate(sight: Sight): void {
    const { reporter, catalog, ledger, now } = this.#options
    if (sight.kind === 'blind') {
      this.lose()
      if (isWithoutHyperConverged(sight)) ledger.noteAbsence()
      reporter.blind(sight)
      return
    }
    const before = this.#outlook
    const outlook = lookOut(
      { catalog, decide: this.#decide },
      sight.observations,
      ledger.memory,
      now(),
    )
    this.#outlook = outlook
    const { hco, stated, state } = outlook
    reporter.settings(hco, stated, remarksOn(catalog, outlook), waitsOn(catalog, outlook))
    ledger.note({ ...state, hasHyperConverged: true })
    this.#approvals.takeBack(hco)
    // What waits for a pool looks again whenever anything changes: it costs no request.
    for (const name of [...affected(before, outlook), ...this.#approvals.waiting]) {
      this.#queue.add(name)
    }
    if (before?.hco !== hco && this.#hcoName) this.#queue.add(this.#hcoName)
  }

  /** Queues one asset, because its object or its namespace changed. */
  touch(name: string): void {
    if (this.#outlook) this.#queue.add(name)
  }

  /** Queues everything and compares it anew. */
  resync(): void {
    this.#settled.forgetClaims()
    if (this.#outlook) this.#queueAll()
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  #queueAssets(): void {
    for (const asset of this.#options.catalog) if (!asset.isTombstone) this.#queue.add(asset.name)
  }

  #queueAll(): void {
    for (const name of this.#byName.keys()) this.#queue.add(name)
  }

  #asset(name: string): Asset {
    const asset = this.#byName.get(name)
    if (!asset) throw new Error(`no asset is named ${name}`)
    return asset
  }

  async #work(asset: Asset): Promise<void> {
    const { isObserver, isLeader } = this.#options
    if (!(isObserver || isLeader())) return
    // What has to wait, for its turn or for its object to be read, is queued again then.
    if (!this.#outlook || !this.#precedence.admits(asset)) return
    let outcome: Outcome | undefined
    try {
      outcome = await this.#reconcile(asset, this.#outlook)
    } finally {
      if (this.#precedence.note(asset, outcome)) this.#queueAssets()
    }
  }

  async #reconcile(asset: Asset, outlook: Outlook): Promise<Outcome | undefined> {
    const startedAt = performance.now()
    try {
      const outcome = await this.#decideAndAct(asset, outlook)
      this.#conflicts.delete(asset.name)
      this.#finish(asset, outlook, outcome, performance.now() - startedAt)
      return outcome
    } catch (error) {
      // No waiting mends a template that writes what the schema does not know.
      if (isUnknownField(error)) {
        const failed = { kind: 'failed', reason: 'RenderFailed', message: error.message } as const
        this.#finish(asset, outlook, failed, performance.now() - startedAt)
        return failed
      }
      if (!isConflict(error)) throw error
      const conflicts = (this.#conflicts.get(asset.name) ?? 0) + 1
      this.#conflicts.set(asset.name, conflicts)
      if (conflicts > CONFLICTS_AT_ONCE) throw error
      await this.#readAgain(asset)
      return undefined
    }
  }

  #decideAndAct(asset: Asset, outlook: Outlook): Promise<Outcome> {
    const { view, isObserver, client, isLeader, now } = this.#options
    const { policies } = outlook
    const { name } = asset.object
    return reconcile(situationOf(asset, outlook, view, { isObserver, now: now() }), {
      object: createObjectPort({
        client,
        at: this.#resourceOf(asset),
        name,
        isLeader,
        onStored: (object) => view.update(asset, object),
      }),
      settled: this.#settled,
      heals: this.#heals.of(asset.name),
      classify: ({ live, desired }) => classifyChange({ live, desired, policies }),
      mayDisrupt: (change) => this.#approvals.permit(asset, change, outlook),
    })
  }

  // Somebody wrote between our reading and our writing: read again and decide again, at once.
  async #readAgain(asset: Asset): Promise<void> {
    // A newer HyperConverged may hold other settings: its watch has everything decided anew.
    if (asset.name === this.#hcoName) return this.#queue.addAfter(asset.name, SHORTEST_WAIT_MS)
    const { client, view } = this.#options
    const at = this.#resourceOf(asset)
    const object = at && (await read(client, at, asset.object.name))
    if (object) view.update(asset, object)
    this.#queue.add(asset.name)
  }

  #finish(asset: Asset, { hco }: Outlook, outcome: Outcome, durationMs: number): void {
    const { view, reporter, isObserver, isLeader } = this.#options
    this.#lookAgain(asset, outcome)
    this.#approvals.note(asset, outcome)
    // What was written while the Lease went is not ours to tell of any more.
    if (!isObserver && !isLeader()) return
    reporter.report({ asset, outcome, object: view.live(asset), hco, durationMs })
  }

  #lookAgain({ name }: Asset, outcome: Outcome): void {
    const reason = 'reason' in outcome ? outcome.reason : undefined
    if (outcome.kind === 'throttled')
      this.#queue.addAfter(name, Math.max(SHORTEST_WAIT_MS, this.#heals.waitMs(name)))
    if (reason === 'Paused' || ('object' in outcome && outcome.kind === 'throttled'))
      this.#heals.forget(name)
    if (reason === 'Deleting') this.#queue.addAfter(name, STUCK_MS)
  }

  #failed(asset: Asset, error: Error, retryInMs: number): void {
    this.#approvals.saw(asset)
    if (this.#outlook) this.#options.reporter.failed(asset, this.#outlook.hco, error, retryInMs)
  }

  #resourceOf(asset: Asset): Resource | undefined {
    const identity = this.#outlook && identityOn(asset, this.#outlook.facts)
    return identity && { ...identity, resource: asset.object.resource }
  }

  #reportPending(): void {
    if (!this.#outlook) return
    // What is approved waits no more: what does is told once that was looked at again.
    if (this.#approvals.takeIn(this.#outlook.hco)) this.#queueAll()
    else this.#approvals.report(this.#outlook)
  }
}
