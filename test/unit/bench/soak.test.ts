import t from 'tap'

import { asksOf, growthAfterWarmUp } from '../../../tools/bench/sections/soak.ts'

const reviews = ['clean', 'corrected', 'denied'].map((what) => ({
  what,
  bodyFor: (user: string) => Buffer.from(`${what} ${user}`),
  isExpected: () => true,
}))

t.test('every user asks ten times, of which eight are clean', async (t) => {
  const asks = asksOf(reviews, 3).map(({ body }) => String(body).split(' '))
  for (const user of ['user-0', 'user-1', 'user-2']) {
    const of = (kind: string) => asks.filter(([what, by]) => what === kind && by === user).length
    t.same(['clean', 'corrected', 'denied'].map(of), [8, 1, 1])
  }
  t.equal(asks.length, 30)
})

t.test('what a process takes while it warms up is no growth', async (t) => {
  t.equal(growthAfterWarmUp([10, 50, 100, 100, 100, 100, 100, 100, 100, 100]), 0)
  t.equal(growthAfterWarmUp([10, 50, 100, 102, 104, 106, 108, 110, 112, 114]), 12)
})

t.test('where memory cannot be read there is no growth to tell', async (t) => {
  t.same(growthAfterWarmUp([Number.NaN, Number.NaN]), Number.NaN)
  t.same(growthAfterWarmUp([]), Number.NaN)
})
