import { isConflict } from '../../../shared/cluster/client.ts'
import { addFinalizer, removeFinalizer } from '../../../shared/cluster/finalizers.ts'
import { timestamp } from '../../../shared/cluster/resource.ts'
import { keyOf } from '../../../shared/cluster/watch.ts'
import { faultMessage } from '../../../shared/graph/fault.ts'
import { FINALIZER } from '../../../shared/graph/names.ts'
import { RESOURCE_GRAPH, type ResourceGraph } from '../../../shared/graph/resource-graph.ts'
import { inventoryIn } from '../../../shared/graph/stored-inventory.ts'
import {
  accountOf,
  intervalMs,
  TRANSFORM,
  type Transform,
} from '../../../shared/graph/transform.ts'
import { titleOf } from '../../../shared/graph-engine/node.ts'
import type { Release } from '../../../shared/graph-engine/prune/prune.ts'
import type { Executor, Work } from '../../executor/executor.ts'
import type { Observer } from '../../executor/observer.ts'
import type { Controller } from '../../manager/manager.ts'
import { type AccountFault, RIGHTS_AGAIN_MS } from '../enrolment.ts'
import { News } from '../news.ts'
import {
  RESOURCE_GRAPHS,
  resourceGraphOf,
  resourceOf,
  TRANSFORMS,
  transformOf,
} from '../sources.ts'
import { obstacleToDeleting } from './obstacle-to-deleting.ts'
import { inventoryOf, statusAfter, statusAtRest, statusWhileDeleting } from './status.ts'
import { StatusWriter, type StatusWriterOptions } from './status-writer.ts'

export interface ResourceGraphControllerOptions
  extends Pick<StatusWriterOptions, 'client' | 'store' | 'onStatus'> {
  readonly executor: Executor
  readonly observer: Observer
  readonly accountFault: AccountFault
  readonly isLeader: () => boolean
  /** Told of each object that is let go without being deleted. */
  readonly onReleased: (graph: ResourceGraph, release: Release) => void
  readonly onError: (key: string, error: Error) => void
}

const SOURCES = [RESOURCE_GRAPHS.id, TRANSFORMS.id]
const CONCURRENCY = 10
const CONFLICT_AGAIN_MS = 100

/** Applies each ResourceGraph, keeps what it applied, and deletes what left it; it renders nothing. */
export class ResourceGraphController implements Controller {
  readonly name = 'resourcegraphs'
  readonly sources = [RESOURCE_GRAPHS, TRANSFORMS]
  readonly concurrency = CONCURRENCY
  readonly onError: Controller['onError']
  readonly #options: ResourceGraphControllerOptions
  readonly #status: StatusWriter
  readonly #news = new News()

  constructor(options: ResourceGraphControllerOptions) {
    this.#options = options
    this.#status = new StatusWriter({ ...options, requireLeader: () => this.#requireLeader() })
    this.onError = (key, error) => options.onError(key, error)
  }

  resync(): Iterable<string> {
    return this.#options.store.objects(RESOURCE_GRAPHS.id).map(keyOf)
  }

