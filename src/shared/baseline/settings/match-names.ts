import { closest, distance } from 'fastest-levenshtein'

/**
 * Whether `text` matches `pattern`, in which `*` stands for any characters. Each piece between two
 * stars is looked for once, from where the one before it ended: no pattern can make it explode.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...middle] = pattern.split('*')
  const last = middle.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const piece of middle) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= text.length - last.length
}

/** The known name that somebody most likely meant who wrote another one; undefined where all are too far from it. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  const near = closest(text, [...known])
  return distance(text, near) <= Math.max(2, Math.floor(text.length / 3)) ? near : undefined
}

/** A sentence about a name that is unknown, with what was most likely meant, or else with what to do. */
export const suggesting = (sentence: string, near: string | undefined, otherwise: string) =>
  near === undefined ? `${sentence}: ${otherwise}` : `${sentence}: did you mean ${near}?`
