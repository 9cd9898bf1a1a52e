import fc from 'fast-check'
import type { Schema } from '../../../../src/shared/engine/merge/tree-of.ts'
import type { Member, Sketch } from './sketches.ts'

/** Something to draw: a pair of values for one place. */
export type Drawn = fc.Arbitrary<Sketch>

/** One of the choices, by weight; a counterexample shrinks to the first of them. */
export const oneOf = <Value>(
  ...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Value>])[]
) =>
  fc.oneof(
    { withCrossShrink: true },
    ...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })),
  )

/** A value that is the same in both objects, or each object's own. */
export const leaf = (values: fc.Arbitrary<unknown>): Drawn => {
  const same = values.map((value) => ({ value }))
  return oneOf<Sketch>([3, same], [2, fc.record({ live: same, desired: same })])
}

const NULL: Sketch = { value: null }

/** The same, or now and then null: in desired, and where the schema admits it in live too. */
export const orNull = ({ nullable }: Schema, sketch: Drawn): Drawn => {
  const none = fc.constant(NULL)
  const forgotten = fc.record({ live: sketch, desired: none })
  if (!nullable) return oneOf<Sketch>([80, sketch], [1, forgotten])
  const filled = fc.record({ live: none, desired: sketch })
  return oneOf<Sketch>([12, sketch], [1, none], [1, forgotten], [1, filled])
}

/** A field or a list item that either object holds, or both do. */
export const memberOf = (sketch: Drawn, isRequired: boolean): fc.Arbitrary<Member> =>
  fc.record({
    side: oneOf<Member['side']>([2, fc.constant('both')], [1, fc.constantFrom('live', 'desired')]),
    isRequired: fc.constant(isRequired),
    sketch,
  })

const named = (member: fc.Arbitrary<Member>) =>
  fc.dictionary(fc.constantFrom('p', 'q', 'r', '.', 'f:p'), member, { maxKeys: 3 })

/** What preserved unknown fields hold: anything. */
export const { free, freeMap } = fc.letrec<{ free: Sketch; freeMap: Sketch }>((tie) => ({
  free: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf(fc.constantFrom<unknown>('a', '<&>', 1, 2, true, null)),
    tie('freeMap'),
    fc.record({
      items: fc.array(memberOf(tie('free'), false), { maxLength: 2 }),
      isAtomic: fc.constant(true),
    }),
    fc.record({ live: tie('free'), desired: tie('free') }),
  ),
  freeMap: fc.record({
    members: named(memberOf(tie('free'), false)),
    isAtomic: fc.constant(false),
  }),
}))
