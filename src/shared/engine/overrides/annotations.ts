/** Every name under our prefix that the product reads or writes: they are its whole user-facing API. */
export const PREFIX = 'platform.kubevirt.io/'

/** Overrides, on any managed object. */
export const PATCH = `${PREFIX}patch`
export const IGNORE_FIELDS = `${PREFIX}ignore-fields`
export const MODE = `${PREFIX}mode`
export const RECONCILE_PAUSED = `${PREFIX}reconcile-paused`
export const OVERRIDES = [PATCH, IGNORE_FIELDS, MODE, RECONCILE_PAUSED] as const

/** Settings, on the HyperConverged only. */
export const AUTOPILOT = `${PREFIX}autopilot`
export const DISABLED_RESOURCES = `${PREFIX}disabled-resources`
export const DISRUPTIVE_CHANGES = `${PREFIX}disruptive-changes`
export const ENFORCEMENT = `${PREFIX}enforcement`
export const APPROVE = `${PREFIX}approve`

export const MANAGED_BY = `${PREFIX}managed-by`
export const FIELD_MANAGER = 'virt-platform-autopilot'
/** Under which a pause is set, so that it is told from one that somebody set by hand. */
export const PAUSE_FIELD_MANAGER = `${FIELD_MANAGER}-pause`
