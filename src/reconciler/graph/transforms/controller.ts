import { apiVersionOf } from '../../../shared/api/custom-resource.ts'
import type { Client } from '../../../shared/cluster/client.ts'
import { addFinalizer } from '../../../shared/cluster/finalizers.ts'
import { impersonate } from '../../../shared/cluster/impersonate.ts'
import { apply, timestamp } from '../../../shared/cluster/resource.ts'
import type { ServedKinds } from '../../../shared/cluster/served-kinds.ts'
import type { Store } from '../../../shared/cluster/store.ts'
import { keyOf } from '../../../shared/cluster/watch.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import { isKubeObject, type JsonMap, memberOf } from '../../../shared/engine/json/object.ts'
import { type Fault, isStalled } from '../../../shared/graph/fault.ts'
import type { EmbeddedModules } from '../../../shared/graph/local-module.ts'
import { FINALIZER } from '../../../shared/graph/names.ts'
import { renderingOf } from '../../../shared/graph/rendering.ts'
import {
  RESOURCE_GRAPH,
  type ResourceGraph,
  type ResourceGraphSpec,
} from '../../../shared/graph/resource-graph.ts'
import {
  accountOf,
  intervalMs,
  TRANSFORM,
  type Transform,
  type TransformStatus,
} from '../../../shared/graph/transform.ts'
import type { Evaluator } from '../../../shared/modules/evaluator.ts'
import type { Module } from '../../../shared/modules/module.ts'
import { sha256 } from '../../../shared/ops/digest.ts'
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
import { decideTransform, type TransformInput } from './decide.ts'
import { finalizeTransform } from './finalize.ts'
import { configMapsIn, loadModule } from './load-module.ts'

export interface TransformControllerOptions {
  readonly client: Client
  readonly store: Store
  readonly kinds: ServedKinds
  readonly evaluator: Evaluator
  readonly embedded: EmbeddedModules
  /** The platform's policies. */
  readonly policies: () => Module | undefined
  readonly accountFault: AccountFault
  readonly isLeader: () => boolean
  /** Told what is to be known of a Transform after each write. */
  readonly onStatus: (transform: Transform, status: TransformStatus) => void
  readonly onError: (key: string, error: Error) => void
}

/** What the sources of modules' ConfigMaps begin with, and who follows them. */
export const MODULE = 'module '
const EVALUATION_MS = 5_000
// Who waits for others of its own namespace takes no place from those of other namespaces meanwhile.
const TURN_MS = 500
const BUSY_AGAIN_MS = 2_000
const SUSPENDED: Fault = {
  reason: 'Suspended',
  causes: [{ field: 'spec.suspend', message: 'while it is true nothing is applied or pruned' }],
}
const CONCURRENCY = 10

/** Renders each Transform to its ResourceGraph, and nothing else: another controller applies that. */
export class TransformController implements Controller {
  readonly name = 'transforms'
  readonly sources = [TRANSFORMS, RESOURCE_GRAPHS]
  readonly concurrency = CONCURRENCY
  readonly onError: Controller['onError']
  readonly #options: TransformControllerOptions
  readonly #news = new News()

  constructor(options: TransformControllerOptions) {
    this.#options = options
    this.onError = (key, error) => options.onError(key, error)
  }

  resync(): Iterable<string> {
    return this.#options.store.objects(TRANSFORMS.id).map(keyOf)
  }

  keysOf({ source, key }: { readonly source: string; readonly key?: string }) {
    if (source.startsWith(MODULE)) return this.#ofModule(source)
    if (source !== TRANSFORMS.id && source !== RESOURCE_GRAPHS.id) return []
    if (key === undefined) return [...this.resync()].map((known) => ({ key: known }))
    // What a graph says of itself is what the Transform says, too.
    const isNews =
      source === RESOURCE_GRAPHS.id || this.#news.isNews(key, transformOf(this.#options.store, key))
    return isNews ? [{ key }] : []
  }

