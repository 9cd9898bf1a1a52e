import t from 'tap'

import { withGrounds } from '../../../../../src/reconciler/baseline/decide/cause.ts'
import { decide } from '../../../../../src/reconciler/baseline/decide/decide.ts'
import type { AssetInput } from '../../../../../src/reconciler/baseline/decide/decision.ts'
import type { AssetMemory } from '../../../../../src/reconciler/baseline/decide/memory.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { inputWith, plan, type Stored, storedWith } from '../asset-inputs.ts'

const setTo = (value: string) => JSON.stringify([{ op: 'replace', path: '/spec/text', value }])
const patched = { patch: setTo('p') }
/** Somebody else wrote the field: our last apply owns it no more. */
const moved = (spec: object, annotations: Stored['annotations'] = {}) =>
  storedWith({ spec, annotations, owned: {} })
const digest = 'd'

/** What a leader remembers that has looked at this object. */
const sawn = (live: KubeObject | undefined, from: AssetMemory = {}): AssetMemory => {
  const input = inputWith({ live })
  const decision = decide(input)
  const outcome =
    decision.kind === 'final' ? decision.outcome : ({ kind: 'unchanged', plan } as const)
  return withGrounds(from, outcome, input)
}

/** What comes of the object, the server having seen a difference. */
const outcomeOf = (changes: Partial<AssetInput>) => {
  const decision = decide(
    inputWith({ dryRun: { answer: storedWith({ spec: { text: 'z' } }) }, ...changes }),
  )
  return decision.kind === 'final' ? decision.outcome : decision
}

/** Why the object is changed, by what is remembered and what is there. */
const cases: readonly (readonly [what: string, cause: string, Partial<AssetInput>])[] = [
  [
    'a field that somebody moved',
    'drift',
    { live: moved({ text: 'b' }), memory: sawn(storedWith()) },
  ],
  [
    'a baseline that is another one',
    'baseline',
    { live: moved({ text: 'b' }), memory: { grounds: { baseline: 'e' } } },
  ],
  [
    'a patch that is new',
    'patch',
    { live: moved({ text: 'a' }, patched), memory: sawn(storedWith()) },
  ],
  [
    'a patch that says something else than before',
    'patch',
    {
      live: moved({ text: 'q' }, patched),
      memory: sawn(storedWith({ spec: { text: 'q' }, annotations: { patch: setTo('q') } })),
    },
  ],
  [
    'a patched field that somebody moved',
    'drift',
    {
      live: moved({ text: 'b' }, patched),
      memory: sawn(storedWith({ spec: { text: 'p' }, annotations: patched })),
    },
  ],
  [
    'a patch that is gone',
    'annotations',
    {
      live: moved({ text: 'p' }),
      memory: sawn(storedWith({ spec: { text: 'p' }, annotations: patched })),
    },
  ],
  [
    'fields that are ignored no more',
    'annotations',
    {
      live: moved({ text: 'b' }),
      memory: sawn(moved({ text: 'b' }, { 'ignore-fields': '/spec/text' })),
    },
  ],
  [
    'an object that is managed again',
    'annotations',
    {
      live: moved({ text: 'b' }),
      memory: sawn(moved({}, { mode: 'unmanaged' }), sawn(storedWith())),
    },
  ],
  [
    'an object that is paused no more',
    'annotations',
    { live: moved({ text: 'b' }), memory: sawn(moved({}, { 'reconcile-paused': 'true' })) },
  ],
  [
    'a field that somebody moved, to a new leader',
    'drift',
    { live: moved({ text: 'b' }), memory: { grounds: { baseline: digest } } },
  ],
  [
    'a patch that no leader has seen yet',
    'patch',
    { live: moved({ text: 'a' }, patched), memory: { grounds: { baseline: digest } } },
  ],
  [
    'a patched field that somebody moved, to a new leader',
    'drift',
    { live: moved({ text: 'b' }, patched), memory: { grounds: { baseline: digest } } },
  ],
  [
    'what nobody moved since our last apply, of the same baseline',
    'annotations',
    { live: storedWith({ spec: { text: 'b' } }), memory: { grounds: { baseline: digest } } },
  ],
  [
    'what nobody moved since our last apply, of a baseline that nobody remembers',
    'baseline',
    { live: storedWith({ spec: { text: 'b' } }), memory: {} },
  ],
  [
    'an object that does not bear our label',
    'adoption',
    { live: storedWith({ metadata: { labels: {} } }), memory: {} },
  ],
]

for (const [what, cause, input] of cases)
  t.test(`${what}: ${cause}`, async (t) => {
    t.match(outcomeOf(input), { kind: 'configured', cause })
  })

t.test('a patch that the webhook has put into force is told once', async (t) => {
  const live = storedWith({
    spec: { text: 'p', list: ['x'] },
    owned: { text: 'a', list: ['x'] },
    annotations: {
      patch: JSON.stringify([
        { op: 'replace', path: '/spec/text', value: 'p' },
        { op: 'add', path: '/spec/list', value: ['x'] },
      ]),
    },
  })
  t.match(outcomeOf({ live, memory: sawn(storedWith()) }), {
    kind: 'unchanged',
    patched: [
      { pointer: '/spec/text', found: 'a', wanted: 'p' },
      { pointer: '/spec/list', found: undefined, wanted: ['x'] },
    ],
  })
  t.notMatch(outcomeOf({ live, memory: sawn(live) }), { patched: [] })
  t.notMatch(outcomeOf({ live }), { patched: [] }, 'nor to a new leader, who cannot know')
})

t.test('what a patch removes is told too', async (t) => {
  const remove = { patch: JSON.stringify([{ op: 'remove', path: '/spec/text' }]) }
  const live = storedWith({ spec: {}, owned: {}, annotations: remove })
  t.match(outcomeOf({ live, memory: sawn(storedWith()) }), {
    kind: 'unchanged',
    patched: [{ pointer: '/spec/text', found: 'a', wanted: undefined }],
  })
  const ignored = { 'ignore-fields': '/spec/text', ...patched }
  const released = storedWith({ spec: { text: 'x' }, owned: {}, annotations: ignored })
  const input = { live: released, hasReleased: true, dryRun: { answer: released } }
  t.match(
    outcomeOf({ ...input, memory: sawn(storedWith()) }),
    { patched: [] },
    'not what is ignored',
  )
})
