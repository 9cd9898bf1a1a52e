import t from 'tap'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import type { InventoryItem } from '../../../../src/shared/graph-engine/inventory.ts'
import { keyOf, refOf } from '../../../../src/shared/graph-engine/node.ts'
import { type PruneInput, prune } from '../../../../src/shared/graph-engine/prune/prune.ts'
import type {
  ObjectMemory,
  Observation,
} from '../../../../src/shared/graph-engine/step/observed.ts'
import { applied, NAMES, OWNER, START, timestamp, widget, withMetadata } from '../objects.ts'

const NOW = START + 60_000

const item = (id: string, more: Partial<InventoryItem> = {}): InventoryItem => ({
  id,
  ...refOf(widget(id)),
  uid: `uid-${id}`,
  hash: 'h',
  state: 'Applied',
  removedAt: START,
  ...more,
})

const present = (object: KubeObject): Observation => ({ state: 'present', object })
const live = (id: string, metadata: object = {}) => present(applied(widget(id), { metadata }))

const GOING = { deletionTimestamp: timestamp(START + 10_000), finalizers: ['example.com/wait'] }

interface Scene {
  readonly items: readonly InventoryItem[]
  readonly known?: Readonly<Record<string, Observation>>
  readonly memory?: Readonly<Record<string, ObjectMemory>>
  readonly more?: Partial<PruneInput>
}

/** Where a table says nothing of an object, it is live and ours. */
const pruneOf = ({ items, known = {}, memory = {}, more }: Scene) =>
  prune({
    going: items,
    observed: {
      objects: new Map(items.map((one) => [keyOf(one), known[one.id] ?? live(one.id)] as const)),
      memory: new Map(items.map((one) => [keyOf(one), memory[one.id] ?? {}] as const)),
    },
    owner: OWNER,
    names: NAMES,
    now: NOW,
    ...more,
  })

type Row = readonly [
  behaviour: string,
  scene: Scene,
  deleted: string,
  /** What stays in the inventory, with its state. */
  left: string,
  told: string,
]

const A = [item('a')]
const CHAIN = [item('a'), item('b', { dependsOn: ['a'] }), item('c', { dependsOn: ['b'] })]
const kindOf = (apiVersion: string, kind: string, more: Partial<InventoryItem> = {}) => [
  item('a', { apiVersion, kind, ...more }),
]
const notes = (annotations: object) => ({ a: live('a', { annotations }) })
const failed = (retryAt: number) => ({
  a: { failure: { message: 'denied by a webhook', attempts: 1, since: START + 5_000, retryAt } },
})
const stranger = withMetadata(widget('a'), { uid: 'another' })
const unmarked = withMetadata(widget('a'), { uid: 'uid-a' })

const unmade = (state: InventoryItem['state']) =>
  [item('a', { state })].map(({ uid: _uid, ...rest }) => rest)
const UNSERVED = {
  a: { state: 'unreadable', reason: 'it is not served', isUnserved: true },
} as const

