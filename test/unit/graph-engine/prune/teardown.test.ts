import t from 'tap'
import type { InventoryItem } from '../../../../src/shared/graph-engine/inventory.ts'
import { keyOf, refOf } from '../../../../src/shared/graph-engine/node.ts'
import { teardown } from '../../../../src/shared/graph-engine/prune/teardown.ts'
import type {
  ObjectMemory,
  Observation,
} from '../../../../src/shared/graph-engine/step/observed.ts'
import { applied, NAMES, OWNER, START, widget } from '../objects.ts'

const item = (id: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  ...refOf(widget(id)),
  uid: `uid-${id}`,
  hash: 'h',
  state: 'Applied',
  ...more,
})

const pass = (
  inventory: readonly InventoryItem[],
  alive: readonly string[],
  deletionPolicy?: 'Orphan',
  memory: ObjectMemory = {},
) =>
  teardown({
    inventory,
    observed: {
      objects: new Map(
        inventory.map((one): readonly [string, Observation] => [
          keyOf(one),
          alive.includes(one.id)
            ? { state: 'present', object: applied(widget(one.id)) }
            : { state: 'absent' },
        ]),
      ),
      memory: new Map(inventory.map((one) => [keyOf(one), memory])),
    },
    owner: OWNER,
    names: NAMES,
    now: START,
    ...(deletionPolicy && { deletionPolicy }),
  })

const [DB, WEB] = [item('db'), item('web', { dependsOn: ['db'] })]

t.test('deletes what the inventory has, dependents first, until nothing is left', async (t) => {
  const first = pass([DB, WEB], ['db', 'web'])
  t.match(first, { isDone: false, actions: [{ id: 'web' }] })
  t.match(first.inventory, [{ state: 'Applied' }, { state: 'Pruned' }])
  const second = pass(first.inventory, ['db'])
  t.match(second, { isDone: false, actions: [{ id: 'db' }] })
  t.match(second.inventory, [{ id: 'db', state: 'Pruned' }])
  const last = pass(second.inventory, [])
  t.match(last, { isDone: true, actions: [], inventory: [] })
})

t.test('writes nothing where nothing is new', async (t) => {
  const inventory = [item('db', { state: 'Pruned' })]
  t.equal(pass(inventory, ['db']).inventory, inventory)
})

t.test('is done at once where all is to be left', async (t) => {
  const web = item('web', { deletionPolicy: 'Delete' })
  const { isDone, actions, releases } = pass([DB, web], ['db', 'web'], 'Orphan')
  t.ok(isDone)
  t.same(actions, [])
  t.equal(releases.length, 2)
})

t.test('deletes one object once, by whichever name others know it', async (t) => {
  const placed = item('placed', { ...refOf(widget('db')), namespace: 'other', removedAt: START })
  const object = applied(widget('db'))
  const { actions, releases } = teardown({
    inventory: [placed, DB],
    observed: {
      objects: new Map(
        [placed, DB].map((one) => [keyOf(one), { state: 'present', object }] as const),
      ),
      memory: new Map(),
    },
    owner: OWNER,
    names: NAMES,
    now: START,
  })
  t.match(actions, [{ id: 'db' }])
  t.equal(actions.length, 1)
  t.match(releases, [{ reason: 'SameObject', item: { id: 'placed' } }])
})

t.test('looks again when what cannot be deleted is tried again', async (t) => {
  const failure = { message: 'denied', attempts: 1, since: START, retryAt: START + 1_000 }
  const found = pass([DB], ['db'], undefined, { failure })
  t.match(found, {
    isDone: false,
    actions: [],
    obstacles: [{ reason: 'Failed' }],
    lookAgainInMs: 1_000,
  })
})

t.test('an empty inventory is done', async (t) => {
  t.ok(pass([], []).isDone)
})
