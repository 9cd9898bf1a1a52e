import type { Catalog } from '../../../shared/baseline/catalog/catalog.ts'
import { waitingSections } from '../../../shared/baseline/catalog/sections.ts'
import { emptyOptIns, optInProblems } from '../../../shared/baseline/settings/opt-ins.ts'
import { unknownNames } from '../../../shared/baseline/settings/settings.ts'
import { sentenceOf } from '../../../shared/engine/problem.ts'
import type { Evaluation } from '../gather/evaluation.ts'

/** What is odd in the HyperConverged's annotations without being an invalid setting, a sentence each. */
export function warningsOn(
  catalog: Catalog,
  { hco, stated }: Pick<Evaluation, 'hco' | 'stated'>,
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
  { facts, standings }: Pick<Evaluation, 'facts' | 'standings'>,
): readonly string[] =>
  catalog.flatMap((asset) =>
    standings.get(asset.name)?.kind === 'active'
      ? waitingSections(asset, facts).map((sentence) => `${asset.name}: ${sentence}`)
      : [],
  )
