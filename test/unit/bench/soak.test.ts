import t from 'tap'

import { asksOf, growthAfterWarmUp, type Sample } from '../../../tools/bench/sections/soak.ts'

const reviews = ['clean', 'corrected', 'denied'].map((what) => ({
  what,
  objectBytes: 5_000,
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

const at = (minutes: number, mebibytes: number): Sample => ({ minutes, mebibytes })

t.test('what a process takes while it warms up is no growth', async (t) => {
  const samples = Array.from({ length: 10 }, (_, index) => at(index + 1, index < 2 ? 50 : 100))
  t.same(growthAfterWarmUp(samples), { median: 0, n: 8 })
})

t.test('growth is told per minute', async (t) => {
  const samples = Array.from({ length: 10 }, (_, index) => at((index + 1) / 6, 100 + index))
  const { median: perMinute } = growthAfterWarmUp(samples)
  t.ok(Math.abs(perMinute - 6) < 1e-9, `${perMinute} MiB a minute`)
})

t.test('where memory cannot be read there is no growth to tell', async (t) => {
  const { median: perMinute } = growthAfterWarmUp([at(1, Number.NaN), at(2, Number.NaN)])
  t.same(perMinute, Number.NaN)
  t.same(growthAfterWarmUp([]), { median: Number.NaN, n: 0 })
})
