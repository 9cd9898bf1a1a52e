import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'acorn'

const SOURCES = join(import.meta.dirname, '../../../src')

/** Where the words of the baseline's webhook come from. */
const SPEAKERS = [
  'answer.ts',
  'deletion-messages.ts',
  'event-notes.ts',
  'judge-annotations.ts',
  'judge-content.ts',
  'kubectl.ts',
  'messages.ts',
  'notes.ts',
  'overrides.ts',
  'reboots.ts',
  'remedy.ts',
  'selection-changes.ts',
  'override-names.ts',
  'ignore-fields.ts',
  'json.ts',
  'patch-operations.ts',
  'patch.ts',
  'plan.ts',
  'pointer-target.ts',
  'pointer.ts',
  'activation.ts',
  'annotation-formats.ts',
  'exclusions.ts',
  'nearest.ts',
  'opt-ins.ts',
  'other-autopilot.ts',
  'settings.ts',
]

function pathOf(name: string): string {
  const [path, ...others] = globSync(join(SOURCES, '{webhook,shared}', '**', name), {
    exclude: ['**/graph/**'],
  })
  if (path === undefined || others.length > 0) throw new Error(`${name}: not one file of that name`)
  return path
}

// What stands in angle brackets is a placeholder in what other commands print.
const TWO_WORDS = /^(?!<).*\p{L}{2,} \p{L}{2,}/su

/** Every piece of a sentence that is written in the sources of what the webhook says, between what is filled in. */
export const sentencePieces = (): readonly string[] =>
  SPEAKERS.flatMap((name) => textsIn(readFileSync(pathOf(name), 'utf8'))).filter((text) =>
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
