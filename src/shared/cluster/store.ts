import { isEqual } from '../engine/json/equal.ts'
import type { KubeObject } from '../engine/json/object.ts'
import type { Client } from './client.ts'
import { keyOf, type WatchInput, watch } from './watch.ts'

/** One collection, or one object of it, to be followed. */
export interface Source extends Pick<WatchInput, 'at' | 'name' | 'labelSelector' | 'metadataOnly'> {
  /** Names the source in callbacks; a source whose other members changed is watched anew. */
  readonly id: string
  /** Keeps only what is needed of a large object. */
  readonly project?: (object: KubeObject) => KubeObject
  /** As whom it is read; by default as the store's own client. Of one id it must always be the same. */
  readonly client?: Client
}

export interface StoreOptions {
  readonly client: Client
  /** What is kept of the object of this key changed; without a key, the source was read for the first time, or again after a trouble. */
  readonly onChange: (id: string, key?: string) => void
  readonly onTrouble: (id: string, error: Error) => void
}

interface Running {
  readonly description: string
  readonly objects: Map<string, KubeObject>
  readonly abort: AbortController
  isSynced: boolean
}

/** The watches of one process, started and stopped as the cluster begins and ends to serve their kinds. */
export class Store {
  readonly #options: StoreOptions
  readonly #running = new Map<string, Running>()
  readonly #wanted = new Map<string, readonly Source[]>()
  #isStopped = false

  constructor(options: StoreOptions) {
    this.#options = options
  }

  /** Follows for this user exactly these sources from now on; what another follows stays. */
  follow(user: string, sources: readonly Source[]): void {
    if (this.#isStopped) return
    if (sources.length > 0) this.#wanted.set(user, sources)
    else this.#wanted.delete(user)
    const all = [...this.#wanted.values()].flat()
    const wanted = new Map(all.map((source) => [source.id, source]))
    for (const [id, running] of this.#running) {
      const source = wanted.get(id)
      if (source && describe(source) === running.description) continue
      running.abort.abort()
      this.#running.delete(id)
    }
    for (const [id, source] of wanted) if (!this.#running.has(id)) this.#start(source)
  }

  /** Whether every one of these sources was read completely at least once. */
  isSynced(ids: readonly string[]): boolean {
    return ids.every((id) => this.#running.get(id)?.isSynced ?? false)
  }

  /** The sources that are followed and were not read completely yet. */
  unread(): readonly string[] {
    return [...this.#running].flatMap(([id, { isSynced }]) => (isSynced ? [] : [id]))
  }

  /** Whether the source is being followed at all. */
  has(id: string): boolean {
    return this.#running.has(id)
  }

  objects(id: string): readonly KubeObject[] {
    return [...(this.#running.get(id)?.objects.values() ?? [])]
  }

  /** One object of a source, by its key; without one, the only object of a source that follows one by name. */
  object(id: string, key?: string): KubeObject | undefined {
    return key === undefined ? this.objects(id)[0] : this.#running.get(id)?.objects.get(key)
  }

  /** Puts in what a write of ours returned, so that nobody plans from an older object; what the watch has seen since is newer. */
  update(id: string, object: KubeObject): void {
    const objects = this.#running.get(id)?.objects
    const known = objects?.get(keyOf(object))
    if (known && isSuccessor(object, known)) objects?.set(keyOf(object), object)
  }

  /** Follows nothing any more, whoever asks. */
  stop(): void {
    for (const user of [...this.#wanted.keys()]) this.follow(user, [])
    this.#isStopped = true
  }

  #start(source: Source): void {
    const { client, onChange, onTrouble } = this.#options
    const running: Running = {
      description: describe(source),
      objects: new Map(),
      abort: new AbortController(),
      isSynced: false,
    }
    this.#running.set(source.id, running)
    const project = source.project ?? ((object: KubeObject) => object)
    void watch({
      client,
      ...source,
      signal: running.abort.signal,
      onChange(key, object) {
        const kept = object && project(object)
        // Most changes of a large object are in what is not kept of it.
        const isNews = !source.project || !isEqual(running.objects.get(key), kept)
        if (kept) running.objects.set(key, kept)
        else running.objects.delete(key)
        if (running.isSynced && isNews) onChange(source.id, key)
      },
      onSync() {
        if (running.isSynced) return
        running.isSynced = true
        onChange(source.id)
      },
      onTrouble: (error) => onTrouble(source.id, error),
      onRecovery() {
        if (running.isSynced) onChange(source.id)
      },
    })
  }
}

// Resource versions of one object can be compared as numbers: KEP-5504.
const isSuccessor = ({ metadata: next }: KubeObject, { metadata: known }: KubeObject) =>
  next.uid === known.uid && Number(next.resourceVersion) > Number(known.resourceVersion)

const describe = ({ at, name, labelSelector, metadataOnly }: Source) =>
  JSON.stringify([at, name, labelSelector, metadataOnly])
