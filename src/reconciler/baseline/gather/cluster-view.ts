import {
  type Asset,
  type Catalog,
  isHyperConverged,
} from '../../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../../shared/baseline/facts/facts.ts'
import { hcoFactsOf } from '../../../shared/baseline/facts/hco-facts.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { createDiscovery, type Discover, type Served } from '../../../shared/cluster/discovery.ts'
import {
  createSchemas,
  type KindSchema,
  type LoadSchemas,
} from '../../../shared/cluster/schemas.ts'
import type { WatchSet } from '../../../shared/cluster/watch-set.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  hyperConvergedOf,
  NOT_YET,
  type Snapshot,
  type Unavailable,
  unavailability,
} from './availability.ts'
import { Definitions } from './definitions.ts'
import { type Observations, schemaQueries, servedOf } from './facts.ts'
import {
  assetSource,
  CRDS,
  crdSource,
  factSources,
  namespaceSource,
  OTHER_AUTOPILOT,
  objectSources,
  otherAutopilotSource,
} from './sources.ts'

export interface ClusterViewOptions {
  readonly client: Client
  readonly catalog: Catalog
  readonly images: Readonly<Record<string, string>>
  /** Where the HyperConverged is, if there may be several. */
  readonly hcoNamespace: string | undefined
  readonly watches: WatchSet
  /** What the server says of its kinds may be out of date by now: look again. */
  readonly onDoubt: () => void
}

/** Who follows what a view is made of. */
export const FOLLOWER = 'cluster'

// Discovery and schemas follow a changed CRD within seconds; nothing tells when.
const DISTRUST_MS = [1_000, 5_000, 20_000]

/** What the process knows of the cluster, kept current by watches; it never guesses what it has not read. */
export class ClusterView {
  readonly #options: ClusterViewOptions
  readonly #discover: Discover
  readonly #loadSchemas: LoadSchemas
  readonly #definitions: Definitions
  readonly #hcoName: string | undefined
  #discovered: Served = new Map()
  #served: Served = new Map()
  #schemas: ReadonlyMap<string, KindSchema> = new Map()
  readonly #timers = new Set<NodeJS.Timeout>()
  #hasSeenCrds = false
  #isDiscovered = false
  #isSchemaRead = false

  constructor(options: ClusterViewOptions) {
    this.#options = options
    const { client } = options
    this.#discover = createDiscovery(client)
    this.#loadSchemas = createSchemas(client)
    this.#definitions = new Definitions(options.catalog, () => this.watches.objects(CRDS))
    this.#hcoName = options.catalog.find(isHyperConverged)?.object.name
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  get watches(): WatchSet {
    return this.#options.watches
  }

  /** The schema of an asset's kind; undefined while the server has not published it. */
  schemaOf(identity: { apiVersion: string; kind: string }): KindSchema | undefined {
    return this.#schemas.get(`${identity.apiVersion}/${identity.kind}`)
  }

  live(asset: Asset): KubeObject | undefined {
    return isHyperConverged(asset)
      ? this.#hyperConverged()
      : this.watches.object(assetSource(asset))
  }

  /** Whether the asset's object is known, one of a kind that is not served being known to be absent. */
  isObjectKnown(asset: Asset): boolean {
    const id = isHyperConverged(asset) ? 'hco' : assetSource(asset)
    return !this.watches.has(id) || this.watches.isSynced([id])
  }

  hasNamespace(namespace: string): boolean {
    const id = namespaceSource(namespace)
    const found = this.watches.object(id)
    // One that is going away takes no new object.
    return (
      !this.watches.isSynced([id]) || (found !== undefined && !found.metadata.deletionTimestamp)
    )
  }

  /** Puts in what a write returned, so that nobody plans from an older object. */
  update(asset: Asset, object: KubeObject): void {
    this.watches.update(isHyperConverged(asset) ? 'hco' : assetSource(asset), object)
  }

  /** Brings discovery, watches and schemas up to date and says what is known. */
  async look(): Promise<Snapshot> {
    if (!this.watches.isSynced([CRDS])) return NOT_YET
    if (!this.#isDiscovered) {
      // What changes while the server answers is asked for again.
      this.#isDiscovered = true
      this.#discovered = await this.#discover().catch((error: Error) => {
        this.#isDiscovered = false
        throw error
      })
    }
    this.#served = this.#definitions.withoutEnding(this.#discovered)
    const { catalog } = this.#options
    const basis = [crdSource, ...factSources(catalog, this.#served)]
    const hco = this.#hyperConverged()
    const namespace = hco?.metadata.namespace ?? ''
    const objects = hco
      ? [otherAutopilotSource(namespace), ...objectSources(catalog, this.#served, namespace)]
      : []
    this.watches.follow(FOLLOWER, [...basis, ...objects])
    const unavailable = this.#unavailability()
    if (unavailable || !hco) return unavailable ?? NOT_YET
    await this.#readSchemas(hco)
    return { kind: 'ready', observations: this.#observe(hco) }
  }

  /** Whether the server's discovery has not caught up with its CRDs, so that look() must ask again. */
  isDiscoveryBehind(): boolean {
    const isBehind = this.#definitions.isAheadOf(this.#served) || this.#missingSchemas()
    if (isBehind) this.#isDiscovered = false
    return isBehind
  }

  #distrust(): void {
    this.#isDiscovered = false
    this.#isSchemaRead = false
  }

  #distrustAfter(delayMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#distrust()
      this.#options.onDoubt()
    }, delayMs)
    this.#timers.add(timer)
  }

