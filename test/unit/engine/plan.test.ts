import fc from 'fast-check'
import t from 'tap'
import {
  IGNORE_FIELDS,
  MODE,
  PATCH,
  RECONCILE_PAUSED,
} from '../../../src/shared/baseline/annotations.ts'
import { plan, switchProblems } from '../../../src/shared/baseline/planner.ts'
import { anyObject, objectWith, seed, tree } from './merge/schemas.ts'

const baseline = objectWith({ text: 't', map: { a: '1', b: '2' } })
const PATCHED = '[{"op":"replace","path":"/spec/map/a","value":"9"}]'
const REMOVES = '[{"op":"remove","path":"/spec/map/b"}]'

const planOf = (annotations: Readonly<Record<string, string>>, isSensitive = false) =>
  plan({ baseline, object: objectWith({}, { annotations }), tree, isSensitive })

const enforced = { kind: 'enforce', desired: baseline, released: [], isPatched: false, remarks: [] }

t.test('enforces the baseline where nothing is stated', async (t) => {
  t.strictSame(planOf({}), enforced)
  t.strictSame(
    plan({ baseline, object: undefined, tree, isSensitive: false }),
    enforced,
    'or no object is there',
  )
  t.strictSame(planOf({ [MODE]: 'managed', 'example.com/mode': 'x' }), enforced)
})

t.test('leaves an object alone that is paused or unmanaged, unmanaged first', async (t) => {
  const [paused, unmanaged] = [{ [RECONCILE_PAUSED]: 'true' }, { [MODE]: 'unmanaged' }]
  t.strictSame(planOf(paused), { kind: 'skip', reason: 'Paused' })
  t.strictSame(planOf(unmanaged), { kind: 'skip', reason: 'Unmanaged' })
  t.strictSame(planOf({ ...unmanaged, ...paused }), { kind: 'skip', reason: 'Unmanaged' })
  const invalid = { [PATCH]: 'not JSON', [IGNORE_FIELDS]: 'nowhere' }
  t.strictSame(planOf({ ...paused, ...invalid }), { kind: 'skip', reason: 'Paused' })
  t.strictSame(planOf({ ...unmanaged, ...invalid }), { kind: 'skip', reason: 'Unmanaged' })
})

t.test('applies a patch to the baseline', async (t) => {
  const desired = objectWith({ text: 't', map: { a: '9', b: '2' } })
  t.strictSame(planOf({ [PATCH]: PATCHED }), { ...enforced, desired, isPatched: true })
})

t.test('releases fields of the patched baseline', async (t) => {
  t.strictSame(planOf({ [PATCH]: PATCHED, [IGNORE_FIELDS]: '/spec/map/a' }), {
    ...enforced,
    desired: objectWith({ text: 't', map: { b: '2' } }),
    isPatched: true,
    released: [[{ field: 'spec' }, { field: 'map' }, { field: 'a' }]],
    remarks: [voided('/spec/map/a')],
  })
})

const voided = (pointer: string) => ({
  reason: 'PatchShadowed',
  annotation: PATCH,
  pointer,
  message: `what the patch does at ${pointer} has no effect, since ${IGNORE_FIELDS} releases it: take it out of one of the two`,
})

t.test('remarks that a field which the patch removed needs no release', async (t) => {
  t.strictSame(planOf({ [PATCH]: REMOVES, [IGNORE_FIELDS]: '/spec/map/b' }), {
    ...enforced,
    desired: objectWith({ text: 't', map: { a: '1' } }),
    isPatched: true,
    // What an earlier patch had put there may still be ours.
    released: [[{ field: 'spec' }, { field: 'map' }, { field: 'b' }]],
    remarks: [
      {
        reason: 'InvalidIgnoreFields',
        annotation: IGNORE_FIELDS,
        pointer: '/spec/map/b',
        message:
          '/spec/map/b is not managed: ignoring it only leaves there what was managed before',
      },
    ],
  })
})

const BLOCKED = {
  reason: 'PatchBlocked',
  annotation: PATCH,
  message: `${PATCH} is refused, since what this kind holds grants power over nodes or access: use ${IGNORE_FIELDS} or ${MODE}`,
}

t.test(
  'holds a sensitive object at its unpatched baseline, and still releases fields',
  async (t) => {
    t.strictSame(planOf({ [PATCH]: PATCHED }, true), { ...enforced, remarks: [BLOCKED] })
    t.strictSame(planOf({ [PATCH]: 'not JSON' }, true), { ...enforced, remarks: [BLOCKED] })
    t.match(planOf({ [PATCH]: PATCHED, [IGNORE_FIELDS]: '/spec/text,/spec/map/inner' }, true), {
      kind: 'enforce',
      desired: { spec: { text: undefined, map: { a: '1', b: '2' } } },
      isPatched: false,
      released: [
        [{ field: 'spec' }, { field: 'text' }],
        [{ field: 'spec' }, { field: 'map' }, { field: 'inner' }],
      ],
      remarks: [
        { reason: 'PatchBlocked' },
        { reason: 'InvalidIgnoreFields', pointer: '/spec/map/inner' },
      ],
    })
    t.strictSame(planOf({ [MODE]: 'unmanaged' }, true), { kind: 'skip', reason: 'Unmanaged' })
  },
)

