import type { Test } from 'tap'

/** Where it breaks, in the words of docs/baseline/faults.md. */
export type Part =
  | 'API server'
  | 'reconciler'
  | 'webhook'
  | 'certificates'
  | 'uninstall'
  | 'hostile callers'

/** Something that breaks, and what comes of it. */
export interface Fault {
  readonly part: Part
  readonly fault: string
  readonly outcome: string
}

/**
 * A test that shows what comes of a fault. docs/baseline/faults.md lists each call, and is generated from the
 * source: the fault must be written out where it is called.
 */
export const faultTest = (
  t: Test,
  { fault, outcome }: Fault,
  work: (t: Test) => Promise<void>,
): Promise<unknown> => t.test(`${fault}: ${outcome}`, work)