  /** Takes in that a source changed; whether that can make a difference. */
  noteChange(source: string): boolean {
    if (source !== CRDS) return true
    if (!this.#definitions.hasChanged()) return false
    this.#distrust()
    // The first sight of them is no change, and what was served before us is settled.
    if (this.#hasSeenCrds) for (const delayMs of DISTRUST_MS) this.#distrustAfter(delayMs)
    this.#hasSeenCrds = true
    return true
  }

  #hyperConverged(): KubeObject | undefined {
    return hyperConvergedOf(this.#hyperConvergeds(), this.#hcoName)
  }

  #hyperConvergeds(): readonly KubeObject[] {
    const { hcoNamespace } = this.#options
    const all = this.watches.objects('hco')
    if (hcoNamespace === undefined) return all
    return all.filter(({ metadata }) => metadata.namespace === hcoNamespace)
  }

  #unavailability(): Unavailable | undefined {
    const followed = Object.keys(FACT_SOURCES).filter((id) => this.watches.has(id))
    return unavailability({
      hcos: this.#hyperConvergeds(),
      hcoName: this.#hcoName,
      isHcoServed: this.watches.has('hco'),
      areFactsRead: this.watches.isSynced(followed),
      isOtherRead: this.watches.isSynced([OTHER_AUTOPILOT]),
    })
  }

  async #readSchemas(hco: KubeObject): Promise<void> {
    const queries = schemaQueries(this.#options.catalog, this.#known(hco))
    if (this.#isSchemaRead && queries.every((query) => this.schemaOf(query))) return
    this.#isSchemaRead = true
    this.#schemas = await this.#loadSchemas(queries).catch((error: Error) => {
      this.#isSchemaRead = false
      throw error
    })
  }

  #missingSchemas(): boolean {
    const hco = this.#hyperConverged()
    if (!hco) return false
    return schemaQueries(this.#options.catalog, this.#known(hco)).some(
      (query) => !this.schemaOf(query),
    )
  }

  #known(hco: KubeObject) {
    const { catalog } = this.#options
    return { hco: hcoFactsOf(catalog, hco), served: servedOf(catalog, this.#served) }
  }

  #observe(hco: KubeObject): Observations {
    const { watches } = this
    return {
      hco,
      nodes: watches.objects('nodes'),
      infrastructure: watches.object('infrastructure'),
      scheduler: watches.object('scheduler'),
      pools: watches.objects('pools'),
      kubeletConfigs: watches.objects('kubeletConfigs'),
      machineConfiguration: watches.object('machineConfiguration'),
      otherAutopilot: watches.object(OTHER_AUTOPILOT),
      served: this.#served,
      schemas: this.#schemas,
      images: this.#options.images,
    }
  }
}
