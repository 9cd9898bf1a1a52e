import { AUTOPILOT, DISABLED_RESOURCES, IGNORE_FIELDS, PATCH } from './annotations.ts'

const KiB = 1024
/** How many characters the value of an annotation may have of which nothing else is said. */
export const MAX_LENGTH = KiB
const LONG: Readonly<Record<string, number>> = {
  [PATCH]: 64 * KiB,
  [IGNORE_FIELDS]: 64 * KiB,
  // Room for every name there is.
  [AUTOPILOT]: 16 * KiB,
  [DISABLED_RESOURCES]: 16 * KiB,
}

/**
 * How many characters the value of an annotation may have. Whoever reads one looks at its length first: the API server
 * lets 256 KiB be stored, and asks about more than that.
 */
export const maxLengthOf = (key: string): number => LONG[key] ?? MAX_LENGTH

/** What is wrong with the length of a value, as a phrase that follows the annotation's key. */
export const lengthProblem = (key: string, text: string): string | undefined =>
  excessOver(maxLengthOf(key), text)

/** The same for a text whose annotation is not known. */
export const excessOver = (most: number, text: string): string | undefined =>
  text.length > most ? `must not be longer than ${most} characters` : undefined

/** How many annotations under our prefix an object may have: more than there are to be had. */
export const MAX_ANNOTATIONS = 100
