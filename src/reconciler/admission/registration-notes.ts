import { isEqual } from '../../shared/engine/json/equal.ts'
import { isMap, keepMembers } from '../../shared/engine/json/object.ts'
import type { Published } from '../manager/state-controller.ts'
import type { RegistrationLedger } from './registration.ts'

type Memory = RegistrationLedger['memory']

const NOTHING: Memory = { registered: {}, unregistered: {} }

/** What the leader of a system knows of its registration, where that is all that the next one has to be told. */
export class RegistrationNotes implements RegistrationLedger, Published {
  readonly #onChange: () => void
  #memory = NOTHING

  /** `onChange` is told that there is something else to publish. */
  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  get memory(): Memory {
    return this.#memory
  }

  get data(): Published['data'] {
    const { registered, unregistered } = this.#memory
    return {
      'registered.json': JSON.stringify(registered),
      'unregistered.json': JSON.stringify(unregistered),
    }
  }

  resume(data: unknown): void {
    this.#memory = {
      registered: partOf(data, 'registered', (value) => typeof value === 'string'),
      unregistered: partOf(data, 'unregistered', (value) => typeof value === 'number'),
    }
  }

  note(part: Memory): void {
    if (isEqual(part, this.#memory)) return
    this.#memory = part
    this.#onChange()
  }
}

/** What can be read of what was published: somebody may have edited it. */
function partOf<Value>(
  data: unknown,
  name: keyof Memory,
  isValue: (value: unknown) => value is Value,
): Readonly<Record<string, Value>> {
  const text = isMap(data) ? data[`${name}.json`] : undefined
  try {
    const part: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
    return isMap(part)
      ? (keepMembers(part, (_name, value) => isValue(value)) as Record<string, Value>)
      : {}
  } catch {
    return {}
  }
}
