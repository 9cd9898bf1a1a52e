import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { type DiffInput, diff, differingFields } from '../../../src/shared/graph-engine/diff.ts'
import { hashOf, type InventoryItem } from '../../../src/shared/graph-engine/inventory.ts'
import { type GraphNode, keyOf, refOf } from '../../../src/shared/graph-engine/node.ts'
import type { Observation } from '../../../src/shared/graph-engine/step/observed.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { applied, NAMES, node, OWNER, widget, withMetadata } from './objects.ts'

const itemOf = ({ id, object }: GraphNode, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  ...refOf(object),
  uid: `uid-${object.metadata.name}`,
  hash: hashOf(object, sha256),
  state: 'Applied',
  ...more,
})

const [a, b] = [node('a'), node('b')]
const CHANGED = node('a', { object: widget('a', { size: 2 }) })

const liveOf = (...objects: readonly KubeObject[]) => ({
  owner: OWNER,
  names: NAMES,
  objects: new Map<string, Observation>([
    ...['a', 'b', 'c'].map((name) => [keyOf(refOf(widget(name))), { state: 'absent' }] as const),
    ...objects.map((object) => [keyOf(refOf(object)), { state: 'present', object }] as const),
  ]),
})

type Row = readonly [
  behaviour: string,
  input: Partial<DiffInput> & { readonly nodes: GraphNode[] },
  differences: string,
]

const rows: readonly Row[] = [
  ['nothing is there', { nodes: [a, b] }, 'created a, created b'],
  ['all is as it was', { nodes: [a], inventory: [itemOf(a)] }, 'unchanged a'],
  ['one object is another', { nodes: [CHANGED], inventory: [itemOf(a)] }, 'changed a'],
  [
    'an intent says nothing',
    { nodes: [a], inventory: [itemOf(a, { hash: '', state: 'Pending' })] },
    'created a',
  ],
  [
    'an object that is only created never changes',
    { nodes: [{ ...CHANGED, applyPolicy: { mode: 'Create' } }], inventory: [itemOf(a)] },
    'unchanged a',
  ],
  [
    'what leaves goes, dependents first',
    { nodes: [a], inventory: [itemOf(a), itemOf(b), itemOf(node('c'), { dependsOn: ['b'] })] },
    'unchanged a, pruned c, pruned b',
  ],
  [
    'what is to be left is',
    { nodes: [a], inventory: [itemOf(a), itemOf(b)], deletionPolicy: 'Orphan' },
    'unchanged a, left b (is left as it is: its deletionPolicy is Orphan)',
  ],
  [
    'nothing leaves with half a graph',
    { nodes: [a], graph: { nodes: [a], isComplete: false }, inventory: [itemOf(a), itemOf(b)] },
    'unchanged a',
  ],
  [
    'live: somebody deleted it',
    { nodes: [a], inventory: [itemOf(a), itemOf(b)], live: liveOf() },
    'created a',
  ],
  [
    'live: as it was',
    { nodes: [a], inventory: [itemOf(a)], live: liveOf(applied(a.object)) },
    'unchanged a',
  ],
  [
    'live: only created',
    {
      nodes: [{ ...CHANGED, applyPolicy: { mode: 'Create' } }],
      inventory: [itemOf(a)],
      live: liveOf(applied(a.object)),
    },
    'unchanged a',
  ],
  [
    'live: what changes',
    { nodes: [CHANGED], inventory: [itemOf(a)], live: liveOf(applied(a.object)) },
    'changed a /spec/size',
  ],
  [
    'live: what drifted',
    {
      nodes: [a],
      inventory: [itemOf(a)],
      live: liveOf(applied(a.object, { metadata: { managedFields: [] } })),
    },
    'changed a ',
  ],
  [
    'live: of others',
    { nodes: [a], live: liveOf(withMetadata(widget('a'), { uid: 'u' })) },
    'refused a (exists already and belongs to no graph)',
  ],
]

t.test('tells what an execution would do', async (t) => {
  for (const [behaviour, { nodes, ...input }, expected] of rows) {
    const differences = diff({
      graph: { nodes, isComplete: true },
      inventory: [],
      digest: sha256,
      ...input,
    })
    const told = differences.map(
      ({ kind, id, fields, message }) =>
        `${kind} ${id}${fields ? ` ${fields.join(' ')}` : ''}${message ? ` (${message})` : ''}`,
    )
    t.equal(told.join(', '), expected, behaviour)
  }
})

const fields: readonly (readonly [
  behaviour: string,
  desired: object,
  live: object,
  pointers: string[],
])[] = [
  ['a value', { a: 1 }, { a: 2 }, ['/spec/a']],
  ['what live lacks', { a: { b: 1 } }, {}, ['/spec/a']],
  ['not what live has besides', { a: 1 }, { a: 1, b: 2 }, []],
  [
    'items in their order',
    { l: [{ n: 'a', v: 1 }] },
    { l: [{ n: 'a', v: 2, d: 3 }, { n: 'b' }] },
    ['/spec/l/0/v'],
  ],
  ['a list that is shorter', { l: [1, 2] }, { l: [1] }, ['/spec/l']],
  ['another sort of value', { a: [1] }, { a: { 0: 1 } }, ['/spec/a']],
  ['not what the server leaves out', { a: null, b: '', c: {}, d: [] }, {}, []],
  ['names with a slash', { 'a/b': 1 }, {}, ['/spec/a~1b']],
]

t.test('finds the fields that differ', async (t) => {
  for (const [behaviour, desired, live, pointers] of fields)
    t.same(differingFields(widget('a', desired), widget('a', live)), pointers, behaviour)
})
