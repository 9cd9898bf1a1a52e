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
  type KindQuery,
  type KindSchema,
  type LoadSchemas,
  schemaKey,
} from '../../../shared/cluster/schemas.ts'
import type { Store } from '../../../shared/cluster/store.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import {
  hyperConvergedOf,
  NOT_YET,
  type Snapshot,
  type Unavailable,
  unavailability,
} from './availability.ts'
import { Definitions } from './definitions.ts'
import { type Observations, observedIn, schemaQueries, servedOf } from './facts.ts'
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
  readonly store: Store
  /** What the server says of its kinds may be out of date by now: look again. */
  readonly onDoubt: () => void
}

/** Who follows what a view is made of. */
export const FOLLOWER = 'cluster'

// Discovery and schemas follow a changed CRD within seconds, without notice: ask again after these delays.
const DISTRUST_MS = [1_000, 5_000, 20_000]

/** What the process knows of the cluster, kept current by watches; it never guesses what it has not read. */
export class ClusterView {
  readonly store: Store
  readonly #options: ClusterViewOptions
  readonly #discover: Discover
  readonly #loadSchemas: LoadSchemas
  readonly #definitions: Definitions
  readonly #hcoName: string | undefined
  #discovered: Served = new Map()
  #served: Served = new Map()
  #queries: readonly KindQuery[] = []
  #schemas: ReadonlyMap<string, KindSchema> = new Map()
  #timers: readonly NodeJS.Timeout[] = []
  /** How often there was a reason to ask the server again, and at which count it was asked. */
  #doubts = 0
  #discoveredAt: number | undefined
  #schemasReadAt: number | undefined

  constructor(options: ClusterViewOptions) {
    const { client, catalog, store } = options
    this.#options = options
    this.store = store
    this.#discover = createDiscovery(client)
    this.#loadSchemas = createSchemas(client)
    this.#definitions = new Definitions(catalog, () => store.objects(CRDS))
    this.#hcoName = catalog.find(isHyperConverged)?.object.name
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  /** The schema of an asset's kind; undefined while the server has not published it. */
  schemaOf(identity: { apiVersion: string; kind: string }): KindSchema | undefined {
    return this.#schemas.get(schemaKey(identity))
  }

  live(asset: Asset): KubeObject | undefined {
    return isHyperConverged(asset) ? this.#hyperConverged() : this.store.object(assetSource(asset))
  }

  /** Whether the asset's object is known, one of a kind that is not served being known to be absent. */
  isObjectKnown(asset: Asset): boolean {
    const id = sourceOf(asset)
    return !this.store.has(id) || this.store.isSynced([id])
  }

  hasNamespace(namespace: string): boolean {
    const id = namespaceSource(namespace)
    const found = this.store.object(id)
    // One that is going away takes no new object.
    return !this.store.isSynced([id]) || (found !== undefined && !found.metadata.deletionTimestamp)
  }

  /** Puts in what a write returned, so that nobody plans from an older object. */
  update(asset: Asset, object: KubeObject): void {
    this.store.update(sourceOf(asset), object)
  }

  /** Brings discovery, watches and schemas up to date and says what is known. */
  async look(): Promise<Snapshot> {
    if (!this.store.isSynced([CRDS])) return NOT_YET
    // What changes while the server answers is asked for again.
    const doubts = this.#doubts
    if (this.#discoveredAt !== doubts) {
      this.#discovered = await this.#discover()
      this.#discoveredAt = doubts
    }
    this.#served = this.#definitions.withoutEnding(this.#discovered)
    const { catalog } = this.#options
    const basis = [crdSource, ...factSources(catalog, this.#served)]
    const hco = this.#hyperConverged()
    const namespace = hco?.metadata.namespace ?? ''
    const objects = hco
      ? [otherAutopilotSource(namespace), ...objectSources(catalog, this.#served, namespace)]
      : []
    this.store.follow(FOLLOWER, [...basis, ...objects])
    this.#queries = this.#schemaQueries(hco)
    const unavailable = this.#unavailability()
    if (unavailable || !hco) return unavailable ?? NOT_YET
    if (this.#schemasReadAt !== doubts || this.#isSchemaMissing()) {
      this.#schemas = await this.#loadSchemas(this.#queries)
      this.#schemasReadAt = doubts
    }
    return { kind: 'ready', observations: this.#observe(hco) }
  }

  /** Whether the server's discovery has not caught up with its CRDs, so that look() must ask again. */
  isDiscoveryBehind(): boolean {
    const isBehind = this.#definitions.isAheadOf(this.#served) || this.#isSchemaMissing()
    if (isBehind) this.#discoveredAt = undefined
    return isBehind
  }

  #isSchemaMissing(): boolean {
    return this.#queries.some((query) => !this.schemaOf(query))
  }

  /** Takes in that a source changed; whether that can make a difference. */
  noteChange(source: string): boolean {
    if (source !== CRDS) return true
    if (!this.#definitions.hasChanged()) return false
    // The first list of CRDs is no change: discovery has caught up with those.
    if (this.#doubts++ > 0) this.#doubtLater()
    return true
  }

  #doubtLater(): void {
    this.stop()
    const doubt = () => {
      this.#doubts++
      this.#options.onDoubt()
    }
    this.#timers = DISTRUST_MS.map((delayMs) => setTimeout(doubt, delayMs))
  }

  #hyperConverged(): KubeObject | undefined {
    return hyperConvergedOf(this.#hyperConvergeds(), this.#hcoName)
  }

  #hyperConvergeds(): readonly KubeObject[] {
    const { hcoNamespace } = this.#options
    const all = this.store.objects('hco')
    if (hcoNamespace === undefined) return all
    return all.filter(({ metadata }) => metadata.namespace === hcoNamespace)
  }

  #unavailability(): Unavailable | undefined {
    const followed = Object.keys(FACT_SOURCES).filter((id) => this.store.has(id))
    return unavailability({
      hcos: this.#hyperConvergeds(),
      hcoName: this.#hcoName,
      isHcoServed: this.store.has('hco'),
      areFactsRead: this.store.isSynced(followed),
      isOtherRead: this.store.isSynced([OTHER_AUTOPILOT]),
    })
  }

  /** The schemas that the catalog needs on this cluster. */
  #schemaQueries(hco: KubeObject | undefined): readonly KindQuery[] {
    const { catalog } = this.#options
    const served = servedOf(catalog, this.#served)
    return hco ? schemaQueries(catalog, { hco: hcoFactsOf(catalog, hco), served }) : []
  }

  #observe(hco: KubeObject): Observations {
    const { store } = this
    return {
      hco,
      ...observedIn((id) => store.objects(id)),
      otherAutopilot: store.object(OTHER_AUTOPILOT),
      served: this.#served,
      schemas: this.#schemas,
      images: this.#options.images,
    }
  }
}

const sourceOf = (asset: Asset) => (isHyperConverged(asset) ? 'hco' : assetSource(asset))
