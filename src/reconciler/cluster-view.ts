import { type Asset, type Catalog, isHyperConverged } from '../shared/catalog/catalog.ts'
import { FACT_SOURCES } from '../shared/catalog/facts.ts'
import { hcoFactsOf } from '../shared/catalog/hco-facts.ts'
import type { Client } from '../shared/cluster/client.ts'
import { createDiscovery, type Discover, type Served } from '../shared/cluster/discovery.ts'
import { createSchemas, type KindSchema, type LoadSchemas } from '../shared/cluster/schemas.ts'
import { type Source, WatchSet } from '../shared/cluster/watch-set.ts'
import type { KubeObject } from '../shared/engine/object.ts'
import { type Observations, schemaQueries, servedOf } from './facts.ts'
import {
  assetSource,
  CRDS,
  crdSource,
  factSources,
  namespaceSource,
  objectSources,
} from './sources.ts'

export interface ClusterViewOptions {
  readonly client: Client
  readonly catalog: Catalog
  readonly images: Readonly<Record<string, string>>
  /** Where the HyperConverged is, if there may be several. */
  readonly hcoNamespace: string | undefined
  /** Sources beyond facts and objects. */
  readonly extraSources: readonly Source[]
  readonly onChange: (id: string) => void
  readonly onTrouble: (id: string, error: Error) => void
}

/** Why nothing can be decided yet; `NotYet` needs no telling. */
export type Blind =
  | { readonly kind: 'blind'; readonly reason: 'NotYet' }
  | {
      readonly kind: 'blind'
      readonly reason: 'NoApi' | 'NoHyperConverged' | 'TwoHyperConvergeds'
      readonly message: string
    }

export type Sight = Blind | { readonly kind: 'sighted'; readonly observations: Observations }

/** What the process knows of the cluster, kept current by watches; it never guesses what it has not read. */
export class ClusterView {
  readonly #options: ClusterViewOptions
  readonly #watches: WatchSet
  readonly #discover: Discover
  readonly #loadSchemas: LoadSchemas
  readonly #groups: ReadonlySet<string>
  readonly #hcoName: string | undefined
  readonly #crdsSeen = new Set<string>()
  #crdVersions = ''
  #discovered: Served = new Map()
  #served: Served = new Map()
  #schemas: ReadonlyMap<string, KindSchema> = new Map()
  #isDiscovered = false
  #isSchemaRead = false

  constructor(options: ClusterViewOptions) {
    this.#options = options
    const { client, onTrouble } = options
    this.#watches = new WatchSet({ client, onChange: (id) => this.#changed(id), onTrouble })
    this.#discover = createDiscovery(client)
    this.#loadSchemas = createSchemas(client)
    this.#groups = new Set(relevantGroups(options.catalog))
    this.#hcoName = options.catalog.find(isHyperConverged)?.object.name
  }

  start(): void {
    this.#watches.follow([crdSource, ...this.#options.extraSources])
  }

  stop(): void {
    this.#watches.stop()
  }

  get watches(): WatchSet {
    return this.#watches
  }

  /** The schema of an asset's kind; undefined while the server has not published it. */
  schemaOf(identity: { apiVersion: string; kind: string }): KindSchema | undefined {
    return this.#schemas.get(`${identity.apiVersion}/${identity.kind}`)
  }

  live(asset: Asset): KubeObject | undefined {
    return isHyperConverged(asset)
      ? this.#hyperConverged()
      : this.#watches.object(assetSource(asset))
  }

  isObjectSynced(asset: Asset): boolean {
    return this.#watches.isSynced([isHyperConverged(asset) ? 'hco' : assetSource(asset)])
  }

  hasNamespace(namespace: string): boolean {
    const id = namespaceSource(namespace)
    return !this.#watches.isSynced([id]) || this.#watches.object(id) !== undefined
  }

  /** Puts in what a write returned, so that nobody plans from an older object. */
  update(asset: Asset, object: KubeObject): void {
    this.#watches.update(isHyperConverged(asset) ? 'hco' : assetSource(asset), object)
  }

