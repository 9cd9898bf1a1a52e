import {
  type Asset,
  apiVersionOf,
  type Catalog,
  isAlwaysDenied,
  isSensitive,
} from '../../src/shared/baseline/catalog/catalog.ts'
import type { Section } from '../../src/shared/baseline/catalog/catalog-schema.ts'
import { describeCondition } from '../../src/shared/baseline/facts/conditions.ts'
import { markdownTable } from './markdown-table.ts'
import { NOTICE } from './notice.ts'

/** docs/baseline/assets.md: every asset, when it is active and what an edit or a change of it means. */
export const assetsPage = (catalog: Catalog) => `<!-- ${NOTICE} -->

# The assets

What the autopilot keeps, in the order in which it does. \`$hco\` is the namespace of the HyperConverged. An edit of a
managed field is corrected, or denied where its change reboots nodes or grants access.

${markdownTable(
  ['asset', 'group', 'object', 'why', 'installed', 'an edit is', 'a change'],
  catalog.map((asset) => [
    `[\`${asset.name}\`](#${asset.name})`,
    `\`${asset.group}\``,
    objectOf(asset),
    asset.description,
    asset.install,
    verdictOf(asset),
    effectOf(asset),
  ]),
)}
${catalog.map(details).join('')}`

const objectOf = ({ object: { kind, namespace, name } }: Asset) =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`

const verdictOf = (asset: Asset) =>
  isAlwaysDenied(asset) || asset.enforcement === 'deny' ? 'denied' : 'corrected'

const effectOf = ({ disruption, pool }: Asset) =>
  disruption === 'none' ? 'is applied at once' : `reboots the ${pool} pool`

function details(asset: Asset): string {
  const { name, description, object, order, maturity, install, sections, links } = asset
  const lines = [
    `Object: ${objectOf(asset)}, ${object.versions.map((v) => apiVersionOf(object.group, v)).join(' or ')}`,
    `Group \`${asset.group}\`, order ${order}, ${maturity}, ${install === 'always' ? 'installed always' : 'opt-in'}`,
    `An edit is ${verdictOf(asset)}${isSensitive(asset) ? ', and no patch is taken' : ''}; a change ${effectOf(asset)}`,
    ...conditionLines(asset),
    ...(asset.yieldsTo ? [`Gives way to \`${asset.yieldsTo.name}\`, and is then deleted`] : []),
    ...(asset.create
      ? []
      : ['Kept once somebody has created it, and never created by the autopilot']),
    ...(asset.prune ? ['Deleted once a condition does not hold any more'] : []),
    ...sections.map(sectionLine),
    ...links.map((link) => `See <${link}>`),
  ]
  return `\n## ${name}\n\n${sentence(description)}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const conditionLines = ({ conditions }: Pick<Asset, 'conditions'>) =>
  conditions.map((condition) => `Needs: ${describeCondition(condition)}`)

const sectionLine = ({ name, description, maturity, install, conditions }: Section) =>
  `Section \`${name}\` (${maturity}, ${install}): ${description}; needs: ${conditions.map(describeCondition).join('; ')}`
