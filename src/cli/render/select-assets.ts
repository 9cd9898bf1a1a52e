import type { Catalog } from '../../shared/baseline/catalog/catalog.ts'
import { nearest, suggesting } from '../../shared/baseline/catalog/nearest.ts'
import { SEE_ALL_NAMES } from '../../shared/baseline/settings/settings.ts'
import { showValue } from '../../shared/engine/show.ts'
import { UsageError } from '../run-cli.ts'

/** The assets of these names, in the catalog's order; all where no name is given. Throws a UsageError for a name of none. */
export function selectAssets(catalog: Catalog, names: readonly string[] | undefined): Catalog {
  if (!names) return catalog
  const known = catalog.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return catalog.filter(({ name }) => names.includes(name))
  // A part of a name is nearer to it than another short name.
  const near = known.find((name) => name.includes(unknown)) ?? nearest(unknown, known)
  const sentence = `--asset: no asset is named ${showValue('', unknown)}`
  throw new UsageError(suggesting(sentence, near === undefined ? near : `"${near}"`, SEE_ALL_NAMES))
}
