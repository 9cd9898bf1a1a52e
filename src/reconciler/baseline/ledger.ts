import { STATE_CONFIG_MAP } from '../../shared/baseline/names.ts'
import {
  type Memory,
  parseState,
  recall,
  type State,
  stateData,
  UNKNOWN,
} from '../../shared/baseline/state.ts'
import type { Client } from '../../shared/cluster/client.ts'
import { apply, read } from '../../shared/cluster/resource.ts'
import { isEqual } from '../../shared/engine/json/equal.ts'

/** What this leader knows and every other process must: the published state, kept current. */
export class Ledger {
  readonly #publish: (state: State) => void
  #noted: Partial<State> = {}
  #published: State | undefined

  /** `publish` makes the state known to every other process. */
  constructor(publish: (state: State) => void) {
    this.#publish = publish
  }

  /** Takes over what an earlier leader published. */
  resume(data: unknown): void {
    this.#noted = recall(data)
    this.#published = parseState(data)
  }

  get memory(): Memory {
    return { ...UNKNOWN, ...this.#noted }
  }

  /** Takes note of parts of the state, and publishes it where that made it another one. */
  note(part: Partial<State>): void {
    this.#noted = { ...this.#noted, ...part }
    const { facts, baselines, settings } = this.#noted
    // Before the first look at the cluster there is no state of it.
    if (!facts || !baselines || !settings) return
    const state = { ...this.memory, facts, baselines, settings }
    if (isEqual(state, this.#published)) return
    this.#published = state
    this.#publish(state)
  }

  /** Publishes that there is no HyperConverged: what was kept for the last one no longer is. */
  noteAbsence(): void {
    this.#noted = { ...this.#noted, hasHyperConverged: false }
    if (!this.#published?.hasHyperConverged) return
    this.#published = { ...this.#published, hasHyperConverged: false }
    this.#publish(this.#published)
  }

  /** Publishes the state again where somebody changed or deleted what was published. */
  republish(found: unknown): void {
    // What an earlier leader published counts, too: without a HyperConverged nothing else is published.
    if (!this.#published) return
    if (!isEqual(found, stateData(this.#published))) this.#publish(this.#published)
  }
}

const stateIn = (namespace: string) => ({ apiVersion: 'v1', resource: 'configmaps', namespace })

/** The data of the state as the last leader published it; undefined where none did. */
export const readState = async (client: Client, namespace: string) =>
  (await read(client, stateIn(namespace), STATE_CONFIG_MAP))?.data

/** Publishes the state. */
export const writeState = (client: Client, namespace: string, state: State) =>
  apply(client, stateIn(namespace), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: STATE_CONFIG_MAP, namespace },
    data: stateData(state),
  })