  keysOf({ source, key }: { readonly source: string; readonly key?: string }) {
    const isOurs = source === RESOURCE_GRAPHS.id || source === TRANSFORMS.id
    if (!isOurs)
      return this.#options.observer.graphsOf(source, key).map((graph) => ({ key: graph }))
    if (key === undefined) return [...this.resync()].map((known) => ({ key: known }))
    const object = this.#options.store.object(source, key)
    return this.#news.isNews(`${source} ${key}`, object) ? [{ key }] : []
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { store, executor } = this.#options
    // Before all are read a Transform that is there would be taken for one that is gone.
    if (!store.isSynced(SOURCES)) return undefined
    const graph = resourceGraphOf(store, key)
    if (!graph) {
      executor.drop(key)
      this.#status.forget(key)
      return undefined
    }
    const transform = transformOf(store, key)
    const isIts = transform?.metadata.uid === graph.spec.sourceRef.uid
    const owner = isIts ? transform : undefined
    this.#status.begin(key, graph)
    try {
      return await (graph.metadata.deletionTimestamp
        ? this.#remove(key, graph, owner)
        : this.#apply(key, graph, owner))
    } catch (error) {
      if (!isConflict(error)) throw error
      // It was rendered anew meanwhile, or another leads: what is known of it is old.
      return CONFLICT_AGAIN_MS
    }
  }

  async #apply(
    key: string,
    graph: ResourceGraph,
    transform: Transform | undefined,
  ): Promise<number | undefined> {
    const { executor, observer, accountFault } = this.#options
    const rest = (reason: string, message: string) =>
      this.#status.write(key, graph, statusAtRest(graph, reason, message, timestamp()))
    if (!transform) return rest('TransformNotFound', 'there is no Transform of its name and uid')
    // What becomes of the graph is said by its own deletion, which comes next.
    if (transform.metadata.deletionTimestamp) return undefined
    if (transform.spec.suspend) return rest('Suspended', 'the Transform is suspended')
    const account = accountOf(transform)
    const fault = await accountFault(account, false)
    if (fault) return soonest([await rest(fault.reason, faultMessage(fault)), RIGHTS_AGAIN_MS])
    this.#requireLeader()
    // It was created with one, which `unregister graph` drops.
    const at = resourceOf(RESOURCE_GRAPH, graph.metadata.namespace)
    const held = await addFinalizer(this.#options.client, at, graph, FINALIZER)
    this.#status.begin(key, held)
    const step = await executor.apply({
      ...this.#work(key, graph, transform),
      graph: { nodes: graph.spec.nodes, isComplete: true },
      account,
    })
    this.#tell(graph, step.releases)
    const isWatched = observer.isWatched(key)
    const status = statusAfter(graph, { ...step, isWatched }, timestamp())
    const againInMs = await this.#status.write(key, graph, status)
    const unwatchedMs = isWatched ? undefined : intervalMs(transform)
    return soonest([againInMs, step.lookAgainInMs, unwatchedMs])
  }

  async #remove(
    key: string,
    graph: ResourceGraph,
    transform: Transform | undefined,
  ): Promise<number | undefined> {
    const { client, executor, observer, accountFault } = this.#options
    this.#requireLeader()
    const obstacle = await obstacleToDeleting(client, graph, transform)
    const release = async () => {
      const at = resourceOf(RESOURCE_GRAPH, graph.metadata.namespace)
      await removeFinalizer(client, at, graph, FINALIZER)
      return undefined
    }
    if (obstacle !== undefined || !transform) {
      this.#tell(graph, inventoryIn(graph).map(leftBehind(obstacle ?? '')))
      return release()
    }
    const account = accountOf(transform)
    const fault = await accountFault(account, true)
    // Who is to delete may still be given back; to leave everything there is a policy.
    if (fault && graph.spec.deletionPolicy !== 'Orphan') {
      const waiting = statusAtRest(graph, 'Deleting', faultMessage(fault), timestamp())
      return soonest([await this.#status.write(key, graph, waiting), RIGHTS_AGAIN_MS])
    }
    const teardown = await executor.remove({
      ...this.#work(key, graph, transform),
      graph: { nodes: [], isComplete: false },
      account,
    })
    this.#tell(graph, teardown.releases)
    if (teardown.isDone) return release()
    const status = statusWhileDeleting(graph, teardown, timestamp())
    const unwatchedMs = observer.isWatched(key) ? undefined : RIGHTS_AGAIN_MS
    return soonest([
      await this.#status.write(key, graph, status),
      teardown.lookAgainInMs,
      unwatchedMs,
    ])
  }

  #work(key: string, graph: ResourceGraph, transform: Transform): Omit<Work, 'graph' | 'account'> {
    const { name, namespace = '', uid = '' } = transform.metadata
    return {
      key,
      inventory: inventoryIn(graph),
      owner: { kind: TRANSFORM.kind, namespace, name, uid },
      deletionPolicy: graph.spec.deletionPolicy,
      save: async (inventory) => {
        await this.#status.save(key, graph, { ...graph.status, inventory: inventoryOf(inventory) })
      },
    }
  }

  #tell(graph: ResourceGraph, releases: readonly Release[]): void {
    for (const release of releases) this.#options.onReleased(graph, release)
  }

  #requireLeader(): void {
    if (!this.#options.isLeader()) throw new Error('the Lease is no longer ours')
  }
}

const leftBehind =
  (why: string) =>
  (item: Release['item']): Release => ({
    item,
    reason: 'Orphaned',
    message: `${titleOf(item)} is left as it is: ${why}`,
  })

const soonest = (times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