  #ofModule(source: string) {
    const transforms = this.#options.store.objects(TRANSFORMS.id) as readonly Transform[]
    const isOf = (transform: Transform) => {
      const { namespace, name } = accountOf(transform)
      return source === `${MODULE}${namespace}/${name}/${transform.spec.cueRef.ref}`
    }
    return transforms.filter(isOf).map((transform) => ({ key: keyOf(transform) }))
  }

  async reconcile(key: string): Promise<number | undefined> {
    const { client, store } = this.#options
    // Each sync has all of them worked on.
    if (!store.isSynced([TRANSFORMS.id, RESOURCE_GRAPHS.id])) return undefined
    const transform = transformOf(store, key)
    if (!transform) {
      store.follow(`${MODULE}${key}`, [])
      return undefined
    }
    this.#requireLeader()
    if (transform.metadata.deletionTimestamp) {
      await this.#writeStatus(transform, await finalizeTransform(client, transform))
      return undefined
    }
    const at = resourceOf(TRANSFORM, transform.metadata.namespace)
    await addFinalizer(client, at, transform, FINALIZER)
    const graph = resourceGraphOf(store, key)
    const gathered = await this.#gather(transform)
    if (gathered === 'busy') return BUSY_AGAIN_MS
    const now = timestamp()
    const decision = decideTransform({ ...gathered, transform, graph, now, digest: sha256 })
    if (decision.spec && !isEqual(decision.spec, graph?.spec))
      await this.#applyGraph(transform, decision.spec, graph)
    await this.#writeStatus(transform, decision.status)
    const fault = gathered.fault ?? gathered.rendering?.fault
    const isAwaited = fault && !isStalled(fault) && fault.reason !== 'Suspended'
    return isAwaited ? RIGHTS_AGAIN_MS : intervalMs(transform)
  }

  async #gather(
    transform: Transform,
  ): Promise<Pick<TransformInput, 'fault' | 'module' | 'rendering'> | 'busy'> {
    const { client, kinds, embedded, evaluator, policies, accountFault } = this.#options
    const { metadata, status } = transform
    const { name, namespace = '' } = metadata
    if (transform.spec.suspend) return { fault: SUSPENDED }
    const account = accountOf(transform)
    const fault = await accountFault(account, status?.observedGeneration !== metadata.generation)
    if (fault) return { fault }
    this.#followModule(transform)
    const found = await loadModule(transform, { client: impersonate(client, account), embedded })
    if (!found.ok) return { fault: found.error }
    const module = found.value
    const platform = policies()
    const outcome = await evaluator.evaluate(
      {
        module,
        input: transform.spec.input,
        context: { name, namespace },
        ...(platform && { policies: platform }),
      },
      { deadlineMs: EVALUATION_MS, waitMs: TURN_MS, turnOf: namespace },
    )
    if (outcome.kind === 'Busy') return 'busy'
    if (outcome.kind === 'Rendered') await kinds.learn(outcome.nodes.flatMap(kindOf))
    const rendering = renderingOf({
      spec: transform.spec,
      namespace,
      outcome,
      isClusterScoped: (apiVersion, kind) => kinds.isClusterScoped({ apiVersion, kind }),
    })
    return { module, rendering }
  }

  /** Has a pass made when the ConfigMap of the module changes. */
  #followModule(transform: Transform): void {
    const { client, store } = this.#options
    const { type, ref: name } = transform.spec.cueRef
    const account = accountOf(transform)
    const source = {
      id: `${MODULE}${account.namespace}/${account.name}/${name}`,
      at: configMapsIn(account.namespace),
      name,
      metadataOnly: true,
      client: impersonate(client, account),
    }
    store.follow(`${MODULE}${keyOf(transform)}`, type === 'configmap' ? [source] : [])
  }

  async #applyGraph(
    { apiVersion, kind, metadata: { name, namespace, uid } }: Transform,
    spec: ResourceGraphSpec,
    before: ResourceGraph | undefined,
  ): Promise<void> {
    const { client } = this.#options
    // Its objects are still being deleted; its successor begins when it is gone.
    if (before?.metadata.deletionTimestamp) return
    this.#requireLeader()
    await apply(client, resourceOf(RESOURCE_GRAPH, namespace), {
      apiVersion: apiVersionOf(RESOURCE_GRAPH),
      kind: RESOURCE_GRAPH.kind,
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(before?.metadata.uid && { uid: before.metadata.uid }),
        finalizers: [FINALIZER],
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
      },
      spec,
    })
  }

  async #writeStatus(transform: Transform, status: TransformStatus | undefined): Promise<void> {
    const { client, store, onStatus } = this.#options
    if (!status || isEqual(status, transform.status)) return
    this.#requireLeader()
    const { apiVersion, kind, metadata } = transform
    const { name, namespace, uid } = metadata
    const stored = await apply(
      client,
      resourceOf(TRANSFORM, namespace),
      {
        apiVersion,
        kind,
        metadata: { name, ...(namespace && { namespace }), ...(uid && { uid }) },
        status,
      },
      { subresource: 'status' },
    )
    store.update(TRANSFORMS.id, stored)
    onStatus(transform, status)
  }

  #requireLeader(): void {
    if (!this.#options.isLeader()) throw new Error('the Lease is no longer ours')
  }
}

// What is no object yet is judged with the graph.
const kindOf = (node: JsonMap) => {
  const object = memberOf(node, 'object')
  return isKubeObject(object) ? [object] : []
}
