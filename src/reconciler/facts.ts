import { type Catalog, kindKey } from '../shared/catalog/catalog.ts'
import type { Facts } from '../shared/catalog/facts.ts'
import {
  detectHardware,
  type Hardware,
  holdHardware,
  type NodeHardware,
  type StickyHardware,
} from '../shared/catalog/hardware.ts'
import { hcoFactsOf } from '../shared/catalog/hco-facts.ts'
import { identityOn } from '../shared/catalog/standing.ts'
import { countMachines, detectTopology } from '../shared/catalog/topology.ts'
import type { Served } from '../shared/cluster/discovery.ts'
import { type KindQuery, type KindSchema, schemaKey } from '../shared/cluster/schemas.ts'
import { isMap, type KubeObject } from '../shared/engine/object.ts'

/** Everything that facts are made of, read completely. */
export interface Observations {
  readonly hco: KubeObject
  readonly nodes: readonly KubeObject[]
  readonly infrastructure: KubeObject | undefined
  readonly scheduler: KubeObject | undefined
  readonly pools: readonly KubeObject[]
  readonly kubeletConfigs: readonly KubeObject[]
  readonly served: Served
  readonly schemas: ReadonlyMap<string, KindSchema>
  readonly images: Readonly<Record<string, string>>
}

export interface FactsNow {
  readonly facts: Facts
  readonly hardware: StickyHardware
}

/** Makes facts of observations; hardware keeps what it was for a while, see holdHardware. */
export function makeFacts(
  catalog: Catalog,
  observed: Observations,
  previous: StickyHardware | undefined,
  now: number,
): FactsNow {
  const hardware = holdHardware(previous, detectHardware(observed.nodes.map(hardwareOf)), now)
  const flags = Object.entries(hardware).map(([detector, { value }]) => [detector, value])
  const sources = {
    nodeLabels: observed.nodes.map(({ metadata }) => metadata.labels ?? {}),
    infrastructure: observed.infrastructure,
    scheduler: observed.scheduler,
    pools: observed.pools,
    kubeletConfigs: observed.kubeletConfigs,
    ownKubeletConfig: catalog.find(({ object }) => object.kind === 'KubeletConfig')?.object.name,
  }
  const known = {
    hco: hcoFactsOf(catalog, observed.hco),
    served: servedOf(catalog, observed.served),
  }
  return {
    hardware,
    facts: {
      ...known,
      hardware: Object.fromEntries(flags) as Hardware,
      topology: detectTopology(sources),
      pools: countMachines(sources),
      enums: enumsOf(catalog, known, observed.schemas),
      images: observed.images,
    },
  }
}

/** The schemas that the catalog needs on a cluster that serves these kinds. */
export const schemaQueries = (
  catalog: Catalog,
  known: Pick<Facts, 'served' | 'hco'>,
): readonly KindQuery[] => {
  const queries = catalog.flatMap((asset) => {
    const identity = identityOn(asset, known)
    return identity ? [{ ...identity, enumPointers: Object.values(asset.enums) }] : []
  })
  return [...Map.groupBy(queries, schemaKey).values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, enumPointers: [first, ...others].flatMap((q) => q.enumPointers) }] : [],
  )
}

/** The served versions of the kinds that the catalog names, in its assets and its conditions. */
export function servedOf(catalog: Catalog, served: Served): Facts['served'] {
  const kinds = catalog.flatMap(({ object, conditions }) => [
    object,
    ...conditions.filter((condition) => condition.type === 'crd'),
  ])
  const keys = [...new Set(kinds.map(kindKey))].sort()
  return Object.fromEntries(keys.map((key) => [key, served.get(key)?.versions ?? []]))
}

const hardwareOf = ({ metadata, status }: KubeObject): NodeHardware => {
  const capacity = isMap(status) && isMap(status.capacity) ? status.capacity : {}
  return { labels: metadata.labels ?? {}, capacity: capacity as Record<string, string> }
}

function enumsOf(
  catalog: Catalog,
  known: Pick<Facts, 'served' | 'hco'>,
  schemas: Observations['schemas'],
): Facts['enums'] {
  const enums = catalog.flatMap((asset) => {
    const identity = identityOn(asset, known)
    const names = Object.entries(asset.enums)
    if (!identity || names.length === 0) return []
    const found = schemas.get(schemaKey(identity))?.enums ?? {}
    return [[asset.name, Object.fromEntries(names.map(([name, at]) => [name, found[at] ?? []]))]]
  })
  return Object.fromEntries(enums)
}
