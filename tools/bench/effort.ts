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
  /** To how many nodes the cluster grows, beside its sample nodes. */
  readonly nodes: readonly number[]
  /** Of these, how many join alone, to see how soon a fact of theirs is published. */
  readonly joins: number
  readonly heartbeats: number
  /** How many assets each of the synthetic catalogs has, beside the HyperConverged. */
  readonly assets: readonly number[]
  /** How long passes that find nothing are counted, and how often. */
  readonly passMs: number
  readonly passRuns: number
  /** How often the render command is run, and how often each asset is rendered. */
  readonly renders: number
  readonly renderings: number
  /** How long each side of an edit war is watched. */
  readonly warMs: number
  /** How often and how long each server beside the webhook, and it too, is asked the same. */
  readonly peerRounds: number
  readonly peerMs: number
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
  rounds: 8,
  writesPerBlock: 50,
  loadMs: 3_000,
  nodes: [1_000, 5_000],
  joins: 5,
  heartbeats: 100,
  assets: [10, 30, 100],
  passMs: 5_000,
  passRuns: 3,
  renders: 20,
  renderings: 200,
  warMs: 15_000,
  peerRounds: 5,
  peerMs: 1_500,
  updates: 300,
  soakMs: 600_000,
  soakSampleMs: 10_000,
}

/** Whether everything works; the numbers say nothing. */
export const QUICK: Effort = {
  starts: 1,
  edits: 3,
  idleMs: 3_000,
  rounds: 1,
  writesPerBlock: 10,
  loadMs: 300,
  nodes: [20, 50],
  joins: 2,
  heartbeats: 10,
  assets: [5, 10, 20],
  passMs: 1_000,
  passRuns: 2,
  renders: 3,
  renderings: 10,
  warMs: 3_000,
  peerRounds: 3,
  peerMs: 300,
  updates: 10,
  soakMs: 6_000,
  soakSampleMs: 1_000,
}
