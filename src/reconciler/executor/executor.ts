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
import type { Release } from '../../shared/graph-engine/prune/prune.ts'
import { type Teardown, teardown } from '../../shared/graph-engine/prune/teardown.ts'
import type { Action } from '../../shared/graph-engine/step/action.ts'
import type { ObjectMemory, Observation } from '../../shared/graph-engine/step/observed.ts'
import { type Step, type StepInput, step } from '../../shared/graph-engine/step/step.ts'
import { type Backoff, createBackoff } from '../../shared/ops/backoff.ts'
import { act, type Result } from './act.ts'
import { inParallel } from './in-parallel.ts'
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

const UNREADABLE = { firstMs: 2_000, longestMs: 300_000 }

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
type Plan = Pick<Step, 'inventory' | 'actions' | 'releases'>

/** Applies, heals, prunes and deletes the objects of graphs, each in the name of an account. */
export class Executor {
  readonly #options: ExecutorOptions
  readonly #memories = new Map<string, Map<string, Memory>>()
  /** When to look again at graphs of which something cannot be read. */
  readonly #unreadable = new Map<string, Backoff>()

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  /** One pass over a graph: everything that can be done now. */
  async apply(work: Work): Promise<Step> {
    return this.#run(work, (input) => this.#lookedAgain(work.key, step(input), input))
  }

  /** One pass of deleting what a graph made. */
  async remove(work: Work): Promise<Teardown> {
    return this.#run(work, (input) => teardown(input))
  }

  /** Forgets a graph. */
  drop(key: string): void {
    this.#memories.delete(key)
    this.#unreadable.delete(key)
    this.#options.observer.drop(key)
  }

  async #run<P extends Plan>(work: Work, plan: (input: StepInput) => P): Promise<P> {
    let objects = await this.#look(work)
    let { inventory } = work
    const releases: Release[] = []
    const stale = new Set<string>()
    const rounds = Math.max(work.graph.nodes.length, inventory.length)
    // What is ready as soon as it is applied lets the next ones be: only what takes its time is left to another pass.
    for (let round = 0; ; round++) {
      const decided = plan(this.#inputOf({ ...work, inventory }, objects))
      releases.push(...decided.releases)
      if (decided.actions.length === 0 || round > rounds) return { ...decided, releases }
      if (decided.inventory !== inventory) await work.save(decided.inventory)
      const results = onceStale(await this.#actAll(decided.actions, work.account), stale)
      inventory = results.reduce(recorded, decided.inventory)
      for (const [action, result] of results) this.#take(work.key, objects, action, result)
      if (results.some(isStale)) objects = await this.#look(work)
    }
  }

  /** The step, looked at again soon, and ever later, where an object cannot be read: nothing tells that a kind is served, or that an account may read. */
  #lookedAgain(key: string, decided: Step, { observed }: StepInput): Step {
    const isReadable = [...observed.objects.values()].every(({ state }) => state !== 'unreadable')
    if (isReadable) {
      this.#unreadable.delete(key)
      return decided
    }
    const backoff = this.#unreadable.get(key) ?? createBackoff(UNREADABLE)
    this.#unreadable.set(key, backoff)
    const againInMs = backoff.next()
    return { ...decided, lookAgainInMs: Math.min(decided.lookAgainInMs ?? againInMs, againInMs) }
  }

  async #look(work: Work): Promise<Map<string, Observation>> {
    const { key, account } = work
    const refs = refsOf(work)
    const wanted = new Set(refs.map(keyOf))
    const memories = this.#memories.get(key)
    for (const object of memories?.keys() ?? []) if (!wanted.has(object)) memories?.delete(object)
    return new Map(await this.#options.observer.observe(key, account, refs))
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

  #actAll(
    actions: readonly Action[],
    account: Account,
  ): Promise<readonly (readonly [Action, Result])[]> {
    const { client, kinds, isLeader, onResult } = this.#options
    return inParallel(actions, async (action) => {
      if (!isLeader()) throw new Error('the Lease is no longer ours')
      const startedAt = performance.now()
      const ref = action.kind === 'apply' ? refOf(action.object) : action.ref
      const at = kinds.resourceOf(ref, ref.namespace)
      const result = await act(action, { client, account, at })
      onResult(action, result, (performance.now() - startedAt) / 1000)
      return [action, result] as const
    })
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
    // What was applied and is gone is put back like what somebody changed, and as rarely.
    const isBack = action.kind === 'apply' && action.reason === 'Absent' && before?.object.appliedAt
    const isHeal = isBack || (action.kind === 'apply' && action.reason === 'Drifted')
    const heals = isHeal ? spendHeal(before?.heals, healLimits, now()) : before?.heals
    return heldBack(heals, healLimits, now())
  }
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

/** The results, of which an object that was another one twice in a pass has failed: somebody keeps us from it. */
const onceStale = (results: readonly (readonly [Action, Result])[], stale: Set<string>) =>
  results.map(([action, result]): readonly [Action, Result] => {
    if (result.kind !== 'stale') return [action, result]
    const isFirst = !stale.has(action.key)
    stale.add(action.key)
    return [action, isFirst ? result : { kind: 'failed', message: 'it changes all the time' }]
  })

const isStale = ([, { kind }]: readonly [Action, Result]) => kind === 'stale'

const refsOf = ({ graph, inventory }: Work): readonly ObjectRef[] => {
  // By its key the last one counts: the version in which the graph has it now.
  const refs = [...inventory, ...graph.nodes.map(({ object }) => refOf(object))]
  return [...new Map(refs.map((ref) => [keyOf(ref), ref])).values()]
}
