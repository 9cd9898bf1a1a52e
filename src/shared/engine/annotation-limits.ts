import { AUTOPILOT, DISABLED_RESOURCES, IGNORE_FIELDS, PATCH } from './annotations.ts'

const KiB = 1024
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
export const maxLengthOf = (key: string): number => LONG[key] ?? KiB

/** What is wrong with the length of a value, as a phrase that follows the annotation's key. */
export const lengthProblem = (key: string, text: string): string | undefined =>
  text.length > maxLengthOf(key)
    ? `must not be longer than ${maxLengthOf(key)} characters`
    : undefined

/** How many annotations under our prefix an object may have: more than there are to be had. */
export const MAX_ANNOTATIONS = 100
