import t from 'tap'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { hashOf, type InventoryItem } from '../../../../src/shared/graph-engine/inventory.ts'
import { type GraphNode, keyOf, refOf } from '../../../../src/shared/graph-engine/node.ts'
import type { Observation } from '../../../../src/shared/graph-engine/step/observed.ts'
import { type StepInput, step } from '../../../../src/shared/graph-engine/step/step.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { applied, NAMES, NOT_READY, node, OWNER, READY, START, widget } from '../objects.ts'

const itemOf = ({ id, object }: GraphNode, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  ...refOf(object),
  uid: `uid-${object.metadata.name}`,
  hash: hashOf(object, sha256),
  state: 'Applied',
  ...more,
})

const [kept, old] = [node('kept'), node('old')]
const INVENTORY = [itemOf(kept), itemOf(old, { removedAt: START })]

const present = (object: KubeObject): Observation => ({ state: 'present', object })
const alive = (nodes: readonly GraphNode[], status: object = READY) =>
  nodes.map(({ object }) => [keyOf(refOf(object)), present(applied(object, { status }))] as const)

const pass = (more: Partial<StepInput> = {}, known = alive([kept, old])) =>
  step({
    graph: { nodes: [kept], isComplete: true },
    inventory: INVENTORY,
    observed: { objects: new Map(known), memory: new Map() },
    owner: OWNER,
    names: NAMES,
    now: START + 60_000,
    digest: sha256,
    ...more,
  })

const CHANGED = node('kept', { object: widget('kept', { size: 2 }) })
const half = { nodes: [kept], isComplete: false }

type Row = readonly [behaviour: string, pass: ReturnType<typeof pass>, actions: string]

const rows: readonly Row[] = [
  ['when all is applied', pass(), 'delete old'],
  [
    'not what the graph has by another name',
    pass({}, [
      ...alive([kept]),
      [keyOf(refOf(old.object)), present(applied(old.object, { metadata: { uid: 'uid-kept' } }))],
    ]),
    '',
  ],
  ['whether or not it is ready', pass({}, alive([kept, old], NOT_READY)), 'delete old'],
  [
    'not before all is applied',
    pass({ graph: { nodes: [CHANGED], isComplete: true } }),
    'apply kept',
  ],
  ['not while something cannot be read', pass({}, alive([old])), ''],
  ['not from half a graph', pass({ graph: half }), ''],
  ['not from an empty one', pass({ graph: { nodes: [], isComplete: true } }), ''],
  ['not within 30 s', pass({ now: START + 29_999 }), ''],
  ['sooner where that is wanted', pass({ now: START, graceSeconds: 0 }), 'delete old'],
  [
    'what the graph has under another name is not gone',
    pass({ graph: { nodes: [kept, node('new', { object: widget('old') })], isComplete: true } }),
    '',
  ],
]

t.test('prunes what left the graph', async (t) => {
  for (const [behaviour, { actions }, expected] of rows)
    t.equal(actions.map(({ kind, id }) => `${kind} ${id}`).join(), expected, behaviour)
})

t.test('keeps it in the inventory until it is gone', async (t) => {
  t.match(pass().inventory, [{ id: 'kept' }, { id: 'old', state: 'Pruned' }])
  const gone = pass({}, [...alive([kept]), [keyOf(refOf(old.object)), { state: 'absent' }]])
  t.same(gone.inventory, [itemOf(kept)])
  t.equal(gone.summary.phase, 'Ready')
})

t.test('is ready although something is still to go, and tells what and when', async (t) => {
  const waits = pass({ now: START + 10_000 })
  t.match(waits, {
    summary: { phase: 'Ready' },
    obstacles: [{ reason: 'GracePeriod' }],
    lookAgainInMs: 20_000,
  })
  t.equal(waits.inventory, INVENTORY)
  const orphan = pass({ deletionPolicy: 'Orphan' })
  t.match(orphan, { actions: [], releases: [{ reason: 'Orphaned', item: { id: 'old' } }] })
  t.same(orphan.inventory, [itemOf(kept)])
})
