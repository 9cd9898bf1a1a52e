import { escapeControls } from '../engine/format-value.ts'
import type { ObjectMeta } from '../engine/json/object.ts'
import { MODE } from './annotations.ts'

/** What a command names of an object. */
export interface CommandTarget {
  readonly kind: string
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace'>
}

/** The kubectl command that sets an annotation; without a value, the one that removes it. */
export function annotateCommand(
  { kind, metadata: { namespace, name } }: CommandTarget,
  key: string,
  value?: string,
): string {
  const where = namespace ? `-n ${quote(namespace)} ` : ''
  const change = value === undefined ? `${key}-` : `--overwrite ${key}=${quote(value)}`
  return `kubectl annotate ${quote(kind.toLowerCase())} ${where}${quote(name)} ${change}`
}

/** The command that takes the whole object out of management. */
export const unmanageCommand = (target: CommandTarget) => annotateCommand(target, MODE, 'unmanaged')

// A tilde is left out: at the start of a word, or after a colon, a shell may take it for a home folder.
const PLAIN_WORD = /^[\w./:=@,+-]+$/

/** Quotes one word for a POSIX shell. */
export const quote = (word: string) =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** JSON that a terminal shows as it is: JSON knows the very escapes that are put in. */
export const printableJson = (value: unknown) => escapeControls(JSON.stringify(value))
