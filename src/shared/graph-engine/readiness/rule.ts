import type { KubeObject } from '../../engine/json/object.ts'

export interface Readiness {
  readonly state: 'Ready' | 'InProgress' | 'Failed' | 'Terminating'
  /** What the object itself says, or what is missing. */
  readonly message: string
  /** When it may be another one without the object having changed, milliseconds. */
  readonly lookAgainAt?: number
}

/** Judges an object of one kind that is neither being deleted nor behind its own generation. */
export type Rule = (object: KubeObject, now: number) => Readiness

export const ready = (message: string): Readiness => ({ state: 'Ready', message })
export const inProgress = (message: string): Readiness => ({ state: 'InProgress', message })
export const failed = (message: string): Readiness => ({ state: 'Failed', message })

/** A sequence of counts that must each be reached: the first that is not tells what is missing. */
export const firstMissing = (
  counts: readonly (readonly [what: string, have: number, want: number])[],
): Readiness | undefined => {
  const missing = counts.find(([, have, want]) => have < want)
  return missing && inProgress(`${missing[0]}: ${missing[1]}/${missing[2]}`)
}
