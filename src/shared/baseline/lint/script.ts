import { type Program, parse } from 'acorn'
import { err, ok, type Result } from '../../engine/result.ts'

/** A part of a template as the template library reads it. */
export interface Piece {
  readonly kind: 'text' | 'code' | 'print' | 'comment'
  readonly text: string
  /** Where it begins in the template. */
  readonly offset: number
}

// The library's own, in its order.
const TAG = /<%%|%%>|<%=|<%-|<%_|<%#|<%|%>|-%>|_%>/g

const OPENS: Readonly<Record<string, Piece['kind']>> = {
  '<%': 'code',
  '<%_': 'code',
  '<%=': 'print',
  '<%-': 'print',
  '<%#': 'comment',
}

/** Splits a template into the text that it prints as it stands, and what is between its tags. */
export function piecesOf(template: string): readonly Piece[] {
  const pieces: Piece[] = []
  let kind: Piece['kind'] = 'text'
  let offset = 0
  for (const { 0: tag, index } of template.matchAll(TAG)) {
    pieces.push({ kind, text: template.slice(offset, index), offset })
    kind = OPENS[tag] ?? 'text'
    offset = index + tag.length
  }
  return [...pieces, { kind, text: template.slice(offset), offset }]
}

/** The code of a template. */
export interface Script {
  readonly program: Program
  /** Where in the template a position in the code is. */
  readonly offsetOf: (position: number) => number
}

/** Why code cannot be parsed, and where in the template. */
export interface Unparsed {
  readonly offset: number
  readonly message: string
}

/** Puts the code between the tags of a template together, as the library does, and parses it. */
export function scriptOf(pieces: readonly Piece[]): Result<Script, Unparsed> {
  const positions: number[] = []
  const offsets: number[] = []
  let source = '"use strict"'
  for (const { kind, text, offset } of pieces) {
    if (kind !== 'code' && kind !== 'print') continue
    source += kind === 'print' ? CALL : ';'
    positions.push(source.length)
    offsets.push(offset)
    // The line end is for a comment that ends with its tag.
    source += kind === 'print' ? `${withoutSemicolon(text)}\n)` : `${text}\n`
  }
  const offsetOf = (position: number) => {
    const index = lastUpTo(positions, position)
    return (offsets[index] ?? 0) + position - (positions[index] ?? position)
  }
  try {
    // As in the library's code, something follows: a label may come last.
    return ok({ program: parse(`${source};`, OPTIONS), offsetOf })
  } catch (error) {
    const { message, pos = 0 } = error as Error & { readonly pos?: number }
    return err({ offset: offsetOf(pos), message: message.replace(/ \(\d+:\d+\)$/, '') })
  }
}

// What is printed is arguments of a call, to which it does not matter here what is called.
const CALL = ';0('

const OPTIONS = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowReturnOutsideFunction: true,
} as const

// As the library has it: what is printed may end as a statement does.
function withoutSemicolon(text: string): string {
  const end = text.trimEnd()
  return end.endsWith(';') ? end.slice(0, -1) : text
}

/** The last index whose number is not above the limit, in ascending numbers; -1 if there is none. */
export function lastUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? limit) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Creates a function that tells on which line of a text, from 1, an offset is. */
export function createLineOf(text: string): (offset: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  return (offset) => lastUpTo(starts, offset) + 1
}
