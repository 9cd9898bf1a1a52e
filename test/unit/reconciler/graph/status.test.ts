import t from 'tap'
import {
  inventoryOf,
  type Seen,
  statusAfter,
  statusWhileDeleting,
} from '../../../../src/reconciler/graph/resource-graphs/status.ts'
import type { ResourceGraph } from '../../../../src/shared/graph/resource-graph.ts'
import { inventoryIn } from '../../../../src/shared/graph/stored-inventory.ts'
import type { InventoryItem } from '../../../../src/shared/graph-engine/inventory.ts'
import type { Obstacle } from '../../../../src/shared/graph-engine/prune/prune.ts'
import type { Step } from '../../../../src/shared/graph-engine/step/step.ts'

const NOW = '2026-01-01T00:00:00Z'
const item = (id: string): InventoryItem => ({
  id,
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: id,
  hash: 'h',
  state: 'Applied',
})
const graph = (status?: object) =>
  ({
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'ResourceGraph',
    metadata: { name: 'web', namespace: 'shop', generation: 2 },
    spec: { nodes: [{ id: 'a' }] },
    ...(status && { status }),
  }) as unknown as ResourceGraph
const step = (rest: Partial<Seen> = {}): Seen => ({
  isWatched: true,
  inventory: [item('a')],
  actions: [],
  nodes: new Map([['a', { phase: 'Ready', message: '' }]]),
  obstacles: [],
  releases: [],
  summary: { phase: 'Ready' },
  ...rest,
})
const obstacle = (reason: Obstacle['reason']): Obstacle => ({
  ref: item('old'),
  reason,
  message: 'because',
})
const readyAfter = (rest: Partial<Seen>) =>
  statusAfter(graph(), step(rest), NOW).conditions?.find(({ type }) => type === 'Ready')

t.test('Ready', (t) => {
  const both = [item('a'), item('old')]
  const rows: readonly (readonly [string, Partial<Seen>, object])[] = [
    ['all are', {}, { status: 'True', reason: 'Ready', message: '1 object is ready' }],
    [
      'the first that is not is named',
      {
        summary: {
          phase: 'Executing',
          blocking: { id: 'a', object: 'Deployment shop/web', message: '1 of 2 are available' },
        },
      },
      {
        status: 'False',
        reason: 'Executing',
        message: 'Deployment shop/web: 1 of 2 are available',
      },
    ],
    [
      'not while something is left over',
      { inventory: both },
      { status: 'False', reason: 'Pruning' },
    ],
    [
      'nor while that cannot be deleted, which is told',
      { inventory: both, obstacles: [obstacle('Terminating')] },
      { status: 'False', reason: 'Pruning', message: 'because' },
    ],
    [
      'but with what is protected',
      { inventory: both, obstacles: [obstacle('Protected')] },
      {
        status: 'True',
        message: '1 object is ready; because',
      },
    ],
  ]
  for (const [what, rest, ready] of rows) t.match(readyAfter(rest), ready, what)
  t.end()
})

t.test('only what failed is Stalled', (t) => {
  const blocking = { id: 'a', object: 'ConfigMap shop/a', message: 'no' }
  const stalled = (phase: Step['summary']['phase']) =>
    statusAfter(graph(), step({ summary: { phase, blocking } }), NOW).conditions?.some(
      ({ type }) => type === 'Stalled',
    )
  t.equal(stalled('Failed'), true)
  t.equal(stalled('Executing'), false)
  t.end()
})

t.test('a node says since when it is ready, and why it is not', (t) => {
  const nodes = new Map([
    ['a', { phase: 'Ready', message: '', readyDetails: 'all is well', appliedAt: 0 }],
    ['b', { phase: 'Error', message: 'forbidden' }],
    ['c', { phase: 'WaitingReady', message: 'no pod yet' }],
  ] as const)
  const status = statusAfter(graph(), step({ nodes }), NOW)
  t.same(status.nodeStatus, {
    a: {
      phase: 'Ready',
      readyDetails: 'all is well',
      appliedAt: '1970-01-01T00:00:00Z',
      readyAt: '2026-01-01T00:00:00Z',
    },
    b: { phase: 'Error', lastError: 'forbidden' },
    c: { phase: 'WaitingReady', readyDetails: 'no pod yet' },
  })
  const later = statusAfter(graph(status), step({ nodes }), '2027-01-01T00:00:00Z')
  t.equal(later.nodeStatus?.a?.readyAt, '2026-01-01T00:00:00Z')
  t.end()
})

t.test('while it is deleted, what holds it up is told', (t) => {
  const teardown = {
    inventory: [item('old')],
    actions: [],
    obstacles: [{ ...obstacle('Terminating'), since: 0 }],
    releases: [],
    isDone: false,
  }
  t.match(statusWhileDeleting(graph(), teardown, NOW), {
    conditions: [
      {
        type: 'Ready',
        reason: 'Deleting',
        message: 'because, since 1970-01-01T00:00:00Z',
      },
    ],
    inventory: [{ name: 'old' }],
  })
  t.end()
})

t.test('an inventory is read as it was written', (t) => {
  const inventory = [{ ...item('a'), removedAt: 1_000 }, item('b')]
  t.same(inventoryIn(graph({ inventory: inventoryOf(inventory) })), inventory)
  t.end()
})

t.test('what is not watched is told', (t) => {
  const typesAfter = (isWatched: boolean) =>
    statusAfter(graph(), step({ isWatched }), NOW).conditions?.map(({ type }) => type)
  t.same(typesAfter(true), ['Ready'])
  t.same(typesAfter(false), ['Ready', 'Watched'])
  t.end()
})
