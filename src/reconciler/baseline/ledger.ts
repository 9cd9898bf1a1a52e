import {
  type Memory,
  parseState,
  recall,
  type State,
  stateData,
  UNKNOWN,
} from '../../shared/baseline/state.ts'
import { isEqual } from '../../shared/engine/json/equal.ts'
import type { RegistrationStore } from '../admission/registration.ts'

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

/** What is known of our webhook configurations, kept in the published state. */
export const registrationMemory = (ledger: Ledger): RegistrationStore => ({
  read: (kind) => ({
    registered: ledger.memory.registered[kind],
    missingSince: ledger.memory.unregistered[kind],
  }),
  write: (kind, { registered, missingSince }) =>
    ledger.note({
      registered: withMember(ledger.memory.registered, kind, registered),
      unregistered: withMember(ledger.memory.unregistered, kind, missingSince),
    }),
})

function withMember<Value>(
  all: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> {
  const { [name]: _before, ...others } = all
  return value === undefined ? others : { ...others, [name]: value }
}
