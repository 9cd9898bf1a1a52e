import t from 'tap'
import { createLineLimit } from '../../../src/webhook/server/rate-limits.ts'

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