const rows: readonly Row[] = [
  ['deletes what is ours', { items: A }, 'a', 'a Pruned', ''],
  ['forgets what is gone', { items: A, known: { a: { state: 'absent' } } }, '', '', ''],
  ['deletes dependents first', { items: CHAIN }, 'c', 'a Applied, b Applied, c Pruned', ''],
  [
    'waits until they are gone',
    { items: CHAIN, known: { c: live('c', GOING) } },
    '',
    'a Applied, b Applied, c Applied',
    'Terminating: Widget shop/c is being deleted since 2026-01-01T00:00:10Z (finalizers: example.com/wait)',
  ],
  [
    'and goes on then',
    { items: CHAIN, known: { c: { state: 'absent' } } },
    'b',
    'a Applied, b Pruned',
    '',
  ],
  [
    'deletes what is independent at once',
    { items: [item('a'), item('b'), item('c', { dependsOn: ['a'] })] },
    'c, b',
    'a Applied, b Pruned, c Pruned',
    '',
  ],
  [
    'is not held up by a circle',
    { items: [item('a', { dependsOn: ['b'] }), item('b', { dependsOn: ['a'] })] },
    'a, b',
    'a Pruned, b Pruned',
    '',
  ],
  [
    'keeps what cannot be read',
    { items: A, known: { a: { state: 'unreadable', reason: 'forbidden' } } },
    '',
    'a Applied',
    'Unreadable: Widget shop/a cannot be read: forbidden',
  ],
  [
    'and what is not served now and was there',
    { items: A, known: UNSERVED },
    '',
    'a Applied',
    'Unreadable: Widget shop/a cannot be read: it is not served',
  ],
  [
    'even if nothing told so but its deletion',
    { items: unmade('Pruned'), known: UNSERVED },
    '',
    'a Pruned',
    'Unreadable: Widget shop/a cannot be read: it is not served',
  ],
  ...(['Pending', 'Failed'] as const).map(
    (state): Row => [
      `lets go what never was, ${state}`,
      { items: unmade(state), known: UNSERVED },
      '',
      '',
      'NeverMade: Widget shop/a is let go: its kind is not served, and nothing tells that it was ever made',
    ],
  ),
  [
    'but not what may not be read',
    { items: unmade('Failed'), known: { a: { state: 'unreadable', reason: 'forbidden' } } },
    '',
    'a Failed',
    'Unreadable: Widget shop/a cannot be read: forbidden',
  ],
  [
    'keeps what was not read yet',
    { items: A, more: { observed: { objects: new Map(), memory: new Map() } } },
    '',
    'a Applied',
    '',
  ],
  [
    'keeps what is protected, and what it depends on',
    {
      items: CHAIN,
      known: { c: live('c', { annotations: { [NAMES.protectionAnnotation]: 'true' } }) },
    },
    '',
    'a Applied, b Applied, c Applied',
    'Protected: Widget shop/c is kept by its annotation test.example.com/prune-protection; to let it go: kubectl annotate widget c -n shop test.example.com/prune-protection-',
  ],
  [
    'by nothing but "true"',
    { items: A, known: notes({ [NAMES.protectionAnnotation]: 'false' }) },
    'a',
    'a Pruned',
    '',
  ],
  ['after its time of grace', { items: A, more: { graceSeconds: 60 } }, 'a', 'a Pruned', ''],
  [
    'not before',
    { items: A, more: { graceSeconds: 61 } },
    '',
    'a Applied',
    'GracePeriod: Widget shop/a is deleted 61 s after it left the graph',
  ],
  [
    'the object may want more time',
    { items: A, known: notes({ [NAMES.gracePeriodAnnotation]: '2m' }), more: { graceSeconds: 30 } },
    '',
    'a Applied',
    'GracePeriod: Widget shop/a is deleted 120 s after it left the graph',
  ],
  [
    'or none',
    {
      items: [item('a', { removedAt: NOW })],
      known: notes({ [NAMES.gracePeriodAnnotation]: '0' }),
      more: { graceSeconds: 30 },
    },
    'a',
    'a Pruned',
    '',
  ],
  [
    'what it wants must be understood',
    {
      items: A,
      known: notes({ [NAMES.gracePeriodAnnotation]: 'long' }),
      more: { graceSeconds: 30 },
    },
    '',
    'a Applied',
    'GracePeriod: Widget shop/a is kept: its annotation test.example.com/prune-grace-period is "long", which is no duration such as 30, 30s, 5m or 1h',
  ],
  [
    'there is no grace when the owner goes',
    { items: A, known: notes({ [NAMES.gracePeriodAnnotation]: '1h' }) },
    'a',
    'a Pruned',
    '',
  ],
  [
    'leaves what its node said to leave',
    { items: [item('a', { deletionPolicy: 'Orphan' })] },
    '',
    '',
    'Orphaned: Widget shop/a is left as it is: its deletionPolicy is Orphan',
  ],
  [
    'even where it cannot be read',
    {
      items: [item('a', { deletionPolicy: 'Orphan' })],
      known: { a: { state: 'unreadable', reason: 'x' } },
    },
    '',
    '',
    'Orphaned: Widget shop/a is left as it is: its deletionPolicy is Orphan',
  ],
  [
    'says nothing of what is gone',
    { items: [item('a', { deletionPolicy: 'Orphan' })], known: { a: { state: 'absent' } } },
    '',
    '',
    '',
  ],
  [
    'leaves what the owner said to leave',
    { items: A, more: { deletionPolicy: 'Orphan' } },
    '',
    '',
    'Orphaned: Widget shop/a is left as it is: its deletionPolicy is Orphan',
  ],
  [
    "the node's word goes first",
    {
      items: [item('a', { deletionPolicy: 'Delete' })],
      more: { deletionPolicy: 'Orphan', graceSeconds: 30 },
    },
    'a',
    'a Pruned',
    '',
  ],
  [
    'but for an owner that goes and leaves all',
    { items: [item('a', { deletionPolicy: 'Delete' })], more: { deletionPolicy: 'Orphan' } },
    '',
    '',
    'Orphaned: Widget shop/a is left as it is: its deletionPolicy is Orphan',
  ],
  ...(
    [
      ['v1', 'PersistentVolumeClaim', 'its data would be lost'],
      ['v1', 'PersistentVolume', 'its data would be lost'],
      ['v1', 'Namespace', 'everything in it would be lost'],
      [
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        'all objects of its kind would be lost',
      ],
    ] as const
  ).flatMap(([apiVersion, kind, loss]): readonly Row[] => [
    [
      `leaves a ${kind}`,
      { items: kindOf(apiVersion, kind) },
      '',
      '',
      `Retained: ${kind} shop/a is left as it is, since ${loss}: it goes only where its node says deletionPolicy: Delete`,
    ],
    [
      `deletes a ${kind} whose node says so`,
      { items: kindOf(apiVersion, kind, { deletionPolicy: 'Delete' }) },
      'a',
      'a Pruned',
      '',
    ],
  ]),
  [
    'leaves an object of another owner',
    {
      items: A,
      known: { a: present(applied(widget('a'), { owner: { ...OWNER, name: 'other' } })) },
    },
    '',
    '',
    'NotOurs: Widget shop/a belongs to Graph shop/other now: it is left as it is',
  ],
  [
    'leaves another object of that name',
    { items: A, known: { a: present(stranger) } },
    '',
    '',
    'NotOurs: Widget shop/a is another object now: it is left as it is',
  ],
  [
    'leaves what stays by another name',
    { items: A, known: { a: live('a', { uid: 'uid-b' }) }, more: { staying: [item('b')] } },
    '',
    '',
    'SameObject: Widget shop/a is one object with Widget shop/b: it goes or stays as that',
  ],
  [
    'or is to be left by it',
    {
      items: [item('a', { deletionPolicy: 'Orphan' }), item('b')],
      known: { b: live('b', { uid: 'uid-a' }) },
    },
    '',
    '',
    'Orphaned: Widget shop/a is left as it is: its deletionPolicy is Orphan; SameObject: Widget shop/b is one object with Widget shop/a: it goes or stays as that',
  ],
  [
    'deletes by the name that left last',
    {
      items: [
        item('a', { removedAt: START + 1 }),
        item('b', { dependsOn: ['a'], removedAt: START + 1 }),
        item('c'),
      ],
      known: { c: live('c', { uid: 'uid-a' }) },
    },
    'b',
    'a Applied, b Pruned',
    'SameObject: Widget shop/c is one object with Widget shop/a: it goes or stays as that',
  ],
  [
    'whose object is there by that',
    {
      items: [item('a'), item('b', { uid: 'uid-a', removedAt: START + 1 })],
      known: { b: { state: 'absent' } },
    },
    'a',
    'a Pruned',
    '',
  ],
  [
    'says nothing of what was never ours',
    {
      items: [item('a', { state: 'Pending' })].map(({ uid: _uid, ...rest }) => rest),
      known: { a: present(stranger) },
    },
    '',
    '',
    '',
  ],
  [
    'deletes ours of which no answer came',
    { items: [item('a', { state: 'Pending' })].map(({ uid: _uid, ...rest }) => rest) },
    'a',
    'a Pruned',
    '',
  ],
  [
    'deletes ours that was made anew',
    { items: A, known: { a: live('a', { uid: 'newer' }) } },
    'a',
    'a Pruned',
    '',
  ],
  [
    'deletes ours whose marks were removed',
    { items: A, known: { a: present(unmarked) } },
    'a',
    'a Pruned',
    '',
  ],
  [
    'tries a failed delete again later',
    { items: [item('a', { state: 'Pruned' })], memory: failed(NOW + 1_000) },
    '',
    'a Pruned',
    'Failed: Widget shop/a cannot be deleted: denied by a webhook',
  ],
  [
    'and says so while it does',
    { items: [item('a', { state: 'Pruned' })], memory: failed(NOW) },
    'a',
    'a Pruned',
    'Failed: Widget shop/a cannot be deleted: denied by a webhook',
  ],
  [
    'a failed apply is no reason to wait',
    { items: A, memory: { a: { failure: { ...failed(NOW + 1_000).a.failure, hash: 'h' } } } },
    'a',
    'a Pruned',
    '',
  ],
]

