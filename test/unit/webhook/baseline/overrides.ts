import t from 'tap'
import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  RECONCILE_PAUSED,
} from '../../../../src/shared/baseline/annotations.ts'
import { plan } from '../../../../src/shared/baseline/planner.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import {
  changedAnnotations,
  judgeOverrides,
} from '../../../../src/webhook/baseline/decide/overrides.ts'
import { objectWith, tree } from '../../engine/merge/schemas.ts'

const baseline = objectWith({
  text: 't',
  map: { a: '1' },
  free: { a: { b: 1 } },
  byName: [{ name: 'a', value: '1' }],
})

type Annotations = Readonly<Record<string, string>>

const judged = (before: Annotations | undefined, after: Annotations, isSensitive = false) => {
  const old = before && objectWith({}, { annotations: before })
  const incoming = objectWith({}, { annotations: after })
  const status = { kind: 'active', baseline, digest: '' } as const
  const planned = (object: KubeObject) => plan({ baseline, tree, object, isSensitive })
  return judgeOverrides({
    write: { incoming, old },
    changed: changedAnnotations(incoming, old),
    managed: { status, tree, isSensitive },
    before: old && planned(old),
    after: planned(incoming),
  })
}

const SCALAR = '[{"op":"replace","path":"/spec/free/a","value":1}]'
const TEXT = '[{"op":"replace","path":"/spec/text","value":"u"}]'
const TWICE = '[{"op":"add","path":"/spec/byName/-","value":{"name":"a"}}]'

const cases: readonly (readonly [
  behaviour: string,
  before: Annotations | undefined,
  after: Annotations,
  ...annotations: string[],
])[] = [
  ['a patch that is right', {}, { [PATCH]: TEXT }],
  ['a patch that is wrong', {}, { [PATCH]: '[' }, PATCH],
  ['both wrong', {}, { [PATCH]: '[', [IGNORE_FIELDS]: 'x' }, PATCH],
  [
    'a patch that is wrong beside fields that only it could have been judged by',
    { [IGNORE_FIELDS]: '/spec/text' },
    { [PATCH]: '[', [IGNORE_FIELDS]: '/spec/byName/0/name' },
    PATCH,
  ],
  [
    'a patch that makes an ignored field part of a value',
    { [IGNORE_FIELDS]: '/spec/free/a/b' },
    { [IGNORE_FIELDS]: '/spec/free/a/b', [PATCH]: SCALAR },
    IGNORE_FIELDS,
  ],
  [
    'a patch that makes a list no list of keys',
    { [IGNORE_FIELDS]: '/spec/byName/0/value', [PATCH]: TEXT },
    { [IGNORE_FIELDS]: '/spec/byName/0/value', [PATCH]: TWICE },
    IGNORE_FIELDS,
  ],
  [
    'a patch taken away without which an ignored field is part of a value',
    {
      [PATCH]: '[{"op":"replace","path":"/spec/free","value":{"x":{"y":{"z":1}}}}]',
      [IGNORE_FIELDS]: '/spec/free/a/b/c',
    },
    { [IGNORE_FIELDS]: '/spec/free/a/b/c' },
    IGNORE_FIELDS,
  ],
  [
    'fields that were wrong before beside a patch that is right',
    { [IGNORE_FIELDS]: 'x' },
    { [IGNORE_FIELDS]: 'x', [PATCH]: TEXT },
  ],
  [
    'fields that were wrong before behind a patch that was',
    { [IGNORE_FIELDS]: 'x', [PATCH]: '[' },
    { [IGNORE_FIELDS]: 'x', [PATCH]: TEXT },
  ],
  [
    'a patch that was wrong before beside fields that are right',
    { [PATCH]: '[' },
    { [PATCH]: '[', [IGNORE_FIELDS]: '/spec/text' },
  ],
  [
    'what was wrong before and is resumed',
    { [PATCH]: '[', [RECONCILE_PAUSED]: 'true' },
    { [PATCH]: '[' },
  ],
  [
    'a wrong patch on an unmanaged object',
    { [MODE]: 'unmanaged' },
    { [MODE]: 'unmanaged', [PATCH]: '[' },
    PATCH,
  ],
  [
    'everything at once on a new object',
    undefined,
    { [MODE]: 'x', [IGNORE_FIELDS]: 'x' },
    MODE,
    IGNORE_FIELDS,
  ],
]

t.test('judges what a write makes wrong, and nothing that was', async (t) => {
  for (const [behaviour, before, after, ...annotations] of cases) {
    const { problems } = judged(before, after)
    t.same(
      problems.map(({ annotation }) => annotation),
      annotations,
      behaviour,
    )
  }
})

t.test('tells of a patch without effect, whichever of the two is written', async (t) => {
  const [ignored, both] = [
    { [IGNORE_FIELDS]: '/spec/text' },
    { [IGNORE_FIELDS]: '/spec/text', [PATCH]: TEXT },
  ]
  for (const before of [undefined, ignored, { [PATCH]: TEXT }]) {
    const { problems, remarks } = judged(before, both)
    t.same(problems, [])
    t.match(remarks, [{ annotation: PATCH, pointer: '/spec/text', message: /has no effect/ }])
  }
  t.same(judged(both, both), { problems: [], remarks: [] })
  t.same(judged(both, { ...both, [MODE]: 'unmanaged' }), { problems: [], remarks: [] })
})

t.test('leaves it to the refusal to speak of a patch on a sensitive kind', async (t) => {
  t.same(judged({}, { [PATCH]: TEXT }, true), { problems: [], remarks: [] })
  t.same(judged({ [PATCH]: TEXT }, { [PATCH]: TEXT, [IGNORE_FIELDS]: '/spec/text' }, true), {
    problems: [],
    remarks: [],
  })
})
