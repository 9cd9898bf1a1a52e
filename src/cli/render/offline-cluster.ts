import type { Observations } from '../../reconciler/baseline/gather/facts.ts'
import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../shared/baseline/facts/facts.ts'
import { groupOf, type KubeObject, titleOf } from '../../shared/engine/json/object.ts'
import { servedOffline } from './served-offline.ts'

/** A cluster as somebody describes it, where there is none to ask. */
export interface OfflineCluster extends Pick<Observations, 'hco' | 'schemas' | 'images'> {
  /** Objects that facts are read from. */
  readonly objects: readonly KubeObject[]
  /** API groups that it does not serve; all others that the catalog names it does. */
  readonly withoutApis: readonly string[]
}

/** What would be observed on such a cluster; throws an Error that names what in its description makes no sense. */
export function observationsOf(catalog: Catalog, cluster: OfflineCluster): Observations {
  const { hco, objects, schemas, images } = cluster
  const stranger = objects.find((object) => !SOURCES.some((source) => isFrom(source, object)))
  if (stranger) throw new Error(`--nodes: ${titleOf(stranger)} ${whyStrange(stranger)}`)
  const objectsOf = (id: SourceId) => objects.filter((object) => isFrom(FACT_SOURCES[id], object))
  return {
    hco,
    nodes: objectsOf('nodes'),
    infrastructure: objectsOf('infrastructure')[0],
    scheduler: objectsOf('scheduler')[0],
    pools: objectsOf('pools'),
    kubeletConfigs: objectsOf('kubeletConfigs'),
    machineConfiguration: objectsOf('machineConfiguration')[0],
    otherAutopilot: undefined,
    served: servedOffline(catalog, cluster),
    schemas,
    images,
  }
}

type SourceId = Exclude<keyof typeof FACT_SOURCES, 'hco'>

interface Source {
  readonly group: string
  readonly kind: string
  readonly name?: string
}

const { hco: HCO, ...OTHERS } = FACT_SOURCES
const SOURCES: readonly Source[] = Object.values(OTHERS)

const isOfKind = ({ group, kind }: Source, object: KubeObject) =>
  object.kind === kind && groupOf(object.apiVersion) === group

const isFrom = (source: Source, object: KubeObject) =>
  isOfKind(source, object) && (source.name === undefined || object.metadata.name === source.name)

function whyStrange(object: KubeObject): string {
  if (isOfKind(HCO, object)) return 'is to be given with --hco'
  const source = SOURCES.find((candidate) => isOfKind(candidate, object))
  if (source) return `is not the one that facts are read from, which is named ${source.name}`
  const kinds = SOURCES.map(({ kind }) => kind).join(', ')
  return `is of no kind that facts are read from, which are ${kinds}`
}
