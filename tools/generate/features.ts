import { PREFIX } from '../../src/shared/baseline/annotations.ts'
import type { Asset, Catalog } from '../../src/shared/baseline/catalog/catalog.ts'
import type { Maturity, Section } from '../../src/shared/baseline/catalog/catalog-schema.ts'
import type { Condition } from '../../src/shared/baseline/catalog/condition-schemas.ts'
import { describeCondition, isOptIn } from '../../src/shared/baseline/facts/conditions.ts'
import { markdownTable } from './markdown-table.ts'
import { withMarked } from './marked.ts'
import { jsonFile, NOTICE } from './notice.ts'

/** What an admin gets: assets of one template that come in the same way are one feature, for several pools; so is each section. */
interface Feature {
  readonly name: string
  readonly group: string
  readonly description: string
  readonly install: Asset['install']
  readonly maturity: Maturity
  /** What asks for it: an annotation of the HyperConverged, or a feature gate. */
  readonly asks: readonly string[]
  readonly disruption: Asset['disruption']
  readonly assets: readonly FeatureAsset[]
}

/** One of the assets that bring a feature: one per pool, and each has conditions of its own. */
interface FeatureAsset {
  readonly name: string
  /** All that must hold, for a section what its asset needs too. */
  readonly conditions: readonly string[]
}

/** docs/baseline/features.json: the features for machines. */
export const featuresFile = (catalog: Catalog) => jsonFile({ features: featuresOf(catalog) })

/** docs/baseline/features.md: what each feature is for, and what asks for it. */
export const featuresPage = (catalog: Catalog) => `<!-- ${NOTICE} -->

# The features

What an admin gets. One that comes always does so where the cluster has what it takes; any other one is asked for, by an annotation of the
HyperConverged or a feature gate. [annotations.md](annotations.md) says how, [assets.md](assets.md) which objects bring it.

${markdownTable(
  ['feature', 'why', 'comes with', 'reboots', 'maturity'],
  featuresOf(catalog).map(({ name, description, asks, disruption, maturity }) => [
    `\`${name}\``,
    description,
    asks.length > 0 ? asks.map((ask) => `\`${ask}\``).join(', ') : 'always',
    disruption === 'none' ? '' : 'yes',
    maturity,
  ]),
)}
`

/** The README with its table of features made anew; throws where its marks are gone. */
export function readmeWith(readme: string, catalog: Catalog): string {
  const rows = [...Map.groupBy(featuresOf(catalog), ({ group }) => group)].map(
    ([group, features]) => [
      group,
      namesOf(features.filter(({ asks }) => asks.length === 0)),
      namesOf(features.filter(({ asks }) => asks.length > 0)),
    ],
  )
  const table = markdownTable(['group', 'always', 'when asked for'], rows)
  return withMarked({ name: 'README.md', text: readme }, 'features', table)
}

const namesOf = (features: readonly Feature[]) =>
  features
    .map(({ name, disruption }) => `\`${name}\`${disruption === 'none' ? '' : ' (reboots)'}`)
    .join(', ')

const featuresOf = (catalog: Catalog): readonly Feature[] =>
  [...Map.groupBy(catalog.filter(isKept), featureKey).values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const twins = [first, ...others]
    return [
      featureOf(first, first.name, first, twins.map(withConditions)),
      ...first.sections.map((section) =>
        featureOf(first, `${first.name}: ${section.name}`, section, twinsOf(section, twins)),
      ),
    ]
  })

const featureKey = ({ template, install }: Asset) => `${template} ${install}`

const isKept = ({ isTombstone }: Asset) => !isTombstone

/** An asset, and all that must hold for what a feature is about. */
interface Twin {
  readonly name: string
  readonly conditions: readonly Condition[]
}

const withConditions = ({ name, conditions }: Asset): Twin => ({ name, conditions })

const twinsOf = ({ name }: Section, twins: readonly Asset[]): readonly Twin[] =>
  twins.flatMap((twin) =>
    twin.sections
      .filter((section) => section.name === name)
      .map(({ conditions }) => ({
        name: twin.name,
        conditions: [...twin.conditions, ...conditions],
      })),
  )

const featureOf = (
  { group, disruption }: Asset,
  name: string,
  { description, install, maturity }: Asset | Section,
  twins: readonly Twin[],
): Feature => ({
  name,
  group,
  description,
  install,
  maturity,
  asks: unique(twins.flatMap(({ conditions }) => conditions.filter(isOptIn).flatMap(asksOf))),
  disruption,
  assets: twins.map((twin) => ({
    name: twin.name,
    conditions: twin.conditions.map(describeCondition),
  })),
})

const unique = (texts: readonly string[]) => [...new Set(texts)]

function asksOf(condition: Condition): readonly string[] {
  switch (condition.type) {
    case 'annotation':
      return [`${PREFIX}${condition.key}`, ...gateOf(condition.gate)]
    case 'feature-gate':
      return gateOf(condition.name)
    default:
      throw new Error(`a ${condition.type} condition asks for nothing`)
  }
}

const gateOf = (name: string | undefined) => (name === undefined ? [] : [`feature gate ${name}`])
