import type { Catalog } from '../shared/catalog/catalog.ts'
import { emptyOptIns, optInProblems } from '../shared/catalog/opt-ins.ts'
import { waitingSections } from '../shared/catalog/sections.ts'
import { unknownNames } from '../shared/catalog/settings.ts'
import { sentenceOf } from '../shared/engine/problem.ts'
import type { Outlook } from './outlook.ts'

/** What is odd in the HyperConverged's annotations without being an invalid setting, a sentence each. */
export function remarksOn(
  catalog: Catalog,
  { hco, stated }: Pick<Outlook, 'hco' | 'stated'>,
): readonly string[] {
  const { annotations = {} } = hco.metadata
  return [
    ...unknownNames(stated.settings, catalog),
    ...emptyOptIns(catalog, annotations).map(({ note }) => note),
    ...optInProblems(catalog, annotations).map(
      (problem) => `${sentenceOf(problem)}; what it is for is left as it is until it is mended`,
    ),
  ]
}

/** What was asked for of assets that are active, and waits for something; a sentence each. */
export const waitsOn = (
  catalog: Catalog,
  { facts, standings }: Pick<Outlook, 'facts' | 'standings'>,
): readonly string[] =>
  catalog.flatMap((asset) =>
    standings.get(asset.name)?.kind === 'active'
      ? waitingSections(asset, facts).map((sentence) => `${asset.name}: ${sentence}`)
      : [],
  )
