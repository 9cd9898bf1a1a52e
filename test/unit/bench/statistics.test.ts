import fc from 'fast-check'
import t from 'tap'
import {
  extent,
  median,
  medianRatio,
  quantile,
  rotated,
  slopeOf,
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
  t.equal(medianRatio([10, 20, 300], [5, 10, 100]), 2)
  t.same(medianRatio([1], [0]), Number.NaN, 'there is no ratio to nothing')
  t.same(medianRatio([1, 2], []), Number.NaN)
})

t.test('each comes first in turn, and all of them come', async (t) => {
  const orders = [0, 1, 2, 3].map((round) => rotated(['a', 'b', 'c'], round).join(''))
  t.same(orders, ['abc', 'bca', 'cab', 'abc'])
  t.same(rotated([], 3), [])
})

t.test('a slope is that of the line that misses its points least', async (t) => {
  for (const [points, slope] of [
    [
      [
        [10, 70],
        [30, 110],
        [100, 250],
      ],
      2,
    ],
    [
      [
        [0, 10],
        [1, 16],
        [2, 10],
      ],
      0,
    ],
  ] as const)
    t.equal(Number(slopeOf(points).toFixed(9)), slope)
})

t.test('whatever the points, no line near it misses them less', async () => {
  const whole = fc.integer({ min: -1_000, max: 1_000 })
  const anyPoints = fc.uniqueArray(fc.tuple(whole, whole), {
    minLength: 2,
    maxLength: 8,
    selector: ([x]) => x,
  })
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  fc.assert(
    fc.property(anyPoints, fc.constantFrom(-1, -0.01, 0.01, 1), (points, by) => {
      // Of all lines with a slope, the one through the middle of the points misses them least.
      const missOf = (slope: number) => {
        const intercept = mean(points.map(([, y]) => y)) - slope * mean(points.map(([x]) => x))
        return points.reduce((sum, [x, y]) => sum + (y - intercept - slope * x) ** 2, 0)
      }
      const least = missOf(slopeOf(points))
      return least <= missOf(slopeOf(points) + by) + 1e-9 * (1 + least)
    }),
  )
})

t.test('there is no slope at one place, or of nothing', async (t) => {
  for (const points of [
    [],
    [[3, 4]],
    [
      [3, 4],
      [3, 5],
    ],
  ] as const)
    t.same(slopeOf(points), Number.NaN)
})
