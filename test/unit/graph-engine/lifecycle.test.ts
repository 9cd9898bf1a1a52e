import fc from 'fast-check'
import t from 'tap'
import { annotationOf } from '../../../src/shared/engine/json/object.ts'
import { hashOf, type InventoryItem } from '../../../src/shared/graph-engine/inventory.ts'
import { type GraphNode, keyOf, refOf } from '../../../src/shared/graph-engine/node.ts'
import { readinessOf } from '../../../src/shared/graph-engine/readiness/readiness.ts'
import type { ApplyAction, DeleteAction } from '../../../src/shared/graph-engine/step/action.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { runs } from '../runs.ts'
import { Cluster, type Rules } from './cluster.ts'
import { configMap, NAMES, widget, withMetadata } from './objects.ts'

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']

/** A graph over some of the ids: each node depends on earlier ones only, in an order that differs from graph to graph. */
const anyNodes = fc
  .shuffledSubarray(IDS, { minLength: 1 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id, index) =>
        fc.record({
          id: fc.constant(id),
          dependsOn: fc.subarray(ids.slice(0, index)),
          object: fc.oneof(
            fc.constantFrom(1, 2, 3).map((size) => widget(id, { size })),
            fc.constantFrom('x', 'y').map((key) => configMap(id, { key })),
            // The same node with another object: the old one is to go.
            fc.constant(widget(`${id}-other`, { size: 1 })),
          ),
        }),
      ),
    ),
  )
  .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }))

const isReady = (cluster: Cluster, { object }: GraphNode) => {
  const live = cluster.live.get(keyOf(refOf(object)))
  const item = itemOf(cluster, keyOf(refOf(object)))
  return (
    live !== undefined &&
    item?.hash === hashOf(object, sha256) &&
    readinessOf(live, cluster.now).state === 'Ready'
  )
}

const itemOf = (cluster: Cluster, key: string): InventoryItem | undefined =>
  cluster.inventory.find((item) => keyOf(item) === key)

/** All that a node needs, directly or not. */
const needsOf = (nodes: readonly GraphNode[], id: string): readonly GraphNode[] =>
  nodes
    .filter((node) => nodes.find((one) => one.id === id)?.dependsOn?.includes(node.id))
    .flatMap((node) => [node, ...needsOf(nodes, node.id)])

const onApply: Rules['onApply'] = ({ id, key }: ApplyAction, cluster) => {
  if (!itemOf(cluster, key)) throw new Error(`${key} is applied and not in the inventory`)
  const unready = needsOf(cluster.graph.nodes, id).find((node) => !isReady(cluster, node))
  if (unready) throw new Error(`${id} is applied before ${unready.id} is ready`)
}

const onPrune: Rules['onPrune'] = (action, cluster) => {
  const { isComplete, nodes } = cluster.graph
  if (!isComplete || nodes.length === 0) throw new Error(`${action.key} is pruned by half a graph`)
  onTeardown(action, cluster)
}

const onTeardown: Rules['onTeardown'] = ({ key, uid }: DeleteAction, cluster) => {
  if (cluster.live.get(key)?.metadata.uid !== uid) throw new Error(`${key} is another object`)
  const wanted = new Set(cluster.graph.nodes.map(({ object }) => keyOf(refOf(object))))
  if (wanted.has(key)) throw new Error(`${key} is deleted although the graph has it`)
  const user = [...cluster.live.keys()].find(
    (other) => !wanted.has(other) && cluster.edges.get(other)?.includes(key),
  )
  if (user) throw new Error(`${key} is deleted before ${user}`)
  const unapplied = cluster.graph.nodes.find(
    ({ object }) => itemOf(cluster, keyOf(refOf(object)))?.hash !== hashOf(object, sha256),
  )
  if (unapplied) throw new Error(`${key} is pruned before ${unapplied.id} is applied`)
}

const nothingIsLost = (cluster: Cluster) => {
  for (const [key, object] of cluster.live)
    if (annotationOf(object, NAMES.ownerAnnotation) && !itemOf(cluster, key))
      throw new Error(`${key} is in the cluster and in no inventory`)
}

type Event = (cluster: Cluster) => void

const passes = (life?: number) => (cluster: Cluster) => {
  cluster.pass(life)
}

