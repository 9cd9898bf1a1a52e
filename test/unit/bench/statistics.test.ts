import t from 'tap'
import {
  extent,
  median,
  quantile,
  ratios,
  rotated,
  spread,
} from '../../../tools/bench/statistics.ts'

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

t.test('a ratio is that of a round, so that what slows both down changes nothing', async (t) => {
  t.same(ratios([10, 20, 300], [5, 10, 100]), [2, 2, 3])
  t.same(ratios([1], [0]), [Number.NaN], 'there is no ratio to nothing')
  t.same(ratios([1, 2], []), [Number.NaN, Number.NaN])
})

t.test('each comes first in turn, and all of them come', async (t) => {
  const orders = [0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))
  t.same(orders, ['abc', 'bca', 'cab', 'abc'])
  t.same(rotated([], 3), [])
})