t.test('prunes', async (t) => {
  for (const [behaviour, scene, deleted, left, told] of rows) {
    const { actions, remaining, obstacles, releases } = pruneOf(scene)
    t.equal(actions.map(({ id }) => id).join(', '), deleted, `${behaviour}: deleted`)
    const items = scene.items.flatMap((one) => remaining.get(one) ?? [])
    t.equal(items.map(({ id, state }) => `${id} ${state}`).join(', '), left, `${behaviour}: left`)
    const messages = [...obstacles, ...releases].map(
      ({ reason, message }) => `${reason}: ${message}`,
    )
    t.equal(messages.join('; '), told, `${behaviour}: told`)
  }
})

t.test('deletes exactly the object that it saw', async (t) => {
  t.same(pruneOf({ items: A }).actions, [
    {
      kind: 'delete',
      key: 'example.com/Widget/shop/a',
      id: 'a',
      ref: refOf(widget('a')),
      uid: 'uid-a',
      resourceVersion: '1',
    },
  ])
})

t.test('says since when, and looks again when time is up', async (t) => {
  const grace = pruneOf({ items: A, more: { graceSeconds: 90 } })
  t.match(grace, {
    lookAgainAt: START + 90_000,
    obstacles: [{ since: START, ref: refOf(widget('a')) }],
  })
  const stuck = pruneOf({ items: A, known: { a: live('a', GOING) } })
  t.match(stuck.obstacles, [{ reason: 'Terminating', since: START + 10_000 }])
  t.equal('lookAgainAt' in stuck, false)
  const denied = pruneOf({ items: [item('a', { state: 'Pruned' })], memory: failed(NOW + 1_000) })
  t.match(denied, { lookAgainAt: NOW + 1_000, obstacles: [{ since: START + 5_000 }] })
})
