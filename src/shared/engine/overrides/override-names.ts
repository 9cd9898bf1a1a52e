/** The keys of the annotations by which an admin overrides what a system wants of an object. */
export interface OverrideNames {
  /** What all annotations and labels of the system begin with. */
  readonly prefix: string
  readonly patch: string
  readonly ignoreFields: string
  readonly mode: string
  readonly reconcilePaused: string
}

/** The keys of the overrides under a prefix. */
export const overrideNames = (prefix: string): OverrideNames => ({
  prefix,
  patch: `${prefix}patch`,
  ignoreFields: `${prefix}ignore-fields`,
  mode: `${prefix}mode`,
  reconcilePaused: `${prefix}reconcile-paused`,
})

/** How many characters a patch may have, and a list of fields to ignore. */
export const MAX_OVERRIDE_LENGTH = 64 * 1024

/** What is wrong with the length of a value, as a phrase that follows the annotation's key. */
export const excessOver = (most: number, text: string): string | undefined =>
  text.length > most ? `must not be longer than ${most} characters` : undefined

/** How many annotations under a system's prefix an object may have: more than there are to be had. */
export const MAX_ANNOTATIONS = 100
