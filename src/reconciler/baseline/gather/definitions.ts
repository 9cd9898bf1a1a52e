import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../../shared/baseline/facts/facts.ts'
import type { Served } from '../../../shared/cluster/discovery.ts'
import type { KubeObject } from '../../../shared/engine/json/object.ts'
import { kindsIn } from './facts.ts'

/** The CustomResourceDefinitions of the catalog's groups: they tell what discovery will say a moment later. */
export class Definitions {
  readonly #groups: ReadonlySet<string>
  readonly #all: () => readonly KubeObject[]
  readonly #seen = new Set<string>()
  #versions = ''

  /** `all` gives every definition of the cluster. */
  constructor(catalog: Catalog, all: () => readonly KubeObject[]) {
    const kinds = [...Object.values(FACT_SOURCES), ...kindsIn(catalog)]
    this.#groups = new Set(kinds.map(({ group }) => group))
    this.#all = all
  }

  /** Whether a definition changed since this was last asked. */
  hasChanged(): boolean {
    const before = this.#versions
    const relevant = this.#relevant().map(({ metadata }) => metadata)
    this.#versions = relevant.map((one) => `${one.name}@${one.resourceVersion}`).join()
    return this.#versions !== before
  }

  /** The served kinds without those that are being deleted: discovery lists them on, but they take no new object. */
  withoutEnding(served: Served): Served {
    const names = this.#present()
    for (const name of names) this.#seen.add(name)
    const isEnding = (name: string) => this.#seen.has(name) && !names.has(name)
    return new Map([...served].filter((entry) => !isEnding(definitionName(entry))))
  }

  /** Whether discovery lacks what a definition says is served. */
  isAheadOf(served: Served): boolean {
    const found = new Set([...served].map(definitionName))
    return [...this.#present()].some((name) => !found.has(name))
  }

  #present(): ReadonlySet<string> {
    const lasting = this.#relevant().filter(({ metadata }) => !metadata.deletionTimestamp)
    return new Set(lasting.map(({ metadata }) => metadata.name))
  }

  #relevant(): readonly KubeObject[] {
    return this.#all().filter(({ metadata }) => this.#groups.has(groupOf(metadata.name)))
  }
}

// A definition is named after its resource and its group.
const groupOf = (name: string) => name.slice(name.indexOf('.') + 1)

const definitionName = ([key, { resource }]: readonly [string, { readonly resource: string }]) =>
  `${resource}.${key.slice(0, key.lastIndexOf('/'))}`
