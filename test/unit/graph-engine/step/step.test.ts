import t from 'tap'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import {
  hashOf,
  type Inventory,
  type InventoryItem,
} from '../../../../src/shared/graph-engine/inventory.ts'
import { type GraphNode, keyOf, refOf } from '../../../../src/shared/graph-engine/node.ts'
import type {
  ObjectMemory,
  Observation,
} from '../../../../src/shared/graph-engine/step/observed.ts'
import { type Step, type StepInput, step } from '../../../../src/shared/graph-engine/step/step.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import {
  applied,
  MANAGER,
  NAMES,
  NOT_READY,
  node,
  OWNER,
  READY,
  START,
  timestamp,
  widget,
  withMetadata,
} from '../objects.ts'

const ABSENT: Observation = { state: 'absent' }
const present = (object: KubeObject): Observation => ({ state: 'present', object })

const itemOf = ({ id, object, dependsOn }: GraphNode, more: Partial<InventoryItem> = {}) => ({
  id,
  ...refOf(object),
  uid: `uid-${object.metadata.name}`,
  hash: hashOf(object, sha256),
  state: 'Applied' as const,
  ...(dependsOn && { dependsOn }),
  ...more,
})

const web = node('web', { dependsOn: ['db'] })
const db = node('db')

/** What is known of the nodes' objects, by id. */
const observe = (
  nodes: readonly GraphNode[],
  known: Readonly<Record<string, Observation>>,
): ReadonlyMap<string, Observation> =>
  new Map(
    nodes.flatMap(({ id, object }) => {
      const observation = known[id]
      return observation ? [[keyOf(refOf(object)), observation] as const] : []
    }),
  )

interface Scene {
  readonly nodes?: readonly GraphNode[]
  readonly known: Readonly<Record<string, Observation>>
  readonly inventory?: Inventory
  readonly memory?: Readonly<Record<string, ObjectMemory>>
  readonly more?: Partial<StepInput>
}

const passOf = ({
  nodes = [db, web],
  known,
  inventory = nodes.map((one) => itemOf(one)),
  memory = {},
  more,
}: Scene): Step =>
  step({
    graph: { nodes, isComplete: true },
    inventory,
    observed: {
      objects: observe(nodes, known),
      memory: new Map(
        nodes.map(({ id, object }) => [keyOf(refOf(object)), memory[id] ?? {}] as const),
      ),
    },
    owner: OWNER,
    names: NAMES,
    now: START + 60_000,
    digest: sha256,
    ...more,
  })

/** `apply db` and so on. */
const actionsOf = ({ actions }: Step) => actions.map(({ kind, id }) => `${kind} ${id}`).join(', ')

/** `db: Ready, web: Pending (waits …)`. */
const statesOf = ({ nodes }: Step) =>
  [...nodes]
    .map(([id, { phase, message }]) => `${id}: ${phase}${message && ` (${message})`}`)
    .join(', ')

const ready = (object: KubeObject) => present(applied(object, { status: READY }))
const failure = (retryAt: number, object = db.object) => ({
  failure: {
    message: 'denied by quota',
    attempts: 2,
    since: START,
    retryAt,
    hash: hashOf(object, sha256),
  },
})

const CHANGED = node('db', { object: widget('db', { size: 2 }) })
const FOREIGN = withMetadata(widget('db'), {
  uid: 'u',
  managedFields: [{ manager: 'helm', operation: 'Update' }],
})
const DRIFTED = present(applied(db.object, { status: READY, metadata: { managedFields: [] } }))

type Row = readonly [
  behaviour: string,
  scene: Scene,
  actions: string,
  states: string,
  phase: string,
]