const held: readonly (readonly [
  what: string,
  annotations: Readonly<Record<string, string>>,
  ...reasons: string[],
])[] = [
  ['a patch that is no JSON', { [PATCH]: '[' }, 'InvalidPatch'],
  [
    'a patch that does not apply',
    { [PATCH]: '[{"op":"remove","path":"/spec/none"}]' },
    'InvalidPatch',
  ],
  [
    'a patch that sets what no schema knows',
    { [PATCH]: '[{"op":"add","path":"/spec/none","value":1}]' },
    'InvalidPatch',
  ],
  [
    'a patch that sets null, and what no schema knows',
    { [PATCH]: '[{"op":"add","path":"/spec","value":{"none":1,"text":null}}]' },
    'InvalidPatch',
    'InvalidPatch',
  ],
  ['a field that nobody knows', { [IGNORE_FIELDS]: '/spec/none' }, 'InvalidIgnoreFields'],
  [
    'several fields that nobody knows',
    { [IGNORE_FIELDS]: '/spec/none,spec' },
    'InvalidIgnoreFields',
    'InvalidIgnoreFields',
  ],
  [
    'a good patch beside a bad field',
    { [PATCH]: PATCHED, [IGNORE_FIELDS]: '/kind' },
    'InvalidIgnoreFields',
  ],
  [
    'a bad patch beside a good field',
    { [PATCH]: '{}', [IGNORE_FIELDS]: '/spec/text' },
    'InvalidPatch',
  ],
  ['an unknown mode', { [MODE]: 'off' }, 'InvalidMode'],
  ['a pause that is no true', { [RECONCILE_PAUSED]: 'false' }, 'InvalidMode'],
  ['both', { [MODE]: '', [RECONCILE_PAUSED]: 'True' }, 'InvalidMode', 'InvalidMode'],
  [
    'an unknown mode of what is paused',
    { [MODE]: 'off', [RECONCILE_PAUSED]: 'true' },
    'InvalidMode',
  ],
]

for (const [what, annotations, ...reasons] of held) {
  t.test(`holds an object with ${what}`, async (t) => {
    const outcome = planOf(annotations)
    t.equal(outcome.kind, 'hold')
    t.same(outcome.kind === 'hold' && outcome.problems.map(({ reason }) => reason), reasons)
  })
}

t.test('says what to do instead of setting null', async (t) => {
  const patch = '[{"op":"replace","path":"/spec/map/a","value":null}]'
  t.strictSame(planOf({ [PATCH]: patch }), {
    kind: 'hold',
    problems: [
      {
        reason: 'InvalidPatch',
        annotation: PATCH,
        pointer: '/spec/map/a',
        message:
          'the patch sets /spec/map/a to null, which the API server does not keep: remove the field by "op": "remove", or leave it out of the value',
      },
    ],
  })
})

t.test('says what a switch must be', async (t) => {
  const problems = (annotations: Readonly<Record<string, string>>) =>
    switchProblems(objectWith({}, { annotations }))
  t.strictSame(problems({ [MODE]: 'off', [RECONCILE_PAUSED]: 'yes\u001b' }), [
    {
      reason: 'InvalidMode',
      annotation: MODE,
      message: `${MODE} must be "unmanaged" or "managed", or absent, not "off"`,
    },
    {
      reason: 'InvalidMode',
      annotation: RECONCILE_PAUSED,
      message: `${RECONCILE_PAUSED} must be "true", or absent, not "yes\\u001b"`,
    },
  ])
  t.strictSame(problems({ [MODE]: 'managed', [RECONCILE_PAUSED]: 'true' }), [])
  t.strictSame(switchProblems(undefined), [])
})

t.test('never throws and never changes what object it is, whatever is stated', async (t) => {
  const texts = fc.oneof(
    fc.string(),
    fc.constantFrom('true', 'unmanaged', PATCHED, REMOVES, '/spec/text', '/spec'),
  )
  const keys = fc.constantFrom(PATCH, IGNORE_FIELDS, MODE, RECONCILE_PAUSED)
  const property = fc.property(
    anyObject,
    fc.dictionary(keys, texts),
    fc.boolean(),
    (wanted, annotations, isSensitive) => {
      const object = objectWith({}, { annotations })
      const outcome = plan({ baseline: wanted, object, tree, isSensitive })
      if (outcome.kind !== 'enforce') return
      const { apiVersion, kind, metadata } = outcome.desired
      t.strictSame(
        { apiVersion, kind, metadata },
        { apiVersion: 'example.com/v1', kind: 'Sort', metadata: { name: 'one' } },
      )
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})
