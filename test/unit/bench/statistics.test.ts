import t from 'tap'
import { extent, median, quantile, ratesIn, spread } from '../../../tools/bench/statistics.ts'

const TO_HUNDRED = Array.from({ length: 100 }, (_, index) => 100 - index)

t.test('a quantile is the smallest value that so many values do not exceed', async (t) => {
  t.equal(quantile(TO_HUNDRED, 0.99), 99)
  t.equal(quantile(TO_HUNDRED, 0.5), 50)
  t.equal(quantile(TO_HUNDRED, 1), 100)
  t.equal(quantile([7, 3, 5], 0.99), 7, 'of few values, the largest')
  t.equal(quantile([7, 3, 5], 0), 3)
})

t.test('the median of an even number of values is between the two in the middle', async (t) => {
  t.equal(median([9, 1, 2]), 2)
  t.equal(median([9, 1, 2, 4]), 3)
})

t.test('nothing measured gives no number', async (t) => {
  t.same([median([]), quantile([], 0.5)], [Number.NaN, Number.NaN])
})

t.test('values are summed up by a percentile or by their extent, and stay in order', async (t) => {
  const values = [30, 10, 20]
  t.same(spread(values), { median: 20, p99: 30, n: 3 })
  t.same(extent(values), { median: 20, range: [10, 30], n: 3 })
  t.same(values, [30, 10, 20])
})

t.test('rates are per second and leave out what came before and after', async (t) => {
  const moments = [99, 100, 149, 150, 299, 300]
  t.same(ratesIn(moments, { from: 100, to: 300, windows: 2 }), [30, 10])
  t.same(ratesIn([], { from: 0, to: 1_000, windows: 4 }), [0, 0, 0, 0])
})