const rows: readonly Row[] = [
  [
    'a new graph begins with what depends on nothing',
    { known: { db: ABSENT, web: ABSENT }, inventory: [] },
    'apply db',
    'db: Applying (is being applied), web: Pending (waits for Widget shop/db: is being applied)',
    'Executing',
  ],
  [
    'nothing is applied before it was read',
    { known: {}, inventory: [] },
    '',
    'db: Pending (has not been read yet), web: Pending (has not been read yet)',
    'Pending',
  ],
  [
    'what the inventory calls applied is',
    { known: {} },
    '',
    'db: Applied (has not been read yet), web: Applied (has not been read yet)',
    'Executing',
  ],
  [
    'a node waits until what it depends on is ready',
    { known: { db: present(applied(db.object, { status: NOT_READY })), web: ABSENT } },
    '',
    'db: WaitingReady (Ready=False (Starting): wait for it), web: Pending (waits for Widget shop/db: Ready=False (Starting): wait for it)',
    'Executing',
  ],
  [
    'and goes on then',
    { known: { db: ready(db.object), web: ABSENT } },
    'apply web',
    'db: Ready, web: Applying (is being applied)',
    'Executing',
  ],
  [
    'a graph at rest asks for nothing',
    { known: { db: ready(db.object), web: ready(web.object) } },
    '',
    'db: Ready, web: Ready',
    'Ready',
  ],
  [
    'a change is applied',
    { nodes: [CHANGED], known: { db: ready(db.object) }, inventory: [itemOf(db)] },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'a change waits for what it depends on',
    {
      nodes: [CHANGED, node('web', { object: widget('web', { size: 2 }), dependsOn: ['db'] })],
      known: { db: ready(db.object), web: ready(web.object) },
      inventory: [itemOf(db), itemOf(web)],
    },
    'apply db',
    'db: Applying (is being applied), web: Pending (waits for Widget shop/db: is being applied)',
    'Executing',
  ],
  [
    'what drifted is applied',
    { nodes: [db], known: { db: DRIFTED } },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'what others keep changing is left alone for a while',
    { nodes: [db], known: { db: DRIFTED }, memory: { db: { heldUntil: START + 61_000 } } },
    '',
    'db: Error (others keep changing it: it is left alone for a while)',
    'Failed',
  ],
  [
    'what somebody deleted is applied',
    { nodes: [db], known: { db: ABSENT } },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'an apply without answer is repeated',
    {
      nodes: [db],
      known: { db: ready(db.object) },
      inventory: [itemOf(db, { state: 'Pending', hash: '' })],
    },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'a failed apply is repeated, whatever it left',
    { nodes: [db], known: { db: ready(db.object) }, inventory: [itemOf(db, { state: 'Failed' })] },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'a failed node waits before it is tried again',
    { known: { db: ABSENT, web: ABSENT }, memory: { db: failure(START + 61_000) } },
    '',
    'db: Error (denied by quota), web: Pending (waits for Widget shop/db: denied by quota)',
    'Failed',
  ],
  [
    'and stays in error while it is tried',
    { known: { db: ABSENT, web: ABSENT }, memory: { db: failure(START) } },
    'apply db',
    'db: Error (denied by quota), web: Pending (waits for Widget shop/db: denied by quota)',
    'Failed',
  ],
  [
    'something else is tried at once',
    { nodes: [CHANGED], known: { db: ABSENT }, memory: { db: failure(START + 61_000) } },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'a failed node does not hold up others',
    {
      nodes: [db, node('cache')],
      known: { db: ABSENT, cache: ABSENT },
      memory: { db: failure(START + 61_000) },
    },
    'apply cache',
    'db: Error (denied by quota), cache: Applying (is being applied)',
    'Failed',
  ],
  [
    'an object of others is left alone',
    { nodes: [db], known: { db: present(FOREIGN) }, inventory: [] },
    '',
    'db: Error (exists already, belongs to no graph and is managed by helm)',
    'Failed',
  ],
  [
    'even where fields are taken over by force',
    {
      nodes: [node('db', { applyPolicy: { conflictPolicy: 'Force' } })],
      known: { db: present(FOREIGN) },
      inventory: [],
    },
    '',
    'db: Error (exists already, belongs to no graph and is managed by helm)',
    'Failed',
  ],
  [
    'marks that somebody removed are put back',
    { nodes: [db], known: { db: present(withMetadata(widget('db'), { uid: 'uid-db' })) } },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'an object of another owner too',
    {
      nodes: [db],
      known: { db: present(applied(db.object, { owner: { ...OWNER, name: 'other' } })) },
    },
    '',
    'db: Error (exists already and belongs to Graph shop/other)',
    'Failed',
  ],
  [
    'the owner that was restored goes on',
    {
      nodes: [db],
      known: {
        db: present(applied(db.object, { owner: { ...OWNER, uid: 'before' }, status: READY })),
      },
    },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'what cannot be read says so',
    { known: { db: { state: 'unreadable', reason: 'forbidden' }, web: ABSENT } },
    '',
    'db: Error (cannot be read: forbidden), web: Pending (waits for Widget shop/db: cannot be read: forbidden)',
    'Failed',
  ],
  [
    'what is being deleted is waited for',
    {
      known: {
        db: present(applied(db.object, { metadata: { deletionTimestamp: timestamp(START) } })),
        web: ABSENT,
      },
    },
    '',
    'db: Terminating (is being deleted since 2026-01-01T00:00:00Z), web: Pending (waits for Widget shop/db: is being deleted since 2026-01-01T00:00:00Z)',
    'Executing',
  ],
  [
    "and another's of that name too",
    {
      nodes: [db],
      known: { db: present(withMetadata(FOREIGN, { deletionTimestamp: timestamp(START) })) },
    },
    '',
    'db: Terminating (is being deleted since 2026-01-01T00:00:00Z)',
    'Executing',
  ],
  [
    'waiting is told from its root',
    {
      nodes: [db, web, node('ingress', { dependsOn: ['web'] })],
      known: {
        db: present(applied(db.object, { status: NOT_READY })),
        web: ready(web.object),
        ingress: ABSENT,
      },
    },
    '',
    'db: WaitingReady (Ready=False (Starting): wait for it), web: Ready, ingress: Pending (waits for Widget shop/db: Ready=False (Starting): wait for it)',
    'Executing',
  ],
  [
    'an object that is only created is left as it is',
    {
      nodes: [node('db', { object: widget('db', { size: 2 }), applyPolicy: { mode: 'Create' } })],
      known: { db: DRIFTED },
    },
    '',
    'db: Ready',
    'Ready',
  ],
  [
    'and created where there is none',
    { nodes: [node('db', { applyPolicy: { mode: 'Create' } })], known: { db: ABSENT } },
    'apply db',
    'db: Applying (is being applied)',
    'Executing',
  ],
  [
    'predicates decide where a node has them',
    {
      nodes: [node('db', { readyWhen: [{ type: 'Exists' }] })],
      known: { db: present(applied(db.object, { status: NOT_READY })) },
    },
    '',
    'db: Ready',
    'Ready',
  ],
  [
    'a cycle that nobody refused is not applied',
    {
      nodes: [node('a', { dependsOn: ['b'] }), node('b', { dependsOn: ['a'] })],
      known: { a: ABSENT, b: ABSENT },
      inventory: [],
    },
    '',
    'a: Pending (waits for Widget shop/b: has no place in the order), b: Pending (waits for Widget shop/b: has no place in the order)',
    'Pending',
  ],
  [
    'nor what depends on a node that is not there',
    { nodes: [web], known: { web: ABSENT }, inventory: [] },
    '',
    'web: Pending (waits for node db: has no place in the order)',
    'Pending',
  ],
  ['an empty graph is nothing', { nodes: [], known: {} }, '', '', 'Pending'],
]

