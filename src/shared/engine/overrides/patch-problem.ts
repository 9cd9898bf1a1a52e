import type { Problem } from '../problem.ts'
import { PATCH } from './annotations.ts'

/** What is wrong and the way out, and the pointer that it is about. */
export interface Fault {
  readonly what: string
  readonly pointer?: string
}

/** The fault of one operation, counted from 0. */
export const operationProblem = (fault: Fault, operation: number): Problem => {
  const at = fault.pointer === undefined ? '' : ` at ${shortened(fault.pointer)}`
  return { ...problem(fault), message: `operation ${operation}${at}: ${fault.what}`, operation }
}

/** What is wrong with a patch, as its author is told. */
export const problem = ({ what, ...place }: Fault): Problem => ({
  reason: 'InvalidPatch',
  annotation: PATCH,
  message: what,
  ...place,
})

/** A pointer as a sentence names it. */
export const shortened = (pointer: string) =>
  pointer.length > 128 ? `${pointer.slice(0, 128)}…` : pointer || 'its root'

/** More would only repeat themselves, and an answer of megabytes could get lost on its way. */
export const MAX_PROBLEMS = 20
