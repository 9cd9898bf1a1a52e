import type { Account } from '../../shared/engine/identity.ts'
import {
  type HealLimits,
  type HealMemory,
  permitHeal,
  postponePause,
  spendHeal,
} from '../../shared/engine/throttle.ts'
import { failedAgain } from '../../shared/graph-engine/failure.ts'
import { type Inventory, recordApplied, recordFailed } from '../../shared/graph-engine/inventory.ts'
import { keyOf, type ObjectRef, refOf } from '../../shared/graph-engine/node.ts'
import { type Teardown, teardown } from '../../shared/graph-engine/prune/teardown.ts'
import type { Action } from '../../shared/graph-engine/step/action.ts'
import type { ObjectMemory, Observation } from '../../shared/graph-engine/step/observed.ts'
import { type Step, type StepInput, step } from '../../shared/graph-engine/step/step.ts'
import { act, type Result } from './act.ts'
import type { Observer, ObserverOptions } from './observer.ts'

export interface ExecutorOptions extends ObserverOptions {
  readonly observer: Observer
  readonly healLimits: HealLimits
  readonly isLeader: () => boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly digest: (text: string) => string
  /** Told of each action, what came of it and how many seconds it took. */
  readonly onResult: (action: Action, result: Result, seconds: number) => void
}

/** What one pass is about. */
export interface Work extends Pick<StepInput, 'graph' | 'inventory' | 'owner' | 'deletionPolicy'> {
  /** The graph's key in its controller. */
  readonly key: string
  readonly account: Account
  /** Stores an inventory: before the first of the actions that it tells of, so that no crash loses an object. */
  readonly save: (inventory: Inventory) => Promise<void>
}

interface Memory {
  readonly object: ObjectMemory
  readonly heals?: HealMemory | undefined
}

/** What a pass decides, whether it applies a graph or takes one down. */
type Plan = Pick<Step, 'inventory' | 'actions'>

// Of independent actions so many at a time: the API server has others to serve.
const CONCURRENCY = 10

