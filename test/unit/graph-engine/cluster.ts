import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { type Failure, failedAgain } from '../../../src/shared/graph-engine/failure.ts'
import {
  type Inventory,
  recordApplied,
  recordFailed,
} from '../../../src/shared/graph-engine/inventory.ts'
import type { Graph } from '../../../src/shared/graph-engine/node.ts'
import { keyOf, refOf } from '../../../src/shared/graph-engine/node.ts'
import { teardown } from '../../../src/shared/graph-engine/prune/teardown.ts'
import type {
  Action,
  ApplyAction,
  DeleteAction,
} from '../../../src/shared/graph-engine/step/action.ts'
import type { Observation } from '../../../src/shared/graph-engine/step/observed.ts'
import { type Step, step } from '../../../src/shared/graph-engine/step/step.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { applyEntry, NAMES, NOT_READY, OWNER, READY, START, timestamp } from './objects.ts'

class Crash extends Error {}

/** What a model of a cluster watches over; each throws where it is broken. */
export interface Rules {
  readonly onApply: (action: ApplyAction, cluster: Cluster) => void
  readonly onPrune: (action: DeleteAction, cluster: Cluster) => void
  readonly onTeardown: (action: DeleteAction, cluster: Cluster) => void
}

/** Objects, a written inventory and an executor that can end at any instant, as far as the engine can tell them from real ones. */
export class Cluster {
  readonly live = new Map<string, KubeObject>()
  readonly failing = new Set<string>()
  readonly failures = new Map<string, Failure>()
  /** The keys of what each object depended on in the last graph that had it. */
  readonly edges = new Map<string, readonly string[]>()
  inventory: Inventory = []
  graph: Graph = { nodes: [], isComplete: true }
  now = START
  #versions = 0
  /** How many operations the executor lives on. */
  #life = Number.POSITIVE_INFINITY
  readonly #rules: Rules

  constructor(rules: Rules) {
    this.#rules = rules
  }

  look(): Step {
    return step({
      ...this.#input(),
      graph: this.graph,
      inventory: this.inventory,
      graceSeconds: 0,
    })
  }

  /** One pass, and what it asks for; the executor ends after so many operations and forgets what it knew. */
  pass(life = Number.POSITIVE_INFINITY): Step {
    const found = this.look()
    this.#survive(life, () => {
      this.#write(found.inventory)
      this.#learnEdges()
      this.#execute(found.actions, this.#rules.onPrune)
    })
    return found
  }

  tearDown(life = Number.POSITIVE_INFINITY) {
    const found = teardown({ ...this.#input(), inventory: this.inventory })
    this.#survive(life, () => {
      this.#write(found.inventory)
      this.#execute(found.actions, this.#rules.onTeardown)
    })
    return found
  }

  /** What the kinds' controllers do when nothing hinders them: all becomes ready, what is being deleted goes. */
  progress() {
    for (const [key, object] of this.live)
      if (object.metadata.deletionTimestamp) this.live.delete(key)
      else if (object.kind === 'Widget') this.#put(key, { ...object, status: READY })
  }

  change(key: string, changed: (object: KubeObject) => KubeObject) {
    const object = this.live.get(key)
    if (object) this.#put(key, changed(object))
  }

  #put(key: string, object: KubeObject) {
    const resourceVersion = String(++this.#versions)
    this.live.set(key, { ...object, metadata: { ...object.metadata, resourceVersion } })
  }

  #input() {
    const objects = new Map<string, Observation>()
    const keys = [
      ...this.inventory.map(keyOf),
      ...this.graph.nodes.map((node) => keyOf(refOf(node.object))),
    ]
    for (const key of keys) {
      const object = this.live.get(key)
      objects.set(key, object ? { state: 'present', object } : { state: 'absent' })
    }
    const memory = new Map([...this.failures].map(([key, failure]) => [key, { failure }]))
    return {
      observed: { objects, memory },
      owner: OWNER,
      names: NAMES,
      now: this.now,
      digest: sha256,
    }
  }

  #survive(life: number, work: () => void) {
    this.#life = life
    try {
      work()
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      this.failures.clear()
    }
  }

  #learnEdges() {
    const keys = new Map(this.graph.nodes.map(({ id, object }) => [id, keyOf(refOf(object))]))
    for (const { id, dependsOn = [] } of this.graph.nodes)
      this.edges.set(
        keys.get(id) ?? '',
        dependsOn.map((dependency) => keys.get(dependency) ?? ''),
      )
  }

  #spend() {
    if (this.#life-- <= 0) throw new Crash()
  }

  #write(inventory: Inventory) {
    if (inventory === this.inventory) return
    this.#spend()
    this.inventory = inventory
  }

  #execute(actions: readonly Action[], rule: Rules['onPrune']) {
    for (const action of actions)
      if (action.kind === 'apply') this.#apply(action)
      else this.#delete(action, rule)
  }

  #apply(action: ApplyAction) {
    const { key, id, hash, object } = action
    this.#spend()
    this.#rules.onApply(action, this)
    if (this.failing.has(id)) {
      const failed = { message: 'refused', hash, now: this.now, jitter: 0.5 }
      this.failures.set(key, failedAgain(this.failures.get(key), failed))
      this.#write(recordFailed(this.inventory, key))
      return
    }
    const uid = this.#store(key, object, action.fieldManager)
    this.failures.delete(key)
    this.#spend()
    this.#write(recordApplied(this.inventory, action, uid))
  }

  #store(key: string, object: KubeObject, manager: string): string {
    const before = this.live.get(key)?.metadata
    const uid = before?.uid ?? `uid-${++this.#versions}`
    const metadata = {
      ...object.metadata,
      uid,
      generation: (before?.generation ?? 0) + 1,
      creationTimestamp: before?.creationTimestamp ?? timestamp(this.now),
      managedFields: [applyEntry(object, manager)],
    }
    const status = object.kind === 'Widget' ? { status: NOT_READY } : {}
    this.#put(key, { ...object, ...status, metadata } as KubeObject)
    return uid
  }

  #delete(action: DeleteAction, rule: Rules['onPrune']) {
    this.#spend()
    rule(action, this)
    this.change(action.key, (object) => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: timestamp(this.now) },
    }))
  }
}
