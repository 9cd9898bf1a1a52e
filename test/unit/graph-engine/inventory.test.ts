import fc from 'fast-check'
import t from 'tap'
import {
  hashOf,
  type Inventory,
  type InventoryItem,
  recordApplied,
  recordFailed,
  withGraph,
  withIntent,
} from '../../../src/shared/graph-engine/inventory.ts'
import { type Graph, type GraphNode, keyOf, refOf } from '../../../src/shared/graph-engine/node.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { runs } from '../runs.ts'
import { node, widget } from './objects.ts'

const NOW = 1_000

const graph = (...nodes: readonly GraphNode[]) => ({ nodes, isComplete: true })

/** As if each node were applied. */
const intentOf = (before: Inventory, whole: Graph) =>
  withIntent(withGraph(before, whole, NOW), whole, whole.nodes)

const item = (id: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  ...refOf(widget(id)),
  uid: `uid-${id}`,
  hash: 'h',
  state: 'Applied',
  ...more,
})

t.test('the hash is that of the value, not of how it is written', async (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (spec) => {
      const reversed = Object.fromEntries(Object.entries(spec).reverse())
      return hashOf(widget('a', spec), sha256) === hashOf(widget('a', reversed), sha256)
    }),
    { numRuns: runs(100) },
  )
  t.not(hashOf(widget('a', { size: 1 }), sha256), hashOf(widget('a', { size: 2 }), sha256))
})

t.test('holds every object before it is applied', async (t) => {
  const policy = { deletionPolicy: 'Orphan' as const }
  const intent = intentOf(
    [],
    graph(node('a'), node('b', { dependsOn: ['a'], applyPolicy: policy })),
  )
  t.same(intent, [
    { id: 'a', ...refOf(widget('a')), hash: '', state: 'Pending' },
    {
      id: 'b',
      ...refOf(widget('b')),
      hash: '',
      state: 'Pending',
      dependsOn: ['a'],
      deletionPolicy: 'Orphan',
    },
  ])
})

const rows: readonly (readonly [
  behaviour: string,
  before: Inventory,
  nodes: GraphNode[],
  after: Inventory,
])[] = [
  ['keeps what was applied', [item('a')], [node('a')], [item('a')]],
  [
    'keeps what left, and since when',
    [item('a'), item('b', { dependsOn: ['a'] })],
    [node('a')],
    [item('a'), item('b', { dependsOn: ['a'], removedAt: NOW })],
  ],
  [
    'keeps the time when it left',
    [item('a'), item('b', { removedAt: 7 })],
    [node('a')],
    [item('a'), item('b', { removedAt: 7 })],
  ],
  ['forgets it when it comes back', [item('a', { removedAt: 7 })], [node('a')], [item('a')]],
  [
    'will apply again what comes back while it goes',
    [item('a', { removedAt: 7, state: 'Pruned' })],
    [node('a')],
    [item('a', { state: 'Pending' })],
  ],
  [
    'follows changes of edges and policies without an apply',
    [item('a'), item('b', { dependsOn: ['a'], deletionPolicy: 'Orphan' })],
    [node('a', { applyPolicy: { deletionPolicy: 'Delete' } }), node('b')],
    [item('a', { deletionPolicy: 'Delete' }), item('b')],
  ],
  [
    'takes an object in another version for the same',
    [item('a')],
    [node('a', { object: { ...widget('a'), apiVersion: 'example.com/v2' } })],
    [item('a', { apiVersion: 'example.com/v2' })],
  ],
  [
    'renames an object whose node got another name, and edges to it',
    [item('a'), item('b', { dependsOn: ['a'] })],
    [node('c', { object: widget('a') })],
    [{ ...item('a'), id: 'c' }, item('b', { dependsOn: ['c'], removedAt: NOW })],
  ],
  [
    'renames the former object of a node, and edges to it',
    [item('a'), item('b', { dependsOn: ['a'] })],
    [node('a', { object: widget('other') })],
    [
      { ...item('a', { removedAt: NOW }), id: 'a~2' },
      item('b', { dependsOn: ['a~2'], removedAt: NOW }),
      { id: 'a', ...refOf(widget('other')), hash: '', state: 'Pending' },
    ],
  ],
  [
    'renames each former one',
    [{ ...item('x', { removedAt: 7 }), id: 'a~2' }, item('a')],
    [node('a', { object: widget('other') })],
    [
      { ...item('x', { removedAt: 7 }), id: 'a~2' },
      { ...item('a', { removedAt: NOW }), id: 'a~3' },
      { id: 'a', ...refOf(widget('other')), hash: '', state: 'Pending' },
    ],
  ],
]

t.test('follows the graph', async (t) => {
  for (const [behaviour, before, nodes, after] of rows)
    t.same(intentOf(before, graph(...nodes)), after, behaviour)
})

t.test('holds nothing that is not applied', async (t) => {
  const whole = graph(node('a'), node('b', { dependsOn: ['a'] }))
  const [a] = whole.nodes
  const intent = withIntent(withGraph([], whole, NOW), whole, a ? [a] : [])
  t.match(intent, [{ id: 'a' }])
  t.equal(intent.length, 1)
})

t.test('is the same one where nothing is new', async (t) => {
  const inventory = [item('b', { removedAt: 7 }), item('a', { dependsOn: ['c'] }), item('c')]
  const nodes = [node('a', { dependsOn: ['c'] }), node('c')]
  t.equal(intentOf(inventory, graph(...nodes)), inventory)
})

t.test('takes nothing for gone that half a graph or an empty one lacks', async (t) => {
  const inventory = [item('a'), item('b')]
  t.equal(intentOf(inventory, { nodes: [node('a')], isComplete: false }), inventory)
  t.equal(intentOf(inventory, { nodes: [], isComplete: true }), inventory)
})

t.test('records how an apply went', async (t) => {
  const intent = intentOf([], graph(node('a'), node('b')))
  const key = keyOf(refOf(widget('a')))
  const done = recordApplied(intent, { key, hash: 'h' }, 'u1')
  t.match(done, [
    { state: 'Applied', hash: 'h', uid: 'u1' },
    { state: 'Pending', hash: '' },
  ])
  t.match(recordFailed(done, key), [
    { state: 'Failed', hash: 'h', uid: 'u1' },
    { state: 'Pending' },
  ])
})