/** Applies, heals, prunes and deletes the objects of graphs, each in the name of an account. */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #memories = new Map<string, Map<string, Memory>>()

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  /** One pass over a graph: everything that can be done now. */
  async apply(work: Work): Promise<Step> {
    return this.#run(work, (input) => lookedAgain(step(input), input))
  }

  /** One pass of deleting what a graph made. */
  async remove(work: Work): Promise<Teardown> {
    return this.#run(work, (input) => teardown(input))
  }

  /** Forgets a graph. */
  drop(key: string): void {
    this.#memories.delete(key)
    this.#options.observer.drop(key)
  }

  async #run<P extends Plan>(work: Work, plan: (input: StepInput) => P): Promise<P> {
    let objects = await this.#look(work)
    let { inventory } = work
    // What is ready as soon as it is applied lets the next ones be; nothing is waited for.
    for (let round = 0; ; round++) {
      const decided = plan(this.#inputOf({ ...work, inventory }, objects))
      if (decided.actions.length === 0 || round > work.graph.nodes.length) return decided
      if (decided.inventory !== inventory) await work.save(decided.inventory)
      const results = await this.#actAll(decided.actions, work.account)
      inventory = results.reduce(recorded, decided.inventory)
      for (const [action, result] of results) this.#take(work.key, objects, action, result)
      if (results.some(isStale)) objects = await this.#look(work)
    }
  }

  async #look(work: Work): Promise<Map<string, Observation>> {
    const { key, account } = work
    return new Map(await this.#options.observer.observe(key, account, refsOf(work)))
  }

  #inputOf(
    { key, graph, inventory, owner, deletionPolicy }: Work,
    objects: ReadonlyMap<string, Observation>,
  ): StepInput {
    const { names, digest, now } = this.#options
    const memories = [...(this.#memories.get(key) ?? [])]
    const memory = new Map(memories.map(([object, known]) => [object, known.object]))
    return {
      graph,
      inventory,
      observed: { objects, memory },
      owner,
      names,
      digest,
      now: now(),
      ...(deletionPolicy && { deletionPolicy }),
    }
  }

  async #actAll(
    actions: readonly Action[],
    account: Account,
  ): Promise<readonly (readonly [Action, Result])[]> {
    const { client, kinds, isLeader, onResult } = this.#options
    const results: (readonly [Action, Result])[] = []
    const left = actions.values()
    const work = async () => {
      for (const action of left) {
        if (!isLeader()) throw new Error('the Lease is no longer ours')
        const startedAt = performance.now()
        const ref = action.kind === 'apply' ? refOf(action.object) : action.ref
        const at = kinds.resourceOf(ref, ref.namespace)
        const result = await act(action, { client, account, at })
        onResult(action, result, (performance.now() - startedAt) / 1000)
        results.push([action, result])
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return results
  }

  /** Takes an object in as an action left it, and what is to be remembered of that. */
  #take(graph: string, objects: Map<string, Observation>, action: Action, result: Result): void {
    const { key } = action
    const { observer } = this.#options
    const memories = this.#memories.get(graph) ?? new Map<string, Memory>()
    this.#memories.set(graph, memories)
    const memory = this.#remembered(memories.get(key), action, result)
    if (memory) memories.set(key, memory)
    observer.noteWritten(graph, key, result.kind === 'applied' ? result.object : undefined)
    if (result.kind === 'applied') objects.set(key, { state: 'present', object: result.object })
    else if (result.kind === 'gone') objects.set(key, { state: 'absent' })
    // Nobody knows before it is read again.
    else if (result.kind !== 'failed') objects.delete(key)
  }

  #remembered(before: Memory | undefined, action: Action, result: Result): Memory | undefined {
    const { now, healLimits } = this.#options
    if (result.kind === 'failed') {
      const hash = action.kind === 'apply' ? { hash: action.hash } : {}
      const input = { message: result.message, ...hash, now: now(), jitter: Math.random() }
      const failure = failedAgain(before?.object.failure, input)
      return { ...before, object: { ...before?.object, failure } }
    }
    if (result.kind !== 'applied') return before
    const isHeal = action.kind === 'apply' && action.reason === 'Drifted'
    const heals = isHeal ? spendHeal(before?.heals, healLimits, now()) : before?.heals
    return heldBack(heals, healLimits, now())
  }
}

// Nothing tells that a kind is served, or that an account may read.
const UNREADABLE_MS = 5_000

/** The step, looked at again soon where an object cannot be read. */
function lookedAgain(decided: Step, { observed }: StepInput): Step {
  const isReadable = [...observed.objects.values()].every(({ state }) => state !== 'unreadable')
  if (isReadable) return decided
  const { lookAgainInMs = UNREADABLE_MS } = decided
  return { ...decided, lookAgainInMs: Math.min(lookAgainInMs, UNREADABLE_MS) }
}

/** What is remembered after an apply: until when it is not healed again, where others change it as often as we do. */
function heldBack(heals: HealMemory | undefined, limits: HealLimits, now: number): Memory {
  const permit = permitHeal(heals, limits, now)
  const memory = permit.kind === 'pause' ? postponePause(permit.memory, limits, now) : permit.memory
  const isHeld = permit.kind !== 'go' && memory
  return { object: { appliedAt: now, ...(isHeld && { heldUntil: memory.until }) }, heals: memory }
}

function recorded(inventory: Inventory, [action, result]: readonly [Action, Result]): Inventory {
  if (action.kind !== 'apply' || result.kind === 'stale') return inventory
  return result.kind === 'applied'
    ? recordApplied(inventory, action, result.object.metadata.uid ?? '')
    : recordFailed(inventory, action.key)
}

const isStale = ([, { kind }]: readonly [Action, Result]) => kind === 'stale'

const refsOf = ({ graph, inventory }: Work): readonly ObjectRef[] => {
  const refs = [...graph.nodes.map(({ object }) => refOf(object)), ...inventory]
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()]
}