t.test('one pass', async (t) => {
  for (const [behaviour, scene, actions, states, phase] of rows) {
    const found = passOf(scene)
    t.equal(actionsOf(found), actions, `${behaviour}: actions`)
    t.equal(statesOf(found), states, `${behaviour}: states`)
    t.equal(found.summary.phase, phase, `${behaviour}: phase`)
  }
})

t.test(
  'sends what is desired with its marks, and preconditions where there is something',
  async (t) => {
    const [create] = passOf({ nodes: [db], known: { db: ABSENT }, inventory: [] }).actions
    t.match(create, {
      kind: 'apply',
      key: 'example.com/Widget/shop/db',
      reason: 'Absent',
      fieldManager: MANAGER,
      isForced: false,
      hash: hashOf(db.object, sha256),
      object: {
        spec: {},
        metadata: {
          labels: { [NAMES.ownerLabel]: 'shop.web' },
          annotations: { [NAMES.ownerAnnotation]: 'Graph/shop/web/owner-1' },
        },
      },
    })
    const metadataOf = (scene: Scene) => {
      const [action] = passOf(scene).actions
      return action?.kind === 'apply' ? Object.keys(action.object.metadata).sort() : []
    }
    const own = ['annotations', 'labels', 'name', 'namespace']
    t.same(metadataOf({ nodes: [db], known: { db: ABSENT } }), own)
    t.same(metadataOf({ nodes: [db], known: { db: DRIFTED } }), [...own, 'resourceVersion', 'uid'])
  },
)

t.test('writes down what it applies and what is there of its own, and nothing else', async (t) => {
  const unknown = node('typo')
  const made = node('made', { applyPolicy: { mode: 'Create' } })
  const foreign = withMetadata(widget('foreign'), { uid: 'u' })
  const { inventory } = passOf({
    nodes: [db, web, unknown, made, node('foreign')],
    known: {
      db: ABSENT,
      web: ABSENT,
      typo: { state: 'unreadable', reason: 'Widgit is not served' },
      made: ready(made.object),
      foreign: present(foreign),
    },
    inventory: [],
  })
  t.same(
    inventory.map(({ id, state }) => `${id} ${state}`),
    ['db Pending', 'made Pending'],
  )
})

