import { closest } from 'fastest-levenshtein'

import type { Observations } from '../../reconciler/baseline/gather/facts.ts'
import {
  type Catalog,
  conditionsOf,
  isHyperConverged,
  kindKey,
} from '../../shared/baseline/catalog/catalog.ts'
import { FACT_SOURCES } from '../../shared/baseline/facts/facts.ts'
import type { Served } from '../../shared/cluster/discovery.ts'
import { showValue } from '../../shared/engine/show.ts'
import { UsageError } from '../run-cli.ts'

export interface ServedOfflineOptions extends Pick<Observations, 'hco' | 'schemas'> {
  readonly withoutApis: readonly string[]
}

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

const { hco: HCO } = FACT_SOURCES

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
    `--without-api: the catalog names no API group ${showValue('', group)}: did you mean "${near}"?`,
  )
}
