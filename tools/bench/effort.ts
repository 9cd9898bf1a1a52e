/** How much is measured. */
export interface Effort {
  readonly starts: number
  /** Edits of each object while the webhook is down. */
  readonly edits: number
  readonly idleMs: number
  /** How often, and how long each time, a server is asked for decisions. */
  readonly rounds: number
  readonly loadMs: number
  /** To how many nodes the cluster grows, beside its sample nodes, and how many heartbeats they send then. */
  readonly nodes: readonly number[]
  readonly heartbeats: number
  /** How long each side of an edit war is watched. */
  readonly warMs: number
  /** How many updates of each kind are timed without, with the webhook, and with policies of the API server. */
  readonly updates: number
  /** How long the webhook is kept busy, and how often it is looked at meanwhile. */
  readonly soakMs: number
  readonly soakSampleMs: number
}

/** Numbers to be quoted. */
export const FULL: Effort = {
  starts: 3,
  edits: 30,
  idleMs: 45_000,
  rounds: 5,
  loadMs: 1_500,
  nodes: [1_000, 5_000],
  heartbeats: 100,
  warMs: 15_000,
  updates: 300,
  soakMs: 600_000,
  soakSampleMs: 10_000,
}

/** Whether everything works; the numbers say nothing. */
export const QUICK: Effort = {
  starts: 1,
  edits: 3,
  idleMs: 3_000,
  rounds: 2,
  loadMs: 300,
  nodes: [20, 50],
  heartbeats: 10,
  warMs: 3_000,
  updates: 10,
  soakMs: 6_000,
  soakSampleMs: 1_000,
}

/** Little at a time, since two builds take turns again and again. */
export const IN_TURNS: Effort = {
  ...FULL,
  starts: 1,
  edits: 10,
  idleMs: 15_000,
  rounds: 1,
  loadMs: 1_000,
}
