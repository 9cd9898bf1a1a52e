import fc from 'fast-check'
import t from 'tap'
import { type Ordered, orderOf, shortestCycle } from '../../../src/shared/graph-engine/order.ts'
import { growth } from '../growth.ts'
import { runs } from '../runs.ts'

/** `b:a c` reads: b depends on a and c. */
const graph = (...lines: readonly string[]): Ordered[] =>
  lines.map((line) => {
    const [id = '', dependencies = ''] = line.split(':')
    return { id, dependsOn: dependencies.split(' ').filter((name) => name !== '') }
  })

const orders: readonly (readonly [
  behaviour: string,
  lines: string[],
  waves: string,
  rest: string,
])[] = [
  ['nothing', [], '', ''],
  ['independent nodes as declared', ['c', 'a', 'b'], 'c a b', ''],
  ['each after what it depends on', ['web:db', 'db:disk', 'disk'], 'disk | db | web', ''],
  ['a diamond', ['d:b c', 'c:a', 'b:a', 'a'], 'a | c b | d', ''],
  ['as late as the last that it depends on', ['x:a c', 'a', 'b:a', 'c:b'], 'a | b | c | x', ''],
  ['two edges to one node are one', ['b:a a', 'a'], 'a | b', ''],
  ['what is unknown says nothing of order', ['b:gone', 'a'], 'b a', ''],
  ['no place for a cycle and what depends on it', ['a:b', 'b:a', 'c:b', 'd'], 'd', 'a b c'],
]

t.test('orders', async (t) => {
  for (const [behaviour, lines, waves, rest] of orders) {
    const order = orderOf(graph(...lines))
    t.equal(order.waves.map((wave) => wave.join(' ')).join(' | '), waves, behaviour)
    t.equal(order.rest.join(' '), rest, `${behaviour}: rest`)
  }
})

const cycles: readonly (readonly [
  behaviour: string,
  lines: string[],
  cycle: string | undefined,
])[] = [
  ['none', ['b:a', 'a'], undefined],
  ['a node that waits for itself', ['a:a'], 'a → a'],
  ['the path along dependencies', ['a:b', 'b:c', 'c:a'], 'a → b → c → a'],
  ['begins with the first that is declared', ['c:a', 'b:c', 'a:b'], 'c → a → b → c'],
  ['the shortest of several', ['a:b', 'b:c', 'c:a d', 'd:c'], 'c → d → c'],
  ['of two the one that is declared first', ['x:y', 'y:x', 'a:b', 'b:a'], 'x → y → x'],
  ['not what only depends on it', ['w:a', 'a:b', 'b:a'], 'a → b → a'],
]

t.test('names the shortest cycle', async (t) => {
  for (const [behaviour, lines, cycle] of cycles)
    t.equal(shortestCycle(graph(...lines))?.join(' → '), cycle, behaviour)
})

const anyGraph = fc
  .uniqueArray(fc.constantFrom(...'abcdefgh'), { minLength: 1 })
  .chain((ids) =>
    fc.tuple(...ids.map((id) => fc.record({ id: fc.constant(id), dependsOn: fc.subarray(ids) }))),
  )

const dependenciesOf = (nodes: readonly Ordered[], id = '') =>
  nodes.find((node) => node.id === id)?.dependsOn ?? []

const isOrder = (nodes: readonly Ordered[], waves: readonly (readonly string[])[]) =>
  waves.every((wave, index) => {
    const before = new Set(waves.slice(0, index).flat())
    return wave.every((id) => dependenciesOf(nodes, id).every((one) => before.has(one)))
  })

const isCycle = (nodes: readonly Ordered[], path: readonly string[]) =>
  path.length > 1 &&
  path[0] === path.at(-1) &&
  path.slice(1).every((id, index) => dependenciesOf(nodes, path[index]).includes(id))

t.test('orders all, or names a cycle that there is', async (t) => {
  fc.assert(
    fc.property(anyGraph, (nodes) => {
      const { waves, rest } = orderOf(nodes)
      const cycle = shortestCycle(nodes)
      return isOrder(nodes, waves) && (cycle ? isCycle(nodes, cycle) : rest.length === 0)
    }),
    { numRuns: runs(200) },
  )
  t.pass()
})

t.test('takes time in proportion to nodes and edges', async (t) => {
  const shapes: Readonly<Record<string, (size: number) => Ordered[]>> = {
    chain: (size) =>
      Array.from({ length: size }, (_, index) => ({
        id: `n${index}`,
        dependsOn: index > 0 ? [`n${index - 1}`] : [],
      })),
    fan: (size) => [
      { id: 'root' },
      ...Array.from({ length: size }, (_, index) => ({ id: `n${index}`, dependsOn: ['root'] })),
    ],
    cycle: (size) =>
      Array.from({ length: size }, (_, index) => ({
        id: `n${index}`,
        dependsOn: [`n${(index + 1) % size}`],
      })),
  }
  for (const [shape, graphOf] of Object.entries(shapes))
    t.ok(
      growth(8_000, (size) => {
        const nodes = graphOf(size)
        return () => orderOf(nodes)
      }) < 4,
      shape,
    )
})
