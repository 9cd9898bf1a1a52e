import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import {
  describeVerdict,
  fieldManagerOf,
  labelValueOf,
  type Owner,
  type Verdict,
  verdictOf,
  withMarks,
} from '../../../src/shared/graph-engine/ownership.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'
import { configMap, NAMES, OWNER, withMetadata } from './objects.ts'

t.test('names the owner in its field manager, within 128 characters', async (t) => {
  const managerOf = (namespace: string, name: string) =>
    fieldManagerOf({ ...OWNER, namespace, name }, NAMES, sha256)
  t.equal(managerOf('shop', 'web'), 'test:shop/web')
  const [long, other] = [
    managerOf('shop', `${'a'.repeat(240)}1`),
    managerOf('shop', `${'a'.repeat(240)}2`),
  ]
  t.equal(long.length, 128)
  t.not(long, other, 'two owners conflict')
  t.match(long, /^test:shop\/a+-[0-9a-f]{16}$/)
})

t.test('marks with a label that any owner can have', async (t) => {
  const labelOf = (namespace: string, name: string) =>
    labelValueOf({ ...OWNER, namespace, name }, sha256)
  t.equal(labelOf('shop', 'web'), 'shop.web')
  const long = labelOf('n'.repeat(63), 'web')
  t.equal(long.length, 63)
  t.match(long, /^[a-z0-9A-Z]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$/)
})

t.test('marks an object and leaves the rest of it', async (t) => {
  const object = withMetadata(configMap('a'), { labels: { app: 'a' }, annotations: { note: 'b' } })
  const marked = withMarks(object, OWNER, NAMES, sha256)
  t.same(marked.metadata.labels, { app: 'a', [NAMES.ownerLabel]: 'shop.web' })
  t.same(marked.metadata.annotations, {
    note: 'b',
    [NAMES.ownerAnnotation]: 'Graph/shop/web/owner-1',
  })
  t.same(withMetadata(marked, object.metadata), object)
})

const marked = (value: string): KubeObject =>
  withMetadata(configMap('a'), { annotations: { [NAMES.ownerAnnotation]: value } })

const restored: Owner = { ...OWNER, uid: 'owner-2' }

const foreign = (...managers: readonly string[]): KubeObject =>
  withMetadata(configMap('a'), {
    managedFields: managers.map((manager) => ({ manager, operation: 'Update' })),
  })

const verdicts: readonly (readonly [
  behaviour: string,
  live: KubeObject,
  owner: Owner,
  verdict: Verdict,
])[] = [
  ['ours', withMarks(configMap('a'), OWNER, NAMES, sha256), OWNER, { kind: 'ours' }],
  [
    'of the owner before it was restored',
    withMarks(configMap('a'), OWNER, NAMES, sha256),
    restored,
    { kind: 'restored' },
  ],
  [
    'of another name',
    marked('Graph/shop/other/1'),
    OWNER,
    { kind: 'owned', by: 'Graph shop/other' },
  ],
  [
    'of another namespace',
    marked('Graph/mall/web/1'),
    OWNER,
    { kind: 'owned', by: 'Graph mall/web' },
  ],
  [
    'of another kind',
    marked('Environment/shop/web/1'),
    OWNER,
    { kind: 'owned', by: 'Environment shop/web' },
  ],
  ['of nobody who can be read', marked('shop'), OWNER, { kind: 'owned', by: 'shop' }],
  [
    'of an owner with a longer path',
    marked('Graph/shop/web/owner-1/x'),
    OWNER,
    { kind: 'owned', by: 'Graph/shop/web/owner-1/x' },
  ],
  [
    'of no graph',
    foreign('kubectl', 'helm', 'kubectl'),
    OWNER,
    { kind: 'foreign', managers: ['kubectl', 'helm'] },
  ],
  [
    'ours, although somebody removed its marks',
    withMetadata(configMap('a'), { uid: 'uid-1' }),
    OWNER,
    { kind: 'ours' },
  ],
  ['of nobody', configMap('a'), OWNER, { kind: 'foreign', managers: [] }],
]

t.test('says whose an object is', async (t) => {
  for (const [behaviour, live, owner, verdict] of verdicts)
    t.same(verdictOf(live, owner, NAMES, 'uid-1'), verdict, behaviour)
})

t.test('says who is there already', async (t) => {
  t.equal(
    describeVerdict({ kind: 'owned', by: 'Graph shop/other' }),
    'exists already and belongs to Graph shop/other',
  )
  t.equal(
    describeVerdict({ kind: 'foreign', managers: [] }),
    'exists already and belongs to no graph',
  )
  t.equal(
    describeVerdict({ kind: 'foreign', managers: ['a', 'b', 'c', 'd', 'e'] }),
    'exists already, belongs to no graph and is managed by a, b, c and 2 more',
  )
})
