import { closest } from 'fastest-levenshtein'
import { type Observations, observedIn } from '../../reconciler/baseline/gather/facts.ts'
import {
  type Catalog,
  conditionsOf,
  isHyperConverged,
  kindKey,
} from '../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES, type FactSource } from '../../shared/baseline/facts/facts.ts'
import type { Served } from '../../shared/cluster/discovery.ts'
import { formatValue } from '../../shared/engine/format-value.ts'
import { groupOf, type KubeObject, titleOf } from '../../shared/engine/json/object.ts'
import { UsageError } from '../run-cli.ts'

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
  const stranger = objects.find((object) => isOfKind(HCO, object))
  if (stranger) throw new Error(`--nodes: ${titleOf(stranger)} is to be given with --hco`)
  return {
    hco,
    ...observedIn((id) => objects.filter((object) => isFrom(FACT_SOURCES[id], object))),
    otherAutopilot: undefined,
    served: servedOffline(catalog, cluster),
    schemas,
    images,
  }
}

const { hco: HCO, ...OTHERS } = FACT_SOURCES
const SOURCES = Object.values(OTHERS)

const isOfKind = ({ group, kind }: FactSource, object: KubeObject) =>
  object.kind === kind && groupOf(object.apiVersion) === group

const isFrom = (source: FactSource, object: KubeObject) =>
  isOfKind(source, object) && (source.name === undefined || object.metadata.name === source.name)

/** Which of the objects say nothing, as a dump of a cluster holds many; a sentence for each kind. */
export const strangersAmong = (objects: readonly KubeObject[]): readonly string[] => {
  const strangers = objects.filter(
    (object) => !isOfKind(HCO, object) && !SOURCES.some((source) => isFrom(source, object)),
  )
  return [...Map.groupBy(strangers, ({ kind }) => kind).values()].flatMap(([first, ...rest]) => {
    if (!first) return []
    const more = rest.length > 0 ? ` and ${rest.length} more of its kind` : ''
    return [`--nodes: skipped ${titleOf(first)}${more}: it ${whyStrange(first)}`]
  })
}

function whyStrange(object: KubeObject): string {
  const source = SOURCES.find((candidate) => isOfKind(candidate, object))
  if (source) return `is not the one that facts are read from, which is named ${source.name}`
  const kinds = new Set(SOURCES.map(({ kind }) => kind))
  return `is of no kind that facts are read from, which are ${[...kinds].join(', ')}`
}

type ServedOfflineOptions = Pick<OfflineCluster, 'hco' | 'schemas' | 'withoutApis'>

/** What a cluster serves that has all APIs which the catalog names, in every version that it names, but for some groups. */
export function servedOffline(catalog: Catalog, options: ServedOfflineOptions): Served {
  const named = [...ofAssets(catalog, options), ...ofConditions(catalog, options)]
  const groups = named.map(({ group }) => group)
  for (const group of options.withoutApis) requireKnown(group, groups)
  const there = named.filter(({ group }) => !options.withoutApis.includes(group))
  return new Map(
    [...Map.groupBy(there, kindKey)].map(([key, kinds]) => {
      const versions = [...new Set(kinds.flatMap((kind) => kind.versions))]
      return [key, { versions, resource: kinds[0]?.resource ?? '' }]
    }),
  )
}

interface NamedKind {
  readonly group: string
  readonly kind: string
  readonly versions: readonly string[]
  readonly resource: string
}

const ofAssets = (catalog: Catalog, { hco }: ServedOfflineOptions): readonly NamedKind[] =>
  catalog.map((asset) => {
    const { group, kind, versions, resource } = asset.object
    // What there is of one HyperConverged is written in one version.
    const isKnown = (version: string) =>
      !isHyperConverged(asset) || hco.apiVersion === `${group}/${version}`
    return { group, kind, versions: versions.filter(isKnown), resource }
  })

const ofConditions = (catalog: Catalog, { schemas }: ServedOfflineOptions): readonly NamedKind[] =>
  catalog.flatMap(conditionsOf).flatMap((condition) => {
    if (condition.type !== 'crd' || kindKey(condition) === kindKey(HCO)) return []
    const { group, kind, versions = versionsIn(schemas, condition) } = condition
    // Nobody asks where a kind is that only a condition names.
    return [{ group, kind, versions, resource: '' }]
  })

/** Where any version will do: those of which a schema is known, which facts may be read from. */
function versionsIn(
  schemas: Observations['schemas'],
  wanted: Pick<NamedKind, 'group' | 'kind'>,
): readonly string[] {
  const known = [...schemas.keys()].flatMap((key) => {
    const [group, version = '', kind] = key.split('/')
    return group === wanted.group && kind === wanted.kind ? [version] : []
  })
  return known.length > 0 ? known : ['v1']
}

function requireKnown(group: string, groups: readonly string[]): void {
  if (group === HCO.group)
    throw new UsageError(`--without-api ${group}: without a HyperConverged nothing is kept at all`)
  if (groups.includes(group)) return
  const near = closest(group, [...groups])
  throw new UsageError(
    `--without-api: the catalog names no API group ${formatValue('', group)}: did you mean "${near}"?`,
  )
}
