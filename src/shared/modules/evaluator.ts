import type { Evaluation, Outcome, Patience } from './evaluation.ts'

export interface EvaluatorOptions {
  /** The path of the program that evaluates CUE. */
  readonly program: string
  /** How many evaluations run at a time; each may take 256 MiB. */
  readonly concurrency?: number
  /** How many bytes of answers are remembered. */
  readonly memoryBytes?: number
  /** For how long a time-out is remembered: what was slow may have been the machine. */
  readonly timeOutsKeptMs?: number
  /** Told of each outcome, how long it took, and whether it was remembered. */
  readonly onOutcome?: (outcome: Outcome, took: { seconds: number; isRemembered: boolean }) => void
}

/** Evaluates modules, each in a process of its own that can neither read, write, connect nor outlive its time. */
export interface Evaluator {
  /** What comes of a module; never rejects. */
  evaluate(evaluation: Evaluation, patience: Patience): Promise<Outcome>
  /** Ends what runs: its outcome, and of all that still wait, is that there is no evaluator. */
  close(): Promise<void>
}

/** Creates an evaluator; nothing is started before it is asked. */
export function createEvaluator(_options: EvaluatorOptions): Evaluator {
  throw new Error('not there yet')
}
