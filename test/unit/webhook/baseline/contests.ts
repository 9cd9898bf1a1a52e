import fc from 'fast-check'
import t from 'tap'

import {
  type ContestedWrite,
  Contests,
} from '../../../../src/webhook/baseline/contests/contests.ts'
import { seed } from '../../engine/merge/schemas.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const limits = { capacity: 5, refillMs: 12 * MINUTE, quietMs: HOUR }

interface Edit {
  readonly user?: string
  readonly value?: string
  readonly pointer?: string
  readonly object?: string
  readonly version?: string
}

const objectNamed = (name: string) => ({ kind: 'HyperConverged', namespace: 'ns', name })
const HCO = objectNamed('hco')

const edit = ({ user = 'alice', value = 'x', ...rest }: Edit = {}): ContestedWrite => ({
  object: objectNamed(rest.object ?? 'hco'),
  username: user,
  version: rest.version ?? '1',
  moves: [{ pointer: rest.pointer ?? '/spec/a', value }],
})

/** Rules on the same edit at each time, and says what became of it; `!` marks what opens an episode. */
function rulings(contests: Contests, write: ContestedWrite, times: readonly number[]) {
  return times.map((now) => {
    const ruling = contests.rule(write, now)
    return ruling && `${ruling.kind}${'isNew' in ruling && ruling.isNew ? '!' : ''}`
  })
}

const every = (ms: number, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => from + index * ms)

const tolerated = (count: number) => Array.from({ length: count }, () => 'tolerated')

t.test('five contests of one user are tolerated, the sixth opens an episode', async (t) => {
  const contests = new Contests(limits)
  const seen = rulings(contests, edit(), every(3 * SECOND, 8))
  t.strictSame(seen, [...tolerated(5), 'refused!', 'refused', 'refused'])
  t.strictSame(contests.atWar(30 * SECOND), [HCO])
})

t.test('one is forgiven every twelve minutes, so that rare edits never make a war', async (t) => {
  const seen = rulings(new Contests(limits), edit(), every(12 * MINUTE, 100))
  t.strictSame(seen, tolerated(100))
})

t.test('a loop every few minutes is found out, and denied while it goes on', async (t) => {
  const contests = new Contests(limits)
  const seen = rulings(contests, edit(), every(5 * MINUTE, 40))
  const first = seen.indexOf('refused!')
  t.strictSame(seen.slice(0, first), tolerated(first))
  t.ok(first >= 5 && first <= 9, `found out at edit ${first}`)
  t.ok(seen.slice(first + 1).every((kind) => kind === 'refused'))
})

t.test(
  'identical contests within two seconds count once, whatever became of the first',
  async (t) => {
    const contests = new Contests(limits)
    t.strictSame(rulings(contests, edit(), every(150, 13)), tolerated(13))
    t.strictSame(
      rulings(contests, edit(), every(2 * SECOND, 6, 10 * SECOND)),
      [...tolerated(4), 'refused!', 'refused'],
      'a fast loop cannot hide in them',
    )
    t.strictSame(rulings(contests, edit(), [20_100, 20_200]), ['refused', 'refused'])
  },
)

t.test('other values and other fields are other contests', async (t) => {
  const contests = new Contests(limits)
  const values = ['a', 'b', 'c', 'd', 'e', 'f'].map((value) => edit({ value }))
  const seen = values.flatMap((write, index) => rulings(contests, write, [index]))
  t.strictSame(seen, [...tolerated(5), 'refused!'])
})

t.test('each object and each user has a bucket', async (t) => {
  const contests = new Contests(limits)
  const at = every(3 * SECOND, 6)
  t.equal(rulings(contests, edit(), at).at(-1), 'refused!')
  t.strictSame(rulings(contests, edit({ user: 'bob', value: 'y' }), at.slice(1)), tolerated(5))
  t.strictSame(rulings(contests, edit({ object: 'other' }), at.slice(1)), tolerated(5))
})

t.test('a quiet hour ends the episode and fills the bucket', async (t) => {
  const contests = new Contests(limits)
  const last = 15 * SECOND
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  t.strictSame(rulings(contests, edit(), [last + HOUR - 1]), ['refused'], 'not a moment before')
  const quiet = last + 2 * HOUR - 1
  t.strictSame(contests.atWar(quiet), [])
  t.strictSame(rulings(contests, edit(), every(3 * SECOND, 6, quiet)), [
    ...tolerated(5),
    'refused!',
  ])
})

t.test('what three users set to the same value is denied to nobody', async (t) => {
  const contests = new Contests(limits)
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  t.strictSame(rulings(contests, edit({ user: 'bob' }), [20 * SECOND]), ['tolerated'])
  t.strictSame(rulings(contests, edit({ user: 'carol' }), [23 * SECOND]), ['shared!'])
  t.strictSame(
    rulings(contests, edit(), every(3 * SECOND, 9, 26 * SECOND)),
    every(0, 9).map(() => 'shared'),
  )
  t.strictSame(contests.atWar(60 * SECOND), [HCO], 'but it is told')
  t.strictSame(contests.atWar(3 * HOUR), [])
  t.equal(
    rulings(contests, edit({ value: 'own' }), every(3 * SECOND, 6, 60 * SECOND)).at(-1),
    'refused!',
  )
})

