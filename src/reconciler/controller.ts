import { type Asset, type Catalog, isHyperConverged, isSensitive } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import { readSettings, type ReadSettings, unknownNames } from '../shared/catalog/settings.ts'
import { identityOn, type Standing, standingOf } from '../shared/catalog/standing.ts'
import type { State } from '../shared/catalog/state.ts'
import { type Client, isConflict } from '../shared/cluster/client.ts'
import { apply, patchJson, read, type Resource } from '../shared/cluster/resource.ts'
import { APPROVE } from '../shared/engine/annotations.ts'
import { annotationOf, type KubeObject } from '../shared/engine/object.ts'
import { sha256 } from '../shared/ops/digest.ts'
import type { ClusterView, Sight } from './cluster-view.ts'
import { Disruption } from './disruption.ts'
import { makeFacts } from './facts.ts'
import { Queue } from './queue.ts'
import { type ObjectPort, type Outcome, reconcile, Settled } from './reconcile.ts'
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

/** What is decided for the whole cluster, and every asset's part in it. */
interface Outlook {
  readonly facts: Facts
  readonly hco: KubeObject
  readonly read: ReadSettings
  readonly standings: ReadonlyMap<string, Standing>
}

// What is written one after the other would make the last asset wait for the first.
const CONCURRENCY = 4

/** Keeps every asset's object at its desired state, from the first sight of the cluster on. */
export class Controller {
  readonly #options: ControllerOptions
  readonly #byName: ReadonlyMap<string, Asset>
  readonly #queue: Queue
  readonly #settled = new Settled(sha256)
  #disruption = new Disruption(sha256)
  #previous: State | undefined
  #outlook: Outlook | undefined
  #isHcoDone = false
  #hcoRounds = 0

