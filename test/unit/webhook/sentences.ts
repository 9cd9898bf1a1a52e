import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'acorn'

const SOURCES = join(import.meta.dirname, '../../../src')

/** Where the webhook's words come from. */
const SPEAKERS = [
  'webhook/answers.ts',
  'webhook/consequence.ts',
  'webhook/deletion-messages.ts',
  'webhook/effect-notes.ts',
  'webhook/judge-annotations.ts',
  'webhook/judge-content.ts',
  'webhook/kept-changes.ts',
  'webhook/messages.ts',
  'webhook/overrides.ts',
  'webhook/owner-notes.ts',
  'webhook/referee.ts',
  'webhook/way-out.ts',
  'shared/engine/annotation-limits.ts',
  'shared/engine/ignore-fields.ts',
  'shared/engine/json.ts',
  'shared/engine/patch-operations.ts',
  'shared/engine/patch-problem.ts',
  'shared/engine/patch.ts',
  'shared/engine/plan.ts',
  'shared/engine/pointer-target.ts',
  'shared/engine/pointer.ts',
  'shared/catalog/activation.ts',
  'shared/catalog/annotation-formats.ts',
  'shared/catalog/exclusions.ts',
  'shared/catalog/nearest.ts',
  'shared/catalog/opt-ins.ts',
  'shared/catalog/other-autopilot.ts',
  'shared/catalog/settings.ts',
]

// What stands in angle brackets is a placeholder in what other commands print.
const TWO_WORDS = /^(?!<).*\p{L}{2,} \p{L}{2,}/su

/** Every piece of a sentence that is written in the sources of what the webhook says, between what is filled in. */
export const sentencePieces = (): readonly string[] =>
  SPEAKERS.flatMap((file) => textsIn(readFileSync(join(SOURCES, file), 'utf8'))).filter((text) =>
    TWO_WORDS.test(text),
  )

/** Every text in a source file; of a template each piece between what is filled in. */
export const textsIn = (source: string): readonly string[] =>
  textsOf(parse(stripTypeScriptTypes(source), { ecmaVersion: 'latest', sourceType: 'module' }))

function textsOf(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, value } = node as { readonly type?: string; readonly value?: unknown }
  if (type === 'Literal') return typeof value === 'string' ? [value] : []
  if (type === 'TemplateElement') return [String((value as { readonly cooked: string }).cooked)]
  return Object.values(node).flatMap(textsOf)
}
