import { LRUCache } from 'lru-cache'
import type { TimedOut, TooMuch } from './evaluation.ts'
import type { Answered } from './run-program.ts'

/** What is worth remembering of a run: the rest says nothing about the module. */
export type Remembered = Answered | TimedOut | TooMuch

export interface MemoryOptions {
  readonly bytes: number
  /** For how long what exceeded a limit is remembered. */
  readonly exceededMs: number
  readonly now: () => number
}

/** The answers of earlier runs. Texts, not what they say: their size is known, and nobody can change them. */
export interface Memory {
  /** What is remembered; a time-out only for somebody who would not wait longer. */
  get(key: string, deadlineMs: number): Remembered | undefined
  set(key: string, run: Remembered): void
}

const ENTRY_BYTES = 256

/** Creates a memory that is empty; of more bytes than it may have, what was used least recently is forgotten. */
export function createMemory({ bytes, exceededMs, now }: MemoryOptions): Memory {
  const runs = new LRUCache<string, Remembered>({
    maxSize: bytes,
    sizeCalculation: (run) => ENTRY_BYTES + (run.kind === 'Answered' ? run.text.length : 0),
    perf: { now },
    ttlResolution: 0, // it asks for the time when it needs it, instead of setting a timer
  })
  return {
    get(key, deadlineMs) {
      const run = runs.get(key)
      return run?.kind === 'TimedOut' && run.deadlineMs < deadlineMs ? undefined : run
    },
    set(key, run) {
      runs.set(key, run, run.kind === 'Answered' ? {} : { ttl: exceededMs })
    },
  }
}
