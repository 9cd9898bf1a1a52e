import t from 'tap'
import { createKeyedLimit, createLineLimit } from '../../../../src/webhook/server/rate-limits.ts'

t.test('writes a few lines at once, and counts what it leaves out', async (t) => {
  const written: object[] = []
  const clock = { now: 0 }
  const write = createLineLimit(
    { capacity: 2, refillMs: 1_000 },
    (entry) => written.push(entry),
    () => clock.now,
  )
  for (let line = 0; line < 5; line++) write({ line })
  t.strictSame(written, [{ line: 0 }, { line: 1 }])
  clock.now = 1_000
  write({ line: 5 })
  write({ line: 6 })
  clock.now = 2_000
  write({ line: 7 })
  clock.now = 3_000
  write({ line: 8 })
  t.strictSame(written.slice(2), [{ line: 5, unlogged: 3 }, { line: 7, unlogged: 1 }, { line: 8 }])
})

t.test('lets a key through once per interval', async (t) => {
  const once = createKeyedLimit({ capacity: 1, refillMs: 1_000 }, 10)
  const asked: [key: string, now: number, isAdmitted: boolean][] = [
    ['a', 0, true],
    ['a', 999, false],
    ['b', 500, true],
    ['a', 1_000, true],
    ['b', 1_499, false],
    ['b', 1_500, true],
    ['a', 1_999, false],
  ]
  for (const [key, now, isAdmitted] of asked)
    t.equal(once(key, now), isAdmitted, `${key} at ${now}`)
})

t.test('forgets the oldest key when there are too many', async (t) => {
  const once = createKeyedLimit({ capacity: 1, refillMs: 1_000 }, 2)
  const admitted = ['a', 'b', 'a', 'c', 'a', 'c'].map((key) => once(key, 0))
  t.strictSame(admitted, [true, true, false, true, true, false])
})

t.test('lets each key through as its own bucket allows', async (t) => {
  const limit = createKeyedLimit({ capacity: 2, refillMs: 1_000 }, 2)
  const admitted = ['a', 'a', 'a', 'b'].map((key) => limit(key, 0))
  t.strictSame(admitted, [true, true, false, true])
  t.strictSame([limit('a', 1_000), limit('a', 1_000)], [true, false])
  t.ok(limit('c', 1_000))
  t.strictSame([limit('b', 1_000), limit('b', 1_000)], [true, true], 'it was the oldest')
})
