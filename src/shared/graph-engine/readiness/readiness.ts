import type { KubeObject } from '../../engine/json/object.ts'

export interface Readiness {
  readonly state: 'Ready' | 'InProgress' | 'Failed' | 'Terminating'
  /** What the object itself says, or what is missing. */
  readonly message: string
  /** When it may be another one without the object having changed, milliseconds. */
  readonly lookAgainAt?: number
}

/** Whether a live object does what it is there for, by the rules of its kind. */
export function readinessOf(_object: KubeObject, _now: number): Readiness {
  throw new Error('readiness: not written yet')
}
