import { ApiError, type Client, isNotFound, isNotServed } from '../../shared/cluster/client.ts'
import { impersonate } from '../../shared/cluster/impersonate.ts'
import { pathOf, type Resource } from '../../shared/cluster/resource.ts'
import type { ServedKinds } from '../../shared/cluster/served-kinds.ts'
import type { Source, Store } from '../../shared/cluster/store.ts'
import { type Account, accountUser } from '../../shared/engine/identity.ts'
import { annotationOf, groupOf, type KubeObject } from '../../shared/engine/json/object.ts'
import { keyOf, type ObjectRef } from '../../shared/graph-engine/node.ts'
import type { MarkNames } from '../../shared/graph-engine/ownership.ts'
import type { Observation } from '../../shared/graph-engine/step/observed.ts'
import { inParallel } from './in-parallel.ts'

export interface ObserverOptions {
  /** Our own; every object is read and watched in the name of an account. */
  readonly client: Client
  readonly store: Store
  readonly kinds: ServedKinds
  readonly names: MarkNames
}

/** What is known of the objects of one graph. */
interface View {
  readonly account: Account
  /** The watch that an object is in, by the object's key. */
  readonly sources: ReadonlyMap<string, Source>
  /** As each was read or written last, by key. */
  readonly objects: Map<string, KubeObject>
}

const SOURCE = 'objects '

/**
 * What graphs' objects look like: watched by their metadata, one watch for each account, kind and namespace, whatever number of graphs;
 * and read as a whole where the watch knows a version that was not read.
 */
