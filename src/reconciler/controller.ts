import {
  type Asset,
  type Catalog,
  isHyperConverged,
  isSensitive,
} from '../shared/catalog/catalog.ts'
import { unknownNames } from '../shared/catalog/settings.ts'
import { createStandings, type DecideStandings, identityOn } from '../shared/catalog/standing.ts'
import { type State, stateData } from '../shared/catalog/state.ts'
import { type Client, isConflict } from '../shared/cluster/client.ts'
import { type Resource, read } from '../shared/cluster/resource.ts'
import { APPROVE } from '../shared/engine/annotations.ts'
import { isEqual } from '../shared/engine/equal.ts'
import { annotationOf, type KubeObject } from '../shared/engine/object.ts'
import { sha256 } from '../shared/ops/digest.ts'
import type { ClusterView, Sight } from './cluster-view.ts'
import { Disruption } from './disruption.ts'
import { createObjectPort } from './object-port.ts'
import type { Outcome } from './outcome.ts'
import { affected, lookOut, type Outlook } from './outlook.ts'
import { Queue } from './queue.ts'
import { reconcile, Settled } from './reconcile.ts'
import type { Reporter } from './report.ts'

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
  /** Makes the state known to every other process; called on each change of it. */
  readonly publish: (state: State) => void
  readonly now: () => number
}

// What is written one after the other would make the last asset wait for the first.
const CONCURRENCY = 4

// Against a writer who is always faster, the queue's backoff is better than another try at once.
const CONFLICTS_AT_ONCE = 3

