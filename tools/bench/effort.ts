/** How much is measured: numbers to be quoted. */
export const FULL = {
  starts: 3,
  /** Edits of each object while the webhook is down. */
  edits: 30,
  idleMs: 45_000,
  /** How often, and how long each time, a server is asked for decisions. */
  rounds: 5,
  loadMs: 1_500,
  /** How many decisions a second every server is asked for where its processor time is taken. */
  steadyPerSecond: 2_000,
  /** To how many nodes the cluster grows, beside its sample nodes, and how many heartbeats they send then. */
  nodes: [1_000, 5_000],
  heartbeats: 100,
  /** How long each side of an edit war is watched. */
  warMs: 15_000,
  /** How many updates of each kind are timed without, with the webhook, and with policies of the API server. */
  updates: 300,
  /** How long the webhook is kept busy, and how often it is looked at meanwhile. */
  soakMs: 600_000,
  soakSampleMs: 10_000,
}

export type Effort = typeof FULL

/** Whether everything works; the numbers say nothing. */
export const QUICK: Effort = {
  starts: 1,
  edits: 3,
  idleMs: 3_000,
  rounds: 2,
  loadMs: 300,
  steadyPerSecond: 2_000,
  nodes: [20, 50],
  heartbeats: 10,
  warMs: 3_000,
  updates: 10,
  soakMs: 6_000,
  soakSampleMs: 1_000,
}

/** Little at a time, since two builds take turns again and again. */
export const IN_TURNS: Effort = { ...FULL, starts: 1, edits: 10, idleMs: 15_000, rounds: 1 }
