import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { sha256 } from '../ops/digest.ts'
import type { Evaluation, Outcome, Patience, RenderedNode, Violation } from './evaluation.ts'
import { createMemory, type Memory } from './memory.ts'
import type { ModuleError } from './module.ts'
import { type ProgramRequest, requestOf } from './request.ts'
import { type Answered, runProgram, unavailable } from './run-program.ts'
import { Turns } from './turns.ts'

export interface EvaluatorOptions {
  /** The path of the program that evaluates CUE. */
  readonly program: string
  /** How many evaluations run at a time, two by default; each may take 256 MiB. */
  readonly concurrency?: number
  /** How many bytes of answers are remembered, 16 MiB by default. */
  readonly memoryBytes?: number
  /** For how long it is remembered that an evaluation exceeded its time or memory: it may have been the machine's fault. */
  readonly exceededMs?: number
  /** Told of each outcome, how long it took, and whether it was remembered. */
  readonly onOutcome?: (outcome: Outcome, took: Took) => void
  /** The time in milliseconds. */
  readonly now?: () => number
}

export interface Took {
  readonly seconds: number
  readonly isRemembered: boolean
}

/** What the program writes. */
interface Answer {
  readonly nodes?: readonly RenderedNode[]
  readonly violations?: readonly Violation[]
  readonly overridable?: readonly string[]
  readonly errors?: readonly ModuleError[]
}

const CONCURRENCY = 2
const MEMORY_BYTES = 16 << 20
const EXCEEDED_MS = 5 * 60 * 1000

/** Evaluates modules, each in a process of its own that can neither read, write, connect nor outlive its time. */
export class Evaluator {
  readonly #options: EvaluatorOptions
  readonly #now: () => number
  readonly #turns: Turns
  readonly #memory: Memory
  readonly #closing = new AbortController()
  #programDigest: Promise<string> | undefined

  constructor(options: EvaluatorOptions) {
    const { concurrency = CONCURRENCY, memoryBytes = MEMORY_BYTES } = options
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#turns = new Turns(concurrency)
    this.#memory = createMemory({
      bytes: memoryBytes,
      exceededMs: options.exceededMs ?? EXCEEDED_MS,
      now: this.#now,
    })
  }

  /** What comes of a module; never rejects. */
  async evaluate(evaluation: Evaluation, patience: Patience): Promise<Outcome> {
    const start = this.#now()
    const request = requestOf(evaluation)
    if ('code' in request) return this.#tell({ kind: 'Refused', errors: [request] }, start, false)
    try {
      const key = sha256(`${await this.#program()} ${request.key}`)
      return await this.#evaluate({ ...request, key }, patience, start)
    } catch (error) {
      return this.#tell(unavailable((error as Error).message), start, false)
    }
  }

  /** Ends what runs, and lets nothing start: for whoever asked, there is no evaluator. */
  close(): void {
    this.#closing.abort()
    this.#turns.close()
  }

  async #evaluate(request: ProgramRequest, patience: Patience, start: number): Promise<Outcome> {
    const { deadlineMs, waitMs, turnOf } = patience
    const before = this.#memory.get(request.key, deadlineMs)
    if (before) return this.#tell(before, start, true)
    if (!(await this.#turns.take(turnOf, waitMs))) return this.#tell(this.#noTurn(), start, false)
    try {
      // Whoever had to wait may have waited for the very same.
      const meanwhile = this.#memory.get(request.key, deadlineMs)
      if (meanwhile) return this.#tell(meanwhile, start, true)
      const ran = await runProgram({
        program: this.#options.program,
        request: request.text,
        deadlineMs,
        signal: this.#closing.signal,
      })
      if (ran.kind !== 'EvaluatorUnavailable') this.#memory.set(request.key, ran)
      return this.#tell(ran, start, false)
    } finally {
      this.#turns.end(turnOf)
    }
  }

  #noTurn(): Outcome {
    return this.#closing.signal.aborted ? unavailable('it was closed') : { kind: 'Busy' }
  }

  #tell(ended: Answered | Outcome, start: number, isRemembered: boolean): Outcome {
    const outcome = ended.kind === 'Answered' ? outcomeOf(ended.text) : ended
    const seconds = (this.#now() - start) / 1000
    this.#options.onOutcome?.(outcome, { seconds, isRemembered })
    return outcome
  }

  // Another program may answer otherwise.
  #program(): Promise<string> {
    this.#programDigest ??= digestOf(this.#options.program).catch((error) => {
      this.#programDigest = undefined // it may be there the next time
      throw error
    })
    return this.#programDigest
  }
}

function outcomeOf(text: string): Outcome {
  const { nodes, violations = [], overridable = [], errors } = JSON.parse(text) as Answer
  if (errors) return { kind: 'Refused', errors }
  // What took this for a graph would prune all that there is.
  if (!nodes) return unavailable('it answered neither nodes nor errors')
  return { kind: 'Rendered', nodes, violations, overridable }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
