import type { Finding } from './finding.ts'

const BLANK = String.raw`(?:[ \t]|\\\n)+`
const INTERPRETER = String.raw`\b(?:(?:ba|da|k|z)?sh|python[\d.]*|perl)`
const COMMAND = new RegExp(
  String.raw`^[ \t]*Exec\w+=[^\n]*?${INTERPRETER}(?:${BLANK}-\S+)*?${BLANK}-\w*[ce]\b`,
  'gm',
)
const SCRIPT = /(?<=\n)[ \t]*#![ \t]*\//g

/** Scripts in the text of another file, where no linter sees them: in a command of a unit, or as a block of lines. */
export function findInlineScripts(text: string): readonly Finding[] {
  const found = (pattern: RegExp, rule: string) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ ...placeOf(text, index), rule, message }))
  return [...found(COMMAND, 'inline-command'), ...found(SCRIPT, 'inline-script')]
}

const message = 'make this script a file beside the asset, where it is linted and tested'

function placeOf(text: string, index: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, index).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