  constructor(options: ControllerOptions) {
    this.#options = options
    this.#byName = new Map(options.catalog.map((asset) => [asset.name, asset]))
    this.#queue = new Queue({
      work: (name) => this.#work(name),
      onError: (name, error, retryInMs) => this.#failed(this.#asset(name), error, retryInMs),
      orderOf: (name) => this.#asset(name).order,
      concurrency: CONCURRENCY,
      onIdle: () => this.#reportPending(),
    })
  }

  /** Takes over from an earlier leader: what it published is where we go on. */
  resume(state: State | undefined): void {
    this.#previous = state
    this.#disruption = new Disruption(sha256, state?.applied)
    this.#outlook = undefined
    this.#isHcoDone = false
    this.#hcoRounds = 0
  }

  /** Takes in what the cluster looks like now and queues what it changes. */
  evaluate(sight: Sight): void {
    const { reporter, catalog } = this.#options
    if (sight.kind === 'blind') {
      this.#outlook = undefined
      this.#isHcoDone = false
      reporter.blind(sight)
      return
    }
    const { observations } = sight
    const before = this.#outlook
    const { facts, hardware } = makeFacts(catalog, observations, this.#previous?.hardware, this.#options.now())
    const stated = readSettings(observations.hco.metadata.annotations ?? {}, this.#previous?.settings)
    const standings = new Map(
      catalog.map((asset) => [asset.name, standingOf(asset, facts, stated.settings, sha256)]),
    )
    this.#outlook = { facts, hco: observations.hco, read: stated, standings }
    reporter.settings(observations.hco, stated, unknownNames(stated.settings, catalog))
    this.#publish({
      facts,
      hardware,
      settings: stated.valid,
      baselines: digestsOf(standings),
      applied: this.#disruption.applied,
    })
    const isApproved = this.#disruption.approve(annotationOf(observations.hco, APPROVE))
    for (const name of this.#affected(before, isApproved)) this.#queue.add(name)
  }

  /** Queues one asset, because its object or its namespace changed. */
  touch(name: string): void {
    if (this.#outlook) this.#queue.add(name)
  }

  /** Queues everything and compares it anew. */
  resync(): void {
    this.#settled.clear()
    if (this.#outlook) for (const name of this.#byName.keys()) this.#queue.add(name)
  }

  /** What the webhook configurations are made of; undefined while nothing is known. */
  get outlook(): Outlook | undefined {
    return this.#outlook
  }

  stop(): Promise<void> {
    return this.#queue.stop()
  }

  #affected(before: Outlook | undefined, isApproved: boolean): readonly string[] {
    const after = this.#outlook
    const names = [...this.#byName.keys()]
    if (!before || !after || isApproved) return names
    const isSameRegime =
      JSON.stringify(before.read.settings) === JSON.stringify(after.read.settings) &&
      JSON.stringify(before.facts.pools) === JSON.stringify(after.facts.pools)
    if (!isSameRegime) return names
    const changed = names.filter((name) => !isSameStanding(before.standings.get(name), after.standings.get(name)))
    // The HyperConverged itself is what most evaluations start from.
    return before.hco === after.hco ? changed : [...new Set([...this.#hcoNames(), ...changed])]
  }

  #hcoNames(): readonly string[] {
    return this.#options.catalog.filter(isHyperConverged).map(({ name }) => name)
  }

  #publish(state: State): void {
    if (JSON.stringify(state) === JSON.stringify(this.#previous)) return
    this.#previous = state
    this.#options.publish(state)
  }

  #asset(name: string): Asset {
    const asset = this.#byName.get(name)
    if (!asset) throw new Error(`no asset is named ${name}`)
    return asset
  }

  async #work(name: string): Promise<void> {
    const outlook = this.#outlook
    const { isLeader, isObserver, view } = this.#options
    const asset = this.#asset(name)
    if (!outlook || !(isObserver || isLeader())) return
    // Nothing runs before the source of facts was seen to; every asset is queued again then.
    if (!this.#isHcoDone && !isHyperConverged(asset)) return
    // An object that is not read yet queues its asset when it is.
    if (outlook.standings.get(name)?.kind === 'active' && !view.isObjectSynced(asset)) return
    const startedAt = performance.now()
    let isToBeReadBack = false
    try {
      const outcome = await this.#reconcile(asset, outlook).catch((error: unknown) => this.#replan(asset, error))
      if (outcome) this.#finish(asset, outlook, outcome, performance.now() - startedAt)
      // What we changed on the HyperConverged comes back as facts before anything else runs, once.
      isToBeReadBack = isHyperConverged(asset) && outcome?.kind === 'configured' && this.#hcoRounds++ === 0
    } finally {
      if (isHyperConverged(asset) && !isToBeReadBack) this.#releaseOthers(asset)
    }
  }

  #releaseOthers(hco: Asset): void {
    if (this.#isHcoDone) return
    this.#isHcoDone = true
    for (const name of this.#byName.keys()) if (name !== hco.name) this.#queue.add(name)
  }

  // Somebody wrote between our reading and our writing: read again and decide again, at once.
  async #replan(asset: Asset, error: unknown): Promise<undefined> {
    if (!isConflict(error)) throw error
    const at = this.#resourceOf(asset)
    const object = at && (await read(this.#options.client, at, asset.object.name))
    if (object) this.#options.view.update(asset, object)
    this.#queue.add(asset.name)
    return undefined
  }

  #finish(asset: Asset, { facts, hco }: Outlook, outcome: Outcome, durationMs: number): void {
    const { view, reporter } = this.#options
    if ('object' in outcome) view.update(asset, outcome.object)
    if (asset.disruption !== 'none') this.#noteDisruption(asset, outcome)
    reporter.report({ asset, outcome, object: view.live(asset), hco, facts, durationMs })
  }

  #failed(asset: Asset, error: Error, retryInMs: number): void {
    if (this.#outlook) this.#options.reporter.failed(asset, this.#outlook.hco, error, retryInMs)
  }

  #noteDisruption(asset: Asset, outcome: Outcome): void {
    if (outcome.kind === 'pending') return
    if ('plan' in outcome) this.#disruption.settle(asset, outcome.plan.desired)
    else this.#disruption.drop(asset)
    const { applied } = this.#disruption
    if (this.#previous && JSON.stringify(applied) !== JSON.stringify(this.#previous.applied)) {
      this.#publish({ ...this.#previous, applied })
    }
  }

  #reconcile(asset: Asset, { facts, read: stated, standings }: Outlook): Promise<Outcome> {
    const { view, isObserver, disruptiveChanges } = this.#options
    const { settings } = stated
    const identity = identityOn(asset, facts)
    const standing = standings.get(asset.name)
    if (!standing) throw new Error(`asset ${asset.name} was never evaluated`)
    const mode = settings.disruptiveChanges ?? disruptiveChanges
    return reconcile(
      {
        asset,
        standing,
        live: view.live(asset),
        tree: identity && view.schemaOf(identity)?.tree,
        isSensitive: isSensitive(asset),
        isOff: settings.activation.kind === 'off',
        isObserving: isObserver || settings.activation.kind === 'observe',
        isNamespaceMissing: identity?.namespace !== undefined && !view.hasNamespace(identity.namespace),
      },
      {
        object: this.#port(asset),
        settled: this.#settled,
        mayDisrupt: (desired) => this.#disruption.permit(asset, desired, { mode, pool: this.#pool(asset) }),
      },
    )
  }

  #pool(asset: Asset): KubeObject | undefined {
    return this.#options.view.watches.objects('pools').find(({ metadata }) => metadata.name === asset.pool)
  }

  #resourceOf(asset: Asset): Resource | undefined {
    const identity = this.#outlook && identityOn(asset, this.#outlook.facts)
    return identity && { ...identity, resource: asset.object.resource }
  }

  #port(asset: Asset): ObjectPort {
    const { client, isLeader } = this.#options
    const at = this.#resourceOf(asset)
    const place = () => {
      if (!at) throw new Error(`${asset.object.kind} is not served`)
      return at
    }
    const toWrite = () => {
      if (!isLeader()) throw new Error('the Lease is no longer ours')
      return place()
    }
    return {
      read: () => read(client, place(), asset.object.name),
      apply: (object, { isDryRun }) => apply(client, toWrite(), object, { isDryRun }),
      patch: (operations) => patchJson(client, toWrite(), asset.object.name, operations),
    }
  }

  #reportPending(): void {
    if (!this.#outlook) return
    const { pending, pendingDigest } = this.#disruption
    const assets = pending.map((name) => this.#asset(name))
    this.#options.reporter.pending(this.#outlook.hco, this.#outlook.facts, assets, pendingDigest)
  }
}

const digestsOf = (standings: ReadonlyMap<string, Standing>) =>
  Object.fromEntries(
    [...standings].flatMap(([name, standing]) => (standing.kind === 'active' ? [[name, standing.digest]] : [])),
  )

const isSameStanding = (before: Standing | undefined, after: Standing | undefined) =>
  before?.kind === 'active' && after?.kind === 'active'
    ? before.digest === after.digest
    : JSON.stringify(before) === JSON.stringify(after)
