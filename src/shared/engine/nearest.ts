import { closest, distance } from 'fastest-levenshtein'

/** The known name that somebody most likely meant who wrote another one; undefined where all are too far from it. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  const near = closest(text, [...known])
  return distance(text, near) <= Math.max(2, Math.floor(text.length / 3)) ? near : undefined
}

/** A sentence about a name that is unknown, with what was most likely meant, or else with what to do. */
export const suggesting = (sentence: string, near: string | undefined, otherwise: string) =>
  near === undefined ? `${sentence}: ${otherwise}` : `${sentence}: did you mean ${near}?`
