import type { AssetEntry } from '../catalog/catalog.ts'
import type { TitledEntry } from '../catalog/catalog-text.ts'
import { linesOf, type Mistake } from './mistakes.ts'
import { fixedGrants, unknownNames, unknownReads, unused } from './read-rules.ts'
import { readTemplate, type TemplateText } from './template.ts'
import { documents, identity, literals } from './text-rules.ts'

/** A template's text, and what mistakes call it. */
export interface NamedText {
  readonly file: string
  readonly text: string
}

/** What is wrong with the template of an asset, and with what the entry lists for it: a line per mistake. */
export function lintTemplate(
  titled: TitledEntry<AssetEntry>,
  { file, text }: NamedText,
): readonly string[] {
  const template = readTemplate(text)
  const mistakes = TEMPLATE_RULES.flatMap((rule) => rule(titled.entry, template))
  return [
    ...mistakes
      .sort((a, b) => a.line - b.line)
      .map(({ line, message }) => `${file}:${line}: ${message}`),
    ...linesOf(titled, unused(titled.entry, template)),
  ]
}

type TemplateRule = (asset: AssetEntry, template: TemplateText) => readonly Mistake[]

const TEMPLATE_RULES: readonly TemplateRule[] = [
  (_, { unread }) => unread,
  documents,
  identity,
  literals,
  unknownNames,
  unknownReads,
  fixedGrants,
]