  /** Brings discovery, watches and schemas up to date and says what is known. */
  async look(): Promise<Sight> {
    if (!this.#watches.isSynced([CRDS])) return NOT_YET
    if (!this.#isDiscovered) {
      // What changes while the server answers is asked for again.
      this.#isDiscovered = true
      this.#discovered = await this.#discover().catch((error: Error) => {
        this.#isDiscovered = false
        throw error
      })
    }
    this.#served = this.#withoutTerminating(this.#discovered)
    const { catalog, extraSources } = this.#options
    const basis = [crdSource, ...extraSources, ...factSources(catalog, this.#served)]
    const hco = this.#hyperConverged()
    const objects = hco ? objectSources(catalog, this.#served, hco.metadata.namespace ?? '') : []
    this.#watches.follow([...basis, ...objects])
    const blind = this.#blindness()
    if (blind || !hco) return blind ?? NOT_YET
    await this.#readSchemas(hco)
    return { kind: 'sighted', observations: this.#observe(hco) }
  }

  /** Has what is served, and its schemas, read again: both lag behind a changed CRD by a moment. */
  distrust(): void {
    this.#isDiscovered = false
    this.#isSchemaRead = false
  }

  /** Whether the server's discovery has not caught up with its CRDs, so that look() must ask again. */
  isDiscoveryBehind(): boolean {
    const present = this.#relevantCrds().filter(({ metadata }) => !metadata.deletionTimestamp)
    for (const { metadata } of present) this.#crdsSeen.add(metadata.name)
    const names = new Set(present.map(({ metadata }) => metadata.name))
    const lags = [...this.#crdsSeen].filter((name) => names.has(name) !== this.#isServed(name))
    const unpublished = this.#missingSchemas()
    if (lags.length > 0 || unpublished) this.#isDiscovered = false
    return lags.length > 0 || unpublished
  }

  #changed(id: string): void {
    if (id === CRDS) {
      const versions = this.#relevantCrds().map(
        ({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`,
      )
      if (versions.join() === this.#crdVersions) return
      this.#crdVersions = versions.join()
      this.#isDiscovered = false
      this.#isSchemaRead = false
    }
    this.#options.onChange(id)
  }

  #hyperConverged(): KubeObject | undefined {
    const [only, ...others] = this.#hyperConvergeds()
    return others.length === 0 && only?.metadata.name === this.#hcoName ? only : undefined
  }

  #hyperConvergeds(): readonly KubeObject[] {
    const { hcoNamespace } = this.#options
    const all = this.#watches.objects('hco')
    if (hcoNamespace === undefined) return all
    return all.filter(({ metadata }) => metadata.namespace === hcoNamespace)
  }

  #blindness(): Blind | undefined {
    const hcos = this.#hyperConvergeds()
    if (!this.#watches.has('hco')) {
      const message =
        'the API hco.kubevirt.io/HyperConverged is not served: waiting for it to be installed'
      return { kind: 'blind', reason: 'NoApi', message }
    }
    const followed = Object.keys(FACT_SOURCES).filter((id) => this.#watches.has(id))
    if (!this.#watches.isSynced(followed)) return NOT_YET
    if (this.#hyperConverged()) return undefined
    if (hcos.length > 1) {
      const names = hcos
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .join(' and ')
      const message = `there are several HyperConvergeds, ${names}: delete one, or choose with --hco-namespace; nothing is written`
      return { kind: 'blind', reason: 'TwoHyperConvergeds', message }
    }
    return {
      kind: 'blind',
      reason: 'NoHyperConverged',
      message: 'there is no HyperConverged: nothing to do until one is created',
    }
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

  #relevantCrds(): readonly KubeObject[] {
    return this.#watches
      .objects(CRDS)
      .filter(({ metadata }) => this.#groups.has(groupOfCrd(metadata.name)))
  }

  #isServed(crdName: string): boolean {
    return [...this.#served].some((entry) => crdNameOf(entry) === crdName)
  }

  // A definition that is being deleted is discovered to the end, and takes no new object.
  #withoutTerminating(served: Served): Served {
    const terminating = this.#relevantCrds().filter(({ metadata }) => metadata.deletionTimestamp)
    const names = new Set(terminating.map(({ metadata }) => metadata.name))
    return new Map([...served].filter((entry) => !names.has(crdNameOf(entry))))
  }

  #observe(hco: KubeObject): Observations {
    const watches = this.#watches
    return {
      hco,
      nodes: watches.objects('nodes'),
      infrastructure: watches.object('infrastructure'),
      scheduler: watches.object('scheduler'),
      pools: watches.objects('pools'),
      kubeletConfigs: watches.objects('kubeletConfigs'),
      served: this.#served,
      schemas: this.#schemas,
      images: this.#options.images,
    }
  }
}

const NOT_YET: Blind = { kind: 'blind', reason: 'NotYet' }

// A CRD is named after its resource and its group.
const groupOfCrd = (name: string) => name.slice(name.indexOf('.') + 1)

const crdNameOf = ([key, { resource }]: readonly [string, { readonly resource: string }]) =>
  `${resource}.${key.slice(0, key.lastIndexOf('/'))}`

const relevantGroups = (catalog: Catalog) => [
  ...Object.values(FACT_SOURCES).map(({ group }) => group),
  ...catalog.map(({ object }) => object.group),
  ...catalog.flatMap(({ conditions }) =>
    conditions.flatMap((c) => (c.type === 'crd' ? [c.group] : [])),
  ),
]
