import fc from 'fast-check'
import t from 'tap'

import { type Bucket, take } from '../../../src/shared/engine/throttle.ts'
import { seed } from './merge/schemas.ts'

const size = { capacity: 5, refillMs: 1_000 }

/** At which of these times, in milliseconds, a token was to be had. */
function given(times: readonly number[]): readonly number[] {
  let bucket: Bucket | undefined
  return times.filter((now) => {
    const left = take(bucket, size, now)
    if (left !== 'empty') bucket = left
    return left !== 'empty'
  })
}

t.test('gives its capacity at once, then one per refill time', async (t) => {
  t.strictSame(given([0, 0, 0, 0, 0, 0]), [0, 0, 0, 0, 0])
  t.strictSame(
    given([0, 0, 0, 0, 0, 999, 1_000, 1_001, 1_999, 2_000]),
    [0, 0, 0, 0, 0, 1_000, 2_000],
  )
})

t.test('never holds more than its capacity', async (t) => {
  const late = Array.from({ length: 7 }, () => 1_000_000)
  t.strictSame(given([0, ...late]), [0, ...late.slice(0, 5)])
})

t.test('asking in vain costs nothing', async (t) => {
  const impatient = Array.from({ length: 1_000 }, (_, index) => index)
  t.strictSame(given([...impatient, 1_000]), [0, 1, 2, 3, 4, 1_000])
})

t.test('a clock that goes back gives nothing', async (t) => {
  t.strictSame(given([5_000, 5_000, 5_000, 5_000, 5_000, 0, 4_999]).length, 5)
})

t.test(`never gives more than capacity plus refills, with seed ${seed}`, async (t) => {
  const waits = fc.array(fc.nat({ max: 3_000 }), { maxLength: 200 })
  fc.assert(
    fc.property(waits, (gaps) => {
      let now = 0
      const times = gaps.map((gap) => (now += gap))
      const elapsed = now - (times[0] ?? 0)
      return given(times).length <= size.capacity + elapsed / size.refillMs
    }),
    { seed },
  )
  t.pass()
})