const forces: readonly (readonly [
  behaviour: string,
  scene: Scene,
  reason: string,
  isForced: boolean,
])[] = [
  ['first contact is not', { nodes: [db], known: { db: ABSENT }, inventory: [] }, 'Absent', false],
  [
    'whatever the node says',
    { nodes: [node('db', { applyPolicy: { conflictPolicy: 'Force' } })], known: { db: ABSENT } },
    'Absent',
    false,
  ],
  ['what was ours is taken back', { nodes: [db], known: { db: DRIFTED } }, 'Drifted', true],
  [
    'what is new may be the field of another',
    { nodes: [CHANGED], known: { db: DRIFTED }, inventory: [itemOf(db)] },
    'Changed',
    false,
  ],
  [
    'unless the node says so',
    {
      nodes: [{ ...CHANGED, applyPolicy: { conflictPolicy: 'Force' } }],
      known: { db: DRIFTED },
      inventory: [itemOf(db)],
    },
    'Changed',
    true,
  ],
  [
    'what failed and may have been applied is ours',
    { nodes: [db], known: { db: DRIFTED }, inventory: [itemOf(db, { state: 'Failed' })] },
    'Drifted',
    true,
  ],
  [
    'marks of the former owner are ours',
    {
      nodes: [db],
      known: { db: present(applied(db.object, { owner: { ...OWNER, uid: 'before' } })) },
    },
    'Restored',
    true,
  ],
]

t.test('force', async (t) => {
  for (const [behaviour, scene, reason, isForced] of forces)
    t.match(passOf(scene).actions, [{ reason, isForced }], behaviour)
})

t.test('says which fields drifted', async (t) => {
  const live = applied(widget('db', { size: 1 }))
  const [entry] = live.metadata.managedFields ?? []
  const managedFields = [
    { ...entry, fieldsV1: { ...entry?.fieldsV1, 'f:spec': { 'f:other': {} } } },
  ]
  const sized = node('db', { object: widget('db', { size: 1 }) })
  const scene = { nodes: [sized], known: { db: present(withMetadata(live, { managedFields })) } }
  t.match(passOf(scene).actions, [{ reason: 'Drifted', fields: ['/spec/size'] }])
  t.match(passOf({ ...scene, memory: { db: { heldUntil: START + 61_000 } } }).nodes.get('db'), {
    message: 'others keep changing /spec/size: it is left alone for a while',
  })
})

t.test('names what blocks the graph: what failed before what waits', async (t) => {
  const nodes = [db, web, node('cache')]
  const waits = passOf({
    nodes,
    known: { db: present(applied(db.object, { status: NOT_READY })), web: ABSENT, cache: ABSENT },
  })
  t.same(waits.summary.blocking, {
    id: 'db',
    object: 'Widget shop/db',
    message: 'Ready=False (Starting): wait for it',
  })
  const fails = passOf({
    nodes,
    known: { db: present(applied(db.object, { status: NOT_READY })), web: ABSENT, cache: ABSENT },
    memory: { cache: failure(START + 61_000, widget('cache')) },
  })
  t.same(fails.summary, {
    phase: 'Failed',
    blocking: { id: 'cache', object: 'Widget shop/cache', message: 'denied by quota' },
  })
  t.equal('blocking' in passOf({ nodes: [db], known: { db: ready(db.object) } }).summary, false)
})

t.test('looks again when time alone changes what it says', async (t) => {
  const lookAgain = (scene: Scene) => passOf(scene).lookAgainInMs
  t.equal(lookAgain({ known: { db: ready(db.object), web: ready(web.object) } }), undefined)
  t.equal(
    lookAgain({ nodes: [db], known: { db: ABSENT }, memory: { db: failure(START + 61_500) } }),
    1_500,
  )
  t.equal(
    lookAgain({
      nodes: [db],
      known: { db: DRIFTED },
      memory: { db: { heldUntil: START + 62_000 } },
    }),
    2_000,
  )
  const fresh = applied(db.object, { metadata: { creationTimestamp: timestamp(START + 59_000) } })
  t.equal(lookAgain({ nodes: [db], known: { db: present(fresh) } }), 1_000)
})

t.test('keeps what a node says of itself short, and when it was applied', async (t) => {
  const status = { conditions: [{ type: 'Ready', status: 'False', message: 'x'.repeat(2_000) }] }
  const { nodes } = passOf({
    nodes: [db],
    known: { db: present(applied(db.object, { status })) },
    memory: { db: { appliedAt: START } },
  })
  const state = nodes.get('db')
  t.equal(state?.appliedAt, START)
  t.ok(Buffer.byteLength(state?.message ?? '') <= 512)
  t.ok(Buffer.byteLength(state?.readyDetails ?? '') <= 512)
})
