import {
  excessOver,
  MAX_OVERRIDE_LENGTH,
  overrideNames,
} from '../engine/overrides/override-names.ts'

/** Every name under our prefix that the product reads or writes: they are its whole user-facing API. */
export const PREFIX = 'platform.kubevirt.io/'

/** Overrides, on any managed object. */
export const NAMES = overrideNames(PREFIX)
export const PATCH = NAMES.patch
export const IGNORE_FIELDS = NAMES.ignoreFields
export const MODE = NAMES.mode
export const RECONCILE_PAUSED = NAMES.reconcilePaused
export const OVERRIDES: readonly string[] = [PATCH, IGNORE_FIELDS, MODE, RECONCILE_PAUSED]

/** Settings, on the HyperConverged only. */
export const AUTOPILOT = `${PREFIX}autopilot`
export const DISABLED_RESOURCES = `${PREFIX}disabled-resources`
export const DISRUPTIVE_CHANGES = `${PREFIX}disruptive-changes`
export const ENFORCEMENT = `${PREFIX}enforcement`
export const APPROVE = `${PREFIX}approve`
export const SETTINGS = [AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES, ENFORCEMENT, APPROVE]
/** The digest of what waits for approval: short enough to type. */
export const APPROVAL_LENGTH = 12
const APPROVAL = new RegExp(`^[0-9a-f]{${APPROVAL_LENGTH}}$`)
/** Whether it can be such a digest at all. */
export const isApproval = (text: string) => APPROVAL.test(text)

export const MANAGED_BY = `${PREFIX}managed-by`
export const FIELD_MANAGER = 'virt-platform-autopilot'
/** Under which a pause is set, so that it is told from one that somebody set by hand. */
export const PAUSE_FIELD_MANAGER = `${FIELD_MANAGER}-pause`

const KiB = 1024
/** How many characters the value of an annotation may have of which nothing else is said. */
export const MAX_LENGTH = KiB
const LONG: Readonly<Record<string, number>> = {
  [PATCH]: MAX_OVERRIDE_LENGTH,
  [IGNORE_FIELDS]: MAX_OVERRIDE_LENGTH,
  // Room for every name there is.
  [AUTOPILOT]: 16 * KiB,
  [DISABLED_RESOURCES]: 16 * KiB,
}

/** How many characters a value may have. Whoever reads one looks at its length first: the API server lets 256 KiB be stored. */
export const maxLengthOf = (key: string): number => LONG[key] ?? MAX_LENGTH

/** What is wrong with the length of a value, as a phrase that follows the annotation's key. */
export const lengthProblem = (key: string, text: string): string | undefined =>
  excessOver(maxLengthOf(key), text)
