/** How much is measured. */
export interface Effort {
  readonly starts: number
  /** Edits of each object while the webhook is down. */
  readonly edits: number
  readonly idleMs: number
  /** How often the webhook is switched off and on again while writes are timed. */
  readonly rounds: number
  readonly writesPerBlock: number
  /** How long each load of decisions lasts. */
  readonly loadMs: number
  readonly nodes: number
}

/** Numbers to be quoted. */
export const FULL: Effort = {
  starts: 3,
  edits: 30,
  idleMs: 45_000,
  rounds: 8,
  writesPerBlock: 50,
  loadMs: 3_000,
  nodes: 1_000,
}

/** Whether everything works; the numbers say nothing. */
export const QUICK: Effort = {
  starts: 1,
  edits: 3,
  idleMs: 3_000,
  rounds: 1,
  writesPerBlock: 10,
  loadMs: 300,
  nodes: 50,
}