/** Keeps every asset's object at its desired state, from the first sight of the cluster on. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #byName: ReadonlyMap<string, Asset>
  readonly #hcoName: string | undefined
  readonly #queue: Queue
  readonly #settled = new Settled(sha256)
  readonly #decide: DecideStandings
  #disruption = new Disruption(sha256)
  #published: State | undefined
  #outlook: Outlook | undefined
  readonly #conflicts = new Map<string, number>()
  #isHcoDone = false
  #isHcoReadBack = false

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#byName = new Map(options.catalog.map((asset) => [asset.name, asset]))
    this.#decide = createStandings(options.catalog, sha256)
    this.#hcoName = options.catalog.find(isHyperConverged)?.name
    this.#queue = new Queue({
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
  resume(state: State | undefined): void {
    this.#published = state
    this.#disruption = new Disruption(sha256, state?.applied)
    this.lose()
  }

  /** Forgets what was decided: it was for a cluster, or a leadership, that is no more. */
  lose(): void {
    this.#outlook = undefined
    this.#isHcoDone = false
    this.#isHcoReadBack = false
  }

  /** Publishes the state again where somebody changed or deleted what was published. */
  republish(found: KubeObject | undefined): void {
    const { publish } = this.#options
    if (!this.#outlook || !this.#published) return
    if (!isEqual(found?.data, stateData(this.#published))) publish(this.#published)
  }

  /** Takes in what the cluster looks like now and queues what it changes. */
  evaluate(sight: Sight): void {
    const { reporter, catalog, now } = this.#options
    if (sight.kind === 'blind') {
      this.lose()
      reporter.blind(sight)
      return
    }
    const before = this.#outlook
    const outlook = lookOut(
      { catalog, decide: this.#decide },
      sight.observations,
      this.#published,
      now(),
    )
    this.#outlook = outlook
    const { hco, stated, state } = outlook
    reporter.settings(hco, stated, unknownNames(stated.settings, catalog))
    this.#publish({ ...state, applied: this.#disruption.applied })
    if (this.#isApproved(hco)) this.#queueAll()
    // What waits for a pool looks again whenever anything changes: it costs no request.
    for (const name of [...affected(before, outlook), ...this.#disruption.waiting]) {
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

  #queueAll(): void {
    for (const name of this.#byName.keys()) this.#queue.add(name)
  }

  #isApproved(hco: KubeObject): boolean {
    return this.#disruption.approve(annotationOf(hco, APPROVE))
  }

  #asset(name: string): Asset {
    const asset = this.#byName.get(name)
    if (!asset) throw new Error(`no asset is named ${name}`)
    return asset
  }

  #publish(state: State): void {
    if (JSON.stringify(state) === JSON.stringify(this.#published)) return
    this.#published = state
    this.#options.publish(state)
  }

  async #work(asset: Asset): Promise<void> {
    const outlook = this.#outlook
    if (!outlook || !this.#mayWork(asset, outlook)) return
    if (asset.name === this.#hcoName) return this.#workOnHco(asset, outlook)
    await this.#reconcile(asset, outlook)
  }

  #mayWork(asset: Asset, { standings }: Outlook): boolean {
    const { isObserver, isLeader, view } = this.#options
    if (!isObserver && !isLeader()) return false
    // Nothing runs before the source of facts was seen to; every asset is queued again then.
    if (!this.#isHcoDone && asset.name !== this.#hcoName) return false
    // An object that is not read yet queues its asset when it is.
    return standings.get(asset.name)?.kind !== 'active' || view.isObjectSynced(asset)
  }

  /** The HyperConverged first: what we change there comes back as facts, once, before anything else runs. */
  async #workOnHco(asset: Asset, outlook: Outlook): Promise<void> {
    let outcome: Outcome | undefined
    try {
      outcome = await this.#reconcile(asset, outlook)
    } finally {
      if (outcome?.kind !== 'configured' || this.#isHcoReadBack) this.#admitOthers()
      this.#isHcoReadBack = true
    }
  }

  #admitOthers(): void {
    if (this.#isHcoDone) return
    this.#isHcoDone = true
    for (const name of this.#byName.keys()) if (name !== this.#hcoName) this.#queue.add(name)
  }

  async #reconcile(asset: Asset, outlook: Outlook): Promise<Outcome | undefined> {
    const startedAt = performance.now()
    try {
      const outcome = await this.#decideAndAct(asset, outlook)
      this.#conflicts.delete(asset.name)
      this.#finish(asset, outlook, outcome, performance.now() - startedAt)
      return outcome
    } catch (error) {
      const conflicts = (this.#conflicts.get(asset.name) ?? 0) + 1
      this.#conflicts.set(asset.name, conflicts)
      if (!isConflict(error) || conflicts > CONFLICTS_AT_ONCE) throw error
      await this.#readAgain(asset)
      return undefined
    }
  }

  #decideAndAct(asset: Asset, { facts, stated, standings }: Outlook): Promise<Outcome> {
    const { view, isObserver, client, isLeader } = this.#options
    const { activation, disruptiveChanges } = stated.settings
    const identity = identityOn(asset, facts)
    const standing = standings.get(asset.name)
    if (!standing) throw new Error(`asset ${asset.name} was never evaluated`)
    const mode = disruptiveChanges ?? this.#options.disruptiveChanges
    return reconcile(
      {
        asset,
        standing,
        live: view.live(asset),
        tree: identity && view.schemaOf(identity)?.tree,
        isSensitive: isSensitive(asset),
        isOff: activation.kind === 'off',
        isObserving: isObserver || activation.kind === 'observe',
        isNamespaceMissing:
          identity?.namespace !== undefined && !view.hasNamespace(identity.namespace),
      },
      {
        object: createObjectPort({
          client,
          at: this.#resourceOf(asset),
          name: asset.object.name,
          isLeader,
        }),
        settled: this.#settled,
        mayDisrupt: (desired) =>
          this.#disruption.permit(asset, desired, { mode, pool: this.#poolOf(asset) }),
      },
    )
  }

  // Somebody wrote between our reading and our writing: read again and decide again, at once.
  async #readAgain(asset: Asset): Promise<void> {
    // A newer HyperConverged may hold other settings: its watch has everything decided anew.
    if (asset.name === this.#hcoName) return
    const { client, view } = this.#options
    const at = this.#resourceOf(asset)
    const object = at && (await read(client, at, asset.object.name))
    if (object) view.update(asset, object)
    this.#queue.add(asset.name)
  }

  #finish(asset: Asset, { hco }: Outlook, outcome: Outcome, durationMs: number): void {
    const { view, reporter } = this.#options
    if ('object' in outcome) view.update(asset, outcome.object)
    if (asset.disruption !== 'none') this.#noteDisruption(asset, outcome)
    reporter.report({ asset, outcome, object: view.live(asset), hco, durationMs })
  }

  #noteDisruption(asset: Asset, outcome: Outcome): void {
    if (outcome.kind === 'pending') return
    if ('plan' in outcome) this.#disruption.settle(asset, outcome.plan.desired)
    else this.#disruption.drop(asset)
    if (this.#published) {
      this.#publish({ ...this.#published, applied: this.#disruption.applied })
    }
  }

  #failed(asset: Asset, error: Error, retryInMs: number): void {
    if (this.#outlook) this.#options.reporter.failed(asset, this.#outlook.hco, error, retryInMs)
  }

  #poolOf(asset: Asset): KubeObject | undefined {
    const pools = this.#options.view.watches.objects('pools')
    return pools.find(({ metadata }) => metadata.name === asset.pool)
  }

  #resourceOf(asset: Asset): Resource | undefined {
    const identity = this.#outlook && identityOn(asset, this.#outlook.facts)
    return identity && { ...identity, resource: asset.object.resource }
  }

  #reportPending(): void {
    if (!this.#outlook) return
    const { hco, facts } = this.#outlook
    // A set that was approved before a restart is known to be that set only when it is complete again.
    if (this.#isApproved(hco)) this.#queueAll()
    const assets = this.#disruption.pending.map((name) => this.#asset(name))
    this.#options.reporter.pending({ hco, facts, assets, digest: this.#disruption.pendingDigest })
  }
}
