import { MANAGED_BY } from '../../engine/overrides/annotations.ts'
import type { AssetEntry } from '../catalog/catalog.ts'
import { PRODUCT } from '../names.ts'
import { type Mistake, mistakesAt } from './mistakes.ts'
import { isLiteral, type OutlineLine, ownKeys, ownMembers } from './outline.ts'
import type { TemplateText } from './template.ts'

/** What is not a single document of plain YAML. */
export const documents = (_: AssetEntry, { outline }: TemplateText): readonly Mistake[] =>
  mistakesAt(outline, ({ text }) => {
    if (/^(---|\.\.\.)(\s|$)/.test(text)) {
      return `a template is one document, without "${text.slice(0, 3)}": another object is an asset of its own`
    }
    if (text.startsWith('%'))
      return `a template has no YAML directive such as "${text.split(/\s/)[0]}"`
    return text.includes('\t')
      ? 'a tab, which YAML does not indent by: write spaces, or put a text that needs tabs in a file'
      : undefined
  })

/** What the catalog's entry, the engine or the API server says of the object, and a template says again. */
export const identity = (_: AssetEntry, { outline }: TemplateText): readonly Mistake[] => [
  ...mistakesAt(ownMembers(outline), ({ path, value }) => {
    const reason = NOT_FOR_TEMPLATES[path]
    if (reason !== undefined) return `${path} ${reason}: leave it out`
    const fact = FACTS[path]
    return fact !== undefined && isLiteral(value)
      ? `${path} is written out: print what the catalog says, <%= ${fact} %>`
      : undefined
  }),
  ...mistakesAt(ownKeys(outline), ({ path }) =>
    path === MANAGED_BY
      ? `every object gets the label ${path}: leave it out`
      : `${path} is for people to say something to the autopilot: leave it out`,
  ),
]

const FACTS: Readonly<Record<string, string>> = {
  apiVersion: 'object.apiVersion',
  kind: 'object.kind',
  'metadata.name': 'object.name',
  'metadata.namespace': 'object.namespace',
}

const NOT_FOR_TEMPLATES: Readonly<Record<string, string>> = {
  status: 'is what the controller of the object says',
  'metadata.managedFields': 'is the API server’s own',
  'metadata.finalizers':
    'would hold the object up for ever when it ends: nobody is there to remove it',
  'metadata.ownerReferences': 'would end the object with another: the catalog says when it ends',
}

/** What a template writes out, and what is another on another cluster or for a twin. */
export const literals = ({ pool }: AssetEntry, { outline }: TemplateText): readonly Mistake[] => [
  ...mistakesAt(outline, ({ text }) =>
    HCO_NAMESPACE.test(text)
      ? 'the namespace of the HyperConverged is written out: print facts.hco.namespace'
      : undefined,
  ),
  ...mistakesAt(outline, ({ text }) =>
    OWN_NAMESPACE.test(text)
      ? 'our own namespace is written out: give the object the namespace $autopilot, and print object.namespace'
      : undefined,
  ),
  ...mistakesAt(outline, imageIn),
  ...(pool === undefined ? [] : mistakesAt(outline, createPoolIn(pool))),
]

const HCO_NAMESPACE =
  /(?<![\w./-])openshift-cnv(?![\w./-])|\bnamespace["']?:\s+["']?kubevirt-hyperconverged(?![\w.-])/
const OWN_NAMESPACE = new RegExp(`\\bnamespace["']?:\\s+["']?${PRODUCT}(?![\\w.-])`)

const DIGEST = /@sha256:[0-9a-f]{8}/
// A taint is written alike: `node-role.kubernetes.io/infra:NoSchedule`.
const TAGGED =
  /(?<![\w./:-])[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:\/[a-z0-9._-]+)+:(?!(?:Prefer)?No)[A-Za-z0-9_][\w.-]*/

const imageIn = ({ text }: OutlineLine) =>
  DIGEST.test(text) || TAGGED.test(text)
    ? 'an image is written out: print facts.images[…], and make it a condition, { type: image, key: … }'
    : undefined

/** A node role, a label of a pool, or the role that a MachineConfig is for. */
function createPoolIn(pool: string) {
  const name = pool.replaceAll('.', '\\.')
  const role = new RegExp(
    `(?<![\\w./-])[a-z0-9-]+(?:\\.[a-z0-9-]+)+/(?:${name}(?![\\w./-])|role["']?:\\s+["']?${name}(?![\\w.-]))`,
  )
  return ({ text }: OutlineLine) =>
    role.test(text)
      ? `the pool ${pool} is written out: print <%= pool %>, within a longer text <%= \`…/\${pool}\` %>`
      : undefined
}
