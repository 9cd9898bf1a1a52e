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
import { type Source, WatchSet } from '../../../shared/cluster/watch-set.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
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

/** Whether there is no HyperConverged, rather than one too many, or nothing known of it yet. */
export const isWithoutHyperConverged = ({ reason }: Blind) =>
  reason === 'NoApi' || reason === 'NoHyperConverged'

// Discovery and schemas follow a changed CRD within seconds; nothing tells when.
const DISTRUST_MS = [1_000, 5_000, 20_000]

/** What the process knows of the cluster, kept current by watches; it never guesses what it has not read. */
export class ClusterView {
  readonly #options: ClusterViewOptions
  readonly #watches: WatchSet
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
    const { client, onTrouble } = options
    this.#watches = new WatchSet({ client, onChange: (id) => this.#changed(id), onTrouble })
    this.#discover = createDiscovery(client)
    this.#loadSchemas = createSchemas(client)
    this.#definitions = new Definitions(options.catalog, () => this.#watches.objects(CRDS))
    this.#hcoName = options.catalog.find(isHyperConverged)?.object.name
  }

  start(): void {
    this.#watches.follow('cluster', [crdSource, ...this.#options.extraSources])
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
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

  /** Whether the asset's object is known, one of a kind that is not served being known to be absent. */
  isObjectKnown(asset: Asset): boolean {
    const id = isHyperConverged(asset) ? 'hco' : assetSource(asset)
    return !this.#watches.has(id) || this.#watches.isSynced([id])
  }

  hasNamespace(namespace: string): boolean {
    const id = namespaceSource(namespace)
    const found = this.#watches.object(id)
    // One that is going away takes no new object.
    return (
      !this.#watches.isSynced([id]) || (found !== undefined && !found.metadata.deletionTimestamp)
    )
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
    this.#served = this.#definitions.withoutEnding(this.#discovered)
    const { catalog, extraSources } = this.#options
    const basis = [crdSource, ...extraSources, ...factSources(catalog, this.#served)]
    const hco = this.#hyperConverged()
    const namespace = hco?.metadata.namespace ?? ''
    const objects = hco
      ? [otherAutopilotSource(namespace), ...objectSources(catalog, this.#served, namespace)]
      : []
    this.#watches.follow('cluster', [...basis, ...objects])
    const blind = this.#blindness()
    if (blind || !hco) return blind ?? NOT_YET
    await this.#readSchemas(hco)
    return { kind: 'sighted', observations: this.#observe(hco) }
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
      this.#options.onChange(CRDS)
    }, delayMs)
    this.#timers.add(timer)
  }

  #changed(id: string): void {
    if (id === CRDS) {
      if (!this.#definitions.hasChanged()) return
      this.#distrust()
      // The first sight of them is no change, and what was served before us is settled.
      if (this.#hasSeenCrds) for (const delayMs of DISTRUST_MS) this.#distrustAfter(delayMs)
      this.#hasSeenCrds = true
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
        'the API hco.kubevirt.io/HyperConverged is not served: nothing to do until it is installed'
      return { kind: 'blind', reason: 'NoApi', message }
    }
    const followed = Object.keys(FACT_SOURCES).filter((id) => this.#watches.has(id))
    if (!this.#watches.isSynced(followed)) return NOT_YET
    if (this.#hyperConverged())
      return this.#watches.isSynced([OTHER_AUTOPILOT]) ? undefined : NOT_YET
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

  #observe(hco: KubeObject): Observations {
    const watches = this.#watches
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

const NOT_YET: Blind = { kind: 'blind', reason: 'NotYet' }