t.test('what a write did not bring with it when first seen is another webhook’s', async (t) => {
  const contests = new Contests(limits)
  const seen = every(MINUTE, 40).flatMap((now, index) => {
    const version = String(index)
    const clean = { ...edit({ version }), moves: [] }
    return [...rulings(contests, clean, [now]), ...rulings(contests, edit({ version }), [now + 5])]
  })
  t.strictSame(new Set(seen), new Set([undefined]))
  t.strictSame(contests.atWar(40 * MINUTE), [])
})

t.test('to whoever is at war every contest counts, whatever came just before', async (t) => {
  const contests = new Contests(limits)
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  const clean = { ...edit({ version: '2' }), moves: [] }
  t.equal(contests.rule(clean, 20 * SECOND), undefined)
  t.strictSame(rulings(contests, edit({ version: '2', value: 'y' }), [20_100]), ['refused'])
})

t.test('a foreseen ruling is the same, and leaves no trace', async (t) => {
  const contests = new Contests(limits)
  for (const [index, now] of every(3 * SECOND, 8).entries()) {
    for (let time = 0; time < 10; time++) {
      const { kind } = contests.foresee(edit(), now) ?? {}
      t.equal(kind, index < 5 ? 'tolerated' : 'refused')
    }
    contests.rule(edit(), now)
  }
  const [first, second] = [edit({ user: 'bob' }), edit({ user: 'carol' })]
  t.equal(contests.foresee(first, 30 * SECOND)?.kind, 'tolerated')
  contests.foresee(second, 30 * SECOND)
  t.equal(contests.rule(second, 30 * SECOND)?.kind, 'tolerated', 'bob has set nothing')
  t.equal(contests.foresee(first, 30 * SECOND)?.kind, 'shared')
  t.equal(contests.foresee(first, 2 * HOUR)?.kind, 'tolerated')
  t.strictSame(contests.atWar(30 * SECOND), [HCO], 'what ends in foresight goes on')
  t.strictSame(rulings(contests, edit(), [33 * SECOND]), ['refused'])
  t.strictSame(rulings(contests, first, [33 * SECOND]), ['shared!'])
})

t.test('a war is forgotten when its object’s pause is lifted', async (t) => {
  const contests = new Contests(limits)
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  contests.forget(HCO)
  t.strictSame(contests.atWar(16 * SECOND), [])
  t.strictSame(rulings(contests, edit(), [17 * SECOND]), ['tolerated'])
})

t.test('of a flood of users the oldest are forgotten', async (t) => {
  const contests = new Contests(limits)
  const flood = (count: number) => {
    for (let index = 0; index < count; index++)
      contests.rule(edit({ user: `u${index}`, value: `v${index}` }), 20 * SECOND)
  }
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  flood(63)
  t.strictSame(rulings(contests, edit(), [20 * SECOND]), ['refused'], 'as long as there is room')
  flood(5_000)
  t.strictSame(rulings(contests, edit(), [20 * SECOND]), ['tolerated'])
})

t.test('a write that contests nothing keeps nobody from being forgotten', async (t) => {
  const contests = new Contests(limits)
  t.equal(rulings(contests, edit(), every(3 * SECOND, 6)).at(-1), 'refused!')
  const others = every(1, 64).map((index) => edit({ user: `u${index}`, value: `v${index}` }))
  for (const other of others.slice(1)) contests.rule(other, 20 * SECOND)
  t.equal(contests.rule({ ...edit({ version: '2' }), moves: [] }, 20 * SECOND), undefined)
  t.strictSame(rulings(contests, edit({ user: 'u0', value: 'v0' }), [20 * SECOND]), ['tolerated'])
  t.strictSame(rulings(contests, edit({ version: '3' }), [20 * SECOND]), ['tolerated'])
})

t.test('a quiet hour of one user ends no episode of another', async (t) => {
  const contests = new Contests(limits)
  const [first, second] = [edit({ user: 'bob', value: 'b' }), edit({ user: 'carol', value: 'c' })]
  for (const write of [edit(), first, second])
    t.equal(rulings(contests, write, every(3 * SECOND, 6)).at(-1), 'refused!')
  t.strictSame(rulings(contests, edit(), [HOUR / 2]), ['refused'])
  t.strictSame(rulings(contests, first, [HOUR + 15 * SECOND]), ['tolerated'])
  t.strictSame(rulings(contests, second, [HOUR + 15 * SECOND]), ['tolerated'])
  t.strictSame(rulings(contests, edit(), [HOUR + 15 * SECOND]), ['refused'])
})

t.test(
  `a user is refused only after more contests than the bucket gives, with seed ${seed}`,
  async (t) => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 40 * MINUTE }), fc.nat({ max: 3 })), {
      maxLength: 80,
    })
    fc.assert(
      fc.property(steps, (waits) => {
        const contests = new Contests(limits)
        let now = 0
        let counted = 0
        for (const [wait, value] of waits) {
          now += wait
          const ruling = contests.rule(edit({ value: String(value) }), now)
          if (ruling?.kind === 'refused' && counted < limits.capacity) return false
          counted++
        }
        return true
      }),
      { seed },
    )
    t.pass()
  },
)
