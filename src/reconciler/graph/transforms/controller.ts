import { apiVersionOf } from '../../../shared/api/custom-resource.ts'
import { ApiError } from '../../../shared/cluster/client.ts'
import { addFinalizer } from '../../../shared/cluster/finalizers.ts'
import { impersonate } from '../../../shared/cluster/impersonate.ts'
import { apply, timestamp } from '../../../shared/cluster/resource.ts'
import type { Source, Store } from '../../../shared/cluster/store.ts'
import { keyOf } from '../../../shared/cluster/watch.ts'
import { isEqual } from '../../../shared/engine/json/equal.ts'
import { type Fault, isStalled } from '../../../shared/graph/fault.ts'
import { FINALIZER } from '../../../shared/graph/names.ts'
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
import { sha256 } from '../../../shared/ops/digest.ts'
import type { Controller } from '../../manager/manager.ts'
import { RIGHTS_AGAIN_MS } from '../enrolment.ts'
import { News } from '../news.ts'
import {
  RESOURCE_GRAPHS,
  resourceGraphOf,
  resourceOf,
  TRANSFORMS,
  transformOf,
} from '../sources.ts'
import { decideTransform } from './decide.ts'
import { finalizeTransform } from './finalize.ts'
import { type GatherDeps, gather } from './gather.ts'
import { configMapsIn } from './load-module.ts'

export interface TransformControllerOptions extends GatherDeps {
  readonly store: Store
  /** Where they come from. */
  readonly policiesSource: Source
  readonly isLeader: () => boolean
  /** Told what is to be known of a Transform after each write. */
  readonly onStatus: (transform: Transform, status: TransformStatus) => void
  readonly onError: (key: string, error: Error) => void
}

/** What the sources of modules' ConfigMaps begin with, and who follows them. */
export const MODULE = 'module '
const BUSY_AGAIN_MS = 2_000
const CONCURRENCY = 10

/** Renders each Transform to its ResourceGraph, and nothing else: another controller applies that. */
export class TransformController implements Controller {
  readonly name = 'transforms'
  readonly sources: readonly Source[]
  readonly concurrency = CONCURRENCY
  readonly onError: Controller['onError']
  readonly #options: TransformControllerOptions
  readonly #news = new News()

  constructor(options: TransformControllerOptions) {
    this.#options = options
    this.sources = [TRANSFORMS, RESOURCE_GRAPHS, options.policiesSource]
    this.onError = (key, error) => options.onError(key, error)
  }

  resync(): Iterable<string> {
    return this.#options.store.objects(TRANSFORMS.id).map(keyOf)
  }

  keysOf({ source, key }: { readonly source: string; readonly key?: string }) {
    if (source.startsWith(MODULE)) return this.#ofModule(source)
    if (!this.#ids().includes(source)) return []
    if (key === undefined || source === this.#options.policiesSource.id)
      return [...this.resync()].map((known) => ({ key: known }))
    // What a graph says of itself is what the Transform says, too.
    const isNews =
      source === RESOURCE_GRAPHS.id || this.#news.isNews(key, transformOf(this.#options.store, key))
    return isNews ? [{ key }] : []
  }

  #ids(): readonly string[] {
    return this.sources.map(({ id }) => id)
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
    if (!store.isSynced(this.#ids())) return undefined
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
    const gathered = await gather(transform, this.#options)
    if (gathered === 'busy') return BUSY_AGAIN_MS
    this.#followModule(transform, gathered.fault)
    const input = { ...gathered, transform, graph, now: timestamp(), digest: sha256 }
    const decision = decideTransform(input)
    const isNew = decision.spec && !isEqual(decision.spec, graph?.spec)
    const refused = isNew && (await this.#applyGraph(transform, decision.spec, graph))
    const { status } = refused ? decideTransform({ ...input, fault: refused }) : decision
    await this.#writeStatus(transform, status)
    return againInMs(transform, refused || (gathered.fault ?? gathered.rendering?.fault))
  }

  /** Has a pass made when the ConfigMap of the module changes. */
  #followModule(transform: Transform, fault: Fault | undefined): void {
    const { client, store } = this.#options
    if (fault?.reason === 'NotEnrolled' || fault?.reason === 'AccountNotFound') return
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
  ): Promise<Fault | undefined> {
    const { client } = this.#options
    // Its objects are still being deleted; its successor begins when it is gone.
    if (before?.metadata.deletionTimestamp) return undefined
    this.#requireLeader()
    const applied = apply(client, resourceOf(RESOURCE_GRAPH, namespace), {
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
    return applied.then(
      () => undefined,
      (error) => {
        if (!isRefusal(error)) throw error
        return { reason: 'GraphInvalid', causes: [{ field: '', message: error.message }] }
      },
    )
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

function againInMs(transform: Transform, fault: Fault | undefined): number {
  const isAwaited = fault && !isStalled(fault) && fault.reason !== 'Suspended'
  return isAwaited ? RIGHTS_AGAIN_MS : intervalMs(transform)
}

// Asked again it would be so again.
const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 413, 422].includes(error.status)