export class Observer {
  readonly #options: ObserverOptions
  readonly #views = new Map<string, View>()
  /** The watches that fail: what was in them is read object by object. */
  readonly #troubled = new Set<string>()

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  /** The graphs that a change of a source concerns. */
  graphsOf(source: string, object: string | undefined): readonly string[] {
    if (!source.startsWith(SOURCE)) return []
    this.#troubled.delete(source)
    const concerns = ({ sources }: View) =>
      [...sources].some(
        ([key, { id }]) => id === source && (object === undefined || key.endsWith(`/${object}`)),
      )
    return [...this.#views].flatMap(([graph, view]) => (concerns(view) ? [graph] : []))
  }

  /** Takes note of a source that cannot be read: what it holds is read object by object. Returns whether it is one of these watches. */
  noteTrouble(source: string): boolean {
    if (!source.startsWith(SOURCE)) return false
    this.#troubled.add(source)
    return true
  }

  /** Whether all objects of a graph are watched: a change of any other is only found by looking. */
  isWatched(graph: string): boolean {
    const sources = this.#views.get(graph)?.sources.values() ?? []
    return [...sources].every(({ id }) => !this.#troubled.has(id))
  }

  /** Watches these objects for a graph from now on, and no others; reads those of which too little is known. */
  async observe(
    graph: string,
    account: Account,
    refs: readonly ObjectRef[],
  ): Promise<ReadonlyMap<string, Observation>> {
    await this.#options.kinds.learn(refs)
    const sources = new Map(
      refs.flatMap((ref) => {
        const source = this.#sourceFor(account, ref)
        return source ? [[keyOf(ref), source] as const] : []
      }),
    )
    const objects = this.#views.get(graph)?.objects ?? new Map<string, KubeObject>()
    for (const key of objects.keys()) if (!sources.has(key)) objects.delete(key)
    const view = { account, sources, objects }
    this.#views.set(graph, view)
    const distinct = new Map([...sources.values()].map((source) => [source.id, source]))
    this.#options.store.follow(`graph ${graph}`, [...distinct.values()])
    return new Map(
      await inParallel(refs, async (ref) => [keyOf(ref), await this.#look(view, ref)] as const),
    )
  }

  /** Watches nothing for a graph any more. */
  drop(graph: string): void {
    this.#views.delete(graph)
    this.#options.store.follow(`graph ${graph}`, [])
  }

  /** Takes note of what a write of ours left; `undefined` where it is to be read again. */
  noteWritten(graph: string, key: string, object: KubeObject | undefined): void {
    const objects = this.#views.get(graph)?.objects
    if (object) objects?.set(key, this.#kept(object))
    else objects?.delete(key)
  }

  async #look(view: View, ref: ObjectRef): Promise<Observation> {
    const key = keyOf(ref)
    const source = view.sources.get(key)
    if (!source) {
      const reason = `${ref.apiVersion} ${ref.kind} is not served`
      return { state: 'unreadable', reason, isUnserved: true }
    }
    const known = view.objects.get(key)
    const isWatched = !this.#troubled.has(source.id)
    if (known && isWatched && this.#isCurrent(source.id, known))
      return { state: 'present', object: known }
    return this.#read(view, ref, source)
  }

  /** Whether the watch knows this version, or an older one of the same object. */
  #isCurrent(source: string, { metadata }: KubeObject): boolean {
    const { namespace, name, uid, resourceVersion } = metadata
    const seen = this.#options.store.object(source, namespace ? `${namespace}/${name}` : name)
    // Resource versions of one object can be compared as numbers: KEP-5504.
    return (
      seen?.metadata.uid === uid &&
      Number(resourceVersion) >= Number(seen?.metadata.resourceVersion)
    )
  }

  async #read(view: View, ref: ObjectRef, source: Source): Promise<Observation> {
    const { account, objects } = view
    const { client, kinds } = this.#options
    try {
      const { body } = await impersonate(client, account).send(pathOf(source.at, ref.name))
      const object = body as KubeObject
      objects.set(keyOf(ref), this.#kept(object))
      return { state: 'present', object }
    } catch (error) {
      if (isNotServed(error)) kinds.forget()
      else if (isNotFound(error)) {
        objects.delete(keyOf(ref))
        return { state: 'absent' }
      }
      // One that answers with a fault keeps no other from being looked at.
      if (!(error instanceof ApiError)) throw error
      return { state: 'unreadable', reason: refusalOf(account, source.at, error) }
    }
  }

  #at({ apiVersion, kind, namespace }: ObjectRef): Resource | undefined {
    return this.#options.kinds.resourceOf({ apiVersion, kind }, namespace)
  }

  #sourceFor({ namespace, name }: Account, ref: ObjectRef): Source | undefined {
    const at = this.#at(ref)
    if (!at) return undefined
    const { client, names } = this.#options
    return {
      id: `${SOURCE}${namespace}/${name} ${at.apiVersion}/${at.resource} ${at.namespace ?? ''}`,
      at,
      labelSelector: names.ownerLabel,
      metadataOnly: true,
      client: impersonate(client, { namespace, name }),
      project: versionOf,
    }
  }

  // Of a stranger's object it is told who manages it; of ours it is enough which fields are still ours, and that is half of its size.
  #kept(object: KubeObject): KubeObject {
    const { names } = this.#options
    if (annotationOf(object, names.ownerAnnotation) === undefined) return object
    const { managedFields = [], ...metadata } = object.metadata
    const own = managedFields.filter(({ manager }) =>
      manager?.startsWith(`${names.fieldManagerPrefix}:`),
    )
    return { ...object, metadata: { ...metadata, managedFields: own } }
  }
}

const versionOf = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => {
  const { name, namespace, uid, resourceVersion } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

/** What the API server refused, and where an account's rights were wanting the command that gives them. */
export function refusalOf(account: Account, at: Resource, error: ApiError): string {
  const [, verb] = / cannot (?!impersonate)(\w+) resource /.exec(error.message) ?? []
  if (verb === undefined) return error.message
  const { namespace, name } = account
  const { resource, apiVersion } = at
  const [role, place] =
    at.namespace === undefined ? ['clusterrole', ''] : ['role', ` -n ${at.namespace}`]
  const group = groupOf(apiVersion)
  const own = `${name}-${resource}`
  const binding = at.namespace === namespace ? own : `${namespace}-${own}`
  return `${accountUser(namespace, name)} may not ${verb} ${resource}${at.namespace === undefined ? '' : ` in ${at.namespace}`}; to allow it: kubectl create ${role} ${binding}${place} --verb=get,list,watch,create,patch,delete --resource=${resource}${group && `.${group}`} && kubectl create ${role}binding ${binding}${place} --${role}=${binding} --serviceaccount=${namespace}:${name}`
}
