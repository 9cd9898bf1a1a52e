import {
  type Memory,
  parseState,
  recall,
  type State,
  stateData,
  UNKNOWN,
} from '../../shared/baseline/state.ts'
import { isEqual } from '../../shared/engine/json/equal.ts'

/** What this leader knows and every other process must: the state that is to be published. */
export class Ledger {
  readonly #onChange: () => void
  #noted: Partial<State> = {}
  #state: State | undefined

  /** `onChange` is told that the state is another one. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  /** Takes over what an earlier leader published. */
  resume(data: unknown): void {
    this.#noted = recall(data)
    this.#state = parseState(data)
  }

  get memory(): Memory {
    return { ...UNKNOWN, ...this.#noted }
  }

  /** The whole state: ours, or what an earlier leader published, until there is anything new. */
  get state(): State | undefined {
    return this.#state
  }

  /** What is to be published: the whole state; before there is one, that there is no HyperConverged, if that is known. */
  get data(): Readonly<Record<string, string>> | undefined {
    if (this.#state) return stateData(this.#state)
    return this.memory.hasHyperConverged ? undefined : stateData(this.#noted)
  }

  /** Takes note of parts of the state. */
  note(part: Partial<State>): void {
    this.#noted = { ...this.#noted, ...part }
    const { facts, baselines, settings } = this.#noted
    // Before the first look at the cluster there is no state of it.
    if (facts && baselines && settings) this.#become({ ...this.memory, facts, baselines, settings })
  }

  /** Takes note that there is no HyperConverged: what was kept for the last one no longer is. */
  noteAbsence(): void {
    const isNews = this.memory.hasHyperConverged
    this.#noted = { ...this.#noted, hasHyperConverged: false }
    if (this.#state) this.#become({ ...this.#state, hasHyperConverged: false })
    else if (isNews) this.#onChange()
  }

  #become(state: State): void {
    if (isEqual(state, this.#state)) return
    this.#state = state
    this.#onChange()
  }
}
