import { groupOf } from '../engine/json/object.ts'
import type { Client } from './client.ts'
import { createDiscovery, type Served } from './discovery.ts'
import type { Resource } from './resource.ts'

/** What it takes to know of a kind. */
export interface KindRef {
  readonly apiVersion: string
  readonly kind: string
}

// How long an answer of what is not served stands: a definition is served within a second of its making.
const UNKNOWN_MS = 1_000

/** Which kinds the API server serves, asked again where one is not known. */
export class ServedKinds {
  readonly #discover: () => Promise<Served>
  readonly #now: () => number
  #served: Served = new Map()
  #askedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined

  constructor(client: Client, now: () => number) {
    this.#discover = createDiscovery(client)
    this.#now = now
  }

  /** Asks anew where one of these kinds is not known. */
  async learn(kinds: readonly KindRef[]): Promise<void> {
    if (kinds.every((kind) => this.#find(kind))) return
    if (this.#now() - this.#askedAt >= UNKNOWN_MS) {
      this.#askedAt = this.#now()
      this.#asking = this.#ask()
    }
    // Whoever comes meanwhile waits for the same answer.
    await this.#asking
  }

  async #ask(): Promise<void> {
    this.#served = await this.#discover()
  }

  /** Has everything asked anew: something that was served is served no more. */
  forget(): void {
    this.#served = new Map()
    this.#askedAt = Number.NEGATIVE_INFINITY
  }

  /** Where the objects of this kind are; undefined where it is not served. */
  resourceOf(kind: KindRef, namespace: string | undefined): Resource | undefined {
    const found = this.#find(kind)
    if (!found) return undefined
    const { apiVersion } = kind
    const isIn = found.isNamespaced && namespace !== undefined
    return { apiVersion, resource: found.resource, ...(isIn && { namespace }) }
  }

  /** Whether its objects are in no namespace; what is not known is in one. */
  isClusterScoped(kind: KindRef): boolean {
    return this.#find(kind)?.isNamespaced === false
  }

  #find({ apiVersion, kind }: KindRef) {
    const found = this.#served.get(`${groupOf(apiVersion)}/${kind}`)
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    return found?.versions.includes(version) ? found : undefined
  }
}
