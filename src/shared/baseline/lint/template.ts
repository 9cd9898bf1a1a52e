import { type GivenName, namesIn } from './declarations.ts'
import type { Mistake } from './mistakes.ts'
import { type OutlineLine, outlineOf } from './outline.ts'
import { type Read, readsIn } from './reads.ts'
import { createLineOf, piecesOf, scriptOf } from './script.ts'

/** A template as rules look at it, without rendering it: branches that no sample reaches count too. */
export interface TemplateText {
  readonly outline: readonly OutlineLine[]
  readonly reads: readonly Placed<Read>[]
  readonly given: readonly Placed<GivenName>[]
  /** Why its code could not be looked at: then there are no reads and no names. */
  readonly unread: readonly Mistake[]
}

type Placed<Found> = Found & { readonly line: number }

/** Takes a template apart; throws never. */
export function readTemplate(text: string): TemplateText {
  const pieces = piecesOf(text)
  const outline = outlineOf(pieces)
  const lineOf = createLineOf(text)
  const script = scriptOf(pieces)
  if (!script.ok) {
    const { offset, message } = script.error
    const unread = { line: lineOf(offset), message: `its code cannot be checked: ${message}` }
    return { outline, reads: [], given: [], unread: [unread] }
  }
  const { program, offsetOf } = script.value
  const { given, aliases } = namesIn(program)
  const placed = <Found extends { readonly position: number }>(found: Found) => ({
    ...found,
    line: lineOf(offsetOf(found.position)),
  })
  return {
    outline,
    reads: readsIn(program, aliases).map(placed),
    given: given.map(placed),
    unread: [],
  }
}
