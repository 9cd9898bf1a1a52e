import type { Client } from '../../../shared/cluster/client.ts'
import { apply } from '../../../shared/cluster/resource.ts'
import type { Store } from '../../../shared/cluster/store.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import {
  RESOURCE_GRAPH,
  type ResourceGraph,
  type ResourceGraphStatus,
} from '../../../shared/graph/resource-graph.ts'
import { RESOURCE_GRAPHS, resourceGraphOf, resourceOf } from '../sources.ts'

export interface StatusWriterOptions {
  readonly client: Client
  readonly store: Store
  /** Asked before each write; throws where another leads. */
  readonly requireLeader: () => void
  /** Told of each status as it is written. */
  readonly onStatus: (graph: ResourceGraph, status: ResourceGraphStatus) => void
}

// Of one graph: what happens in between is told with what comes next.
const STATUS_MS = 1_000

/** Writes the status of ResourceGraphs: their inventories at once, and only over what they were made from; all else once a second. */
export class StatusWriter {
  readonly #options: StatusWriterOptions
  readonly #writtenAt = new Map<string, number>()
  /** The version that a write must find: an inventory that is lost would be objects that are lost. */
  readonly #versions = new Map<string, string | undefined>()

  constructor(options: StatusWriterOptions) {
    this.#options = options
  }

  /** From now on a write of this graph's status must find this version of it. */
  begin(key: string, { metadata: { resourceVersion } }: Pick<ResourceGraph, 'metadata'>): void {
    this.#versions.set(key, resourceVersion)
  }

  forget(key: string): void {
    this.#writtenAt.delete(key)
    this.#versions.delete(key)
  }

  /** Writes a status where it says something else; after how many milliseconds it is to be written, where that is too soon. */
  async write(
    key: string,
    graph: ResourceGraph,
    status: ResourceGraphStatus,
  ): Promise<number | undefined> {
    const current = resourceGraphOf(this.#options.store, key) ?? graph
    if (isEqual(status, current.status)) return undefined
    const now = performance.now()
    const dueAt = (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) + STATUS_MS
    // What was made is noted at once.
    const isMade = !isEqual(status.inventory, current.status?.inventory)
    if (now < dueAt && !isMade) return dueAt - now
    this.#writtenAt.set(key, now)
    await this.save(key, graph, status)
    this.#options.onStatus(graph, status)
    return undefined
  }

  /** Writes a status, whenever the last one was; ApiError 409 where the graph is not the one that it was made from. */
  async save(key: string, graph: ResourceGraph, status: ResourceGraphStatus): Promise<void> {
    const { client, store, requireLeader } = this.#options
    requireLeader()
    const { apiVersion, kind, metadata } = graph
    const { name, namespace, uid } = metadata
    const resourceVersion = this.#versions.get(key)
    const identity = {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    }
    const stored = await apply(
      client,
      resourceOf(RESOURCE_GRAPH, namespace),
      { apiVersion, kind, metadata: identity, status },
      { subresource: 'status' },
    )
    this.begin(key, stored)
    store.update(RESOURCE_GRAPHS.id, stored)
  }
}
