import fc from 'fast-check'
import t from 'tap'
import { timeOf } from '../../../src/shared/graph-engine/time.ts'
import { runs } from '../runs.ts'

t.test('reads times as Kubernetes writes them', async (t) => {
  t.equal(timeOf('1970-01-01T00:00:00Z'), 0)
  t.equal(timeOf('2024-02-29T12:30:05Z'), Date.UTC(2024, 1, 29, 12, 30, 5))
  t.equal(timeOf('2026-01-01T00:00:00.123456Z'), Date.UTC(2026, 0, 1, 0, 0, 0, 123))
  const earliest = Date.UTC(1970, 0, 1)
  const latest = Date.UTC(2199, 11, 31)
  fc.assert(
    fc.property(fc.integer({ min: earliest, max: latest }), (ms) => {
      if (timeOf(new Date(ms).toISOString()) !== ms) throw new Error('another time')
    }),
    { numRuns: runs(200) },
  )
})

t.test('takes nothing else for a time', async (t) => {
  for (const text of [undefined, null, 7, '', 'now', '2024-02-29', '2024-02-29T12:30:05+01:00'])
    t.equal(timeOf(text), undefined, String(text))
})
