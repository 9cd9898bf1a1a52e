import { type Client, isForbidden } from '../../shared/cluster/client.ts'
import { read } from '../../shared/cluster/resource.ts'
import type { KubeObject } from '../../shared/engine/json/object.ts'

const ROLES = { apiVersion: 'rbac.authorization.k8s.io/v1', resource: 'clusterroles' }

/**
 * The ClusterRole that our webhook configurations belong to, so that the garbage collector removes them in
 * whatever order the product is uninstalled. It comes and goes with an installation; whoever is to write a
 * configuration looks at it first.
 */
export class OwnerRole {
  readonly #client: Client
  readonly #name: string
  #known: KubeObject | undefined
  #isFresh = false
  #isGone = false

  constructor(client: Client, name: string) {
    this.#client = client
    this.#name = name
  }

  /** Whether it was there and is no more: the product is being uninstalled, or installed anew. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** From here on, what was read before is not fresh any more. */
  age(): void {
    this.#isFresh = false
  }

  /** As it was seen last; undefined where there never was one, as with an account of one's own. Throws what the API server says. */
  async known(): Promise<KubeObject | undefined> {
    return this.#known ?? this.fresh()
  }

  /** As it is now; undefined where there is none. Asks the API server at most once until it ages. */
  async fresh(): Promise<KubeObject | undefined> {
    if (this.#isFresh) return this.#isGone ? undefined : this.#known
    const found = await read(this.#client, ROLES, this.#name).catch((error: Error) => {
      // It is our own role: without it, we may not even ask for it.
      if (this.#known && isForbidden(error)) return undefined
      throw error
    })
    this.#isGone = !found && this.#known !== undefined
    this.#known = found ?? this.#known
    this.#isFresh = true
    return found
  }
}