const progresses = (cluster: Cluster) => cluster.progress()

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  anyNodes.map((nodes) => (cluster: Cluster) => {
    cluster.graph = { nodes, isComplete: true }
  }),
  { weight: 2, arbitrary: fc.nat({ max: 12 }).map(passes) },
  { weight: 4, arbitrary: fc.constant(passes()) },
  { weight: 3, arbitrary: fc.constant(progresses) },
  fc.nat({ max: 60_000 }).map((ms) => (cluster: Cluster) => {
    cluster.now += ms
  }),
  fc.constantFrom(...IDS).map((id) => (cluster: Cluster) => {
    if (!cluster.failing.delete(id)) cluster.failing.add(id)
  }),
  // Somebody deletes an object by hand.
  fc.nat().map((number) => (cluster: Cluster) => {
    const key = [...cluster.live.keys()][number % Math.max(1, cluster.live.size)]
    if (key !== undefined) cluster.live.delete(key)
  }),
  // Somebody wipes out who owns what.
  fc.nat().map((number) => (cluster: Cluster) => {
    const key = [...cluster.live.keys()][number % Math.max(1, cluster.live.size)] ?? ''
    cluster.change(key, (object) => withMetadata(object, { managedFields: [] }))
  }),
  // A rendering fails: half a graph, or none.
  fc.nat({ max: 1 }).map((count) => (cluster: Cluster) => {
    cluster.graph = { nodes: cluster.graph.nodes.slice(0, count), isComplete: count === 0 }
  }),
)

const anyEvents = fc.array(anyEvent, { maxLength: 40, size: 'max' })

const RULES: Rules = { onApply, onPrune, onTeardown }

const playedBy = (events: readonly Event[]) => {
  const cluster = new Cluster(RULES)
  for (const event of events) {
    event(cluster)
    // No two edits fall into one instant.
    cluster.now++
    nothingIsLost(cluster)
  }
  return cluster
}

/** Until nothing is left to do, however long it takes. */
const settle = (cluster: Cluster) => {
  for (let pass = 0; pass < 200; pass++) {
    const { actions, lookAgainInMs } = cluster.pass()
    const before = cluster.inventory
    nothingIsLost(cluster)
    cluster.progress()
    cluster.now += lookAgainInMs ?? 0
    const { actions: next, lookAgainInMs: later, inventory } = cluster.look()
    const isFailing = cluster.failing.size > 0
    if (
      actions.length + next.length === 0 &&
      inventory === before &&
      (later === undefined || isFailing)
    )
      return
  }
  throw new Error('never at rest')
}

t.test('whatever happens, in order, and nothing is lost', async () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      playedBy(events)
    }),
    { numRuns: runs(200) },
  )
})

t.test(
  'comes to rest with exactly the objects of the graph, and a pass at rest asks for nothing',
  async (t) => {
    fc.assert(
      fc.property(anyEvents, anyNodes, (events, nodes) => {
        const cluster = playedBy(events)
        cluster.failing.clear()
        cluster.graph = { nodes, isComplete: true }
        settle(cluster)
        const wanted = nodes.map(({ object }) => keyOf(refOf(object))).sort()
        if (wanted.join() !== [...cluster.live.keys()].sort().join())
          throw new Error(`there is ${[...cluster.live.keys()]}`)
        const { summary, actions, inventory, lookAgainInMs } = cluster.look()
        if (summary.phase !== 'Ready' || summary.blocking) throw new Error('not ready')
        if (actions.length > 0 || lookAgainInMs !== undefined) throw new Error('not at rest')
        if (inventory !== cluster.inventory) throw new Error('writes at rest')
      }),
      { numRuns: runs(150) },
    )
    t.pass()
  },
)

const expectedPhase = (nodes: readonly GraphNode[], id: string, failing: readonly string[]) => {
  if (needsOf(nodes, id).some((need) => failing.includes(need.id))) return 'Pending'
  return failing.includes(id) ? 'Error' : 'Ready'
}

t.test('a failed node blocks what depends on it, and nothing else', async (t) => {
  fc.assert(
    fc.property(anyNodes, fc.subarray(IDS), (nodes, failing) => {
      const cluster = new Cluster(RULES)
      cluster.graph = { nodes, isComplete: true }
      for (const id of failing) cluster.failing.add(id)
      for (let pass = 0; pass < 30; pass++) {
        cluster.pass()
        cluster.progress()
        cluster.now += 1_000
      }
      const { nodes: states } = cluster.look()
      for (const { id } of nodes) {
        const [phase, expected] = [states.get(id)?.phase, expectedPhase(nodes, id, failing)]
        if (phase !== expected) throw new Error(`${id} is ${phase}, not ${expected}`)
      }
    }),
    { numRuns: runs(150) },
  )
  t.pass()
})

t.test(
  'is torn down in order, by the inventory alone, and whatever it is interrupted by',
  async (t) => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.nat({ max: 6 }), { maxLength: 6 }), (events, lives) => {
        const cluster = playedBy(events)
        cluster.graph = { nodes: [], isComplete: false }
        for (const life of lives) {
          cluster.tearDown(life)
          nothingIsLost(cluster)
        }
        for (let pass = 0; pass < 60 && !cluster.tearDown().isDone; pass++) {
          nothingIsLost(cluster)
          cluster.progress()
        }
        if (cluster.live.size > 0 || cluster.inventory.length > 0)
          throw new Error('something is left')
      }),
      { numRuns: runs(150) },
    )
    t.pass()
  },
)
