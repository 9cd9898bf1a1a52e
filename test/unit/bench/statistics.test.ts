import fc from 'fast-check'
import t from 'tap'
import {
  extent,
  lineThrough,
  median,
  quantile,
  ratesIn,
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

t.test('rates are per second and leave out what came before and after', async (t) => {
  const moments = [99, 100, 149, 150, 299, 300]
  t.same(ratesIn(moments, { from: 100, to: 300, windows: 2 }), [30, 10])
  t.same(ratesIn([], { from: 0, to: 1_000, windows: 4 }), [0, 0, 0, 0])
})

t.test('a line misses its points least, and says by how much', async (t) => {
  for (const [points, slope, intercept, worst] of [
    [
      [
        [10, 70],
        [30, 110],
        [100, 250],
      ],
      2,
      50,
      0,
    ],
    // A share of the line, not of the point.
    [
      [
        [0, 10],
        [1, 16],
        [2, 10],
      ],
      0,
      12,
      1 / 3,
    ],
    [
      [
        [1, 0],
        [2, 0],
      ],
      0,
      0,
      0,
    ],
  ] as const) {
    const fit = lineThrough(points)
    t.same(
      [fit.slope, fit.intercept, fit.worst].map((value) => Number(value.toFixed(9))),
      [slope, intercept, Number(worst.toFixed(9))],
    )
  }
})

t.test('whatever the points, no line near it misses them less', async () => {
  const whole = fc.integer({ min: -1_000, max: 1_000 })
  const anyPoints = fc.uniqueArray(fc.tuple(whole, whole), {
    minLength: 2,
    maxLength: 8,
    selector: ([x]) => x,
  })
  const nudge = fc.constantFrom(-1, -0.01, 0.01, 1)
  fc.assert(
    fc.property(anyPoints, nudge, nudge, (points, slopeBy, interceptBy) => {
      const { slope, intercept } = lineThrough(points)
      const missOf = (slope: number, intercept: number) =>
        points.reduce((sum, [x, y]) => sum + (y - intercept - slope * x) ** 2, 0)
      const least = missOf(slope, intercept)
      const tolerance = 1e-9 * (1 + least)
      return (
        least <= missOf(slope + slopeBy, intercept) + tolerance &&
        least <= missOf(slope, intercept + interceptBy) + tolerance
      )
    }),
  )
})

t.test('there is no line through one place, or through nothing', async (t) => {
  for (const points of [
    [],
    [[3, 4]],
    [
      [3, 4],
      [3, 5],
    ],
  ] as const)
    t.match(lineThrough(points), { slope: Number.NaN, intercept: Number.NaN, worst: Number.NaN })
})
