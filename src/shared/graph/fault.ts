/** Why a Transform is not applied as it stands, in the order in which it is found. */
export const FAULT_REASONS = [
  'Suspended',
  'NotEnrolled',
  'AccountNotFound',
  'ModuleNotFound',
  'Forbidden',
  'EvaluatorUnavailable',
  'EvaluationTooCostly',
  'ModuleInvalid',
  'InputInvalid',
  'PolicyViolated',
  'GraphInvalid',
] as const

/** Why a Transform is not applied as it stands. */
export interface Fault {
  /** As the condition `Ready` gives it. */
  readonly reason: (typeof FAULT_REASONS)[number]
  /** What is wrong and what to do, one for each field at fault. */
  readonly causes: readonly Cause[]
}

/** One thing that is wrong. */
export interface Cause {
  /** The field of the Transform; empty where it is none of its fields. */
  readonly field: string
  readonly message: string
}

// Beyond this many a message says how many more there are.
const CAUSES_SHOWN = 5

/** A fault as one sentence after the other. */
export function faultMessage({ causes }: Fault): string {
  const shown = causes.slice(0, CAUSES_SHOWN).map(causeText)
  const more = causes.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

export const causeText = ({ field, message }: Cause) =>
  field === '' ? message : `${field}: ${message}`

// With these, only an edit of the Transform, of its module or of the platform's policies can help: kstatus calls it Failed.
const STALLED: ReadonlySet<Fault['reason']> = new Set([
  'ModuleInvalid',
  'InputInvalid',
  'PolicyViolated',
  'GraphInvalid',
  'EvaluationTooCostly',
])

/** Whether waiting cannot help. */
export const isStalled = ({ reason }: Fault) => STALLED.has(reason)
