import t from 'tap'
import { conditionsFrom, type Finding } from '../../../src/shared/api/conditions.ts'

const ready = (status: Finding['status'], message = ''): Finding => ({
  type: 'Ready',
  status,
  reason: 'Because',
  message,
})
const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`

t.test('a condition keeps the time of its last transition, not of its last word', (t) => {
  const first = conditionsFrom([ready('False', 'a')], undefined, { generation: 1, now: at(1) })
  t.same(first, [
    {
      observedGeneration: 1,
      type: 'Ready',
      status: 'False',
      reason: 'Because',
      message: 'a',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    },
  ])
  const second = conditionsFrom([ready('False', 'b')], first, { generation: 2, now: at(2) })
  t.match(second, [
    { observedGeneration: 2, message: 'b', lastTransitionTime: '2026-01-01T00:01:00Z' },
  ])
  const third = conditionsFrom([ready('True')], second, { generation: 2, now: at(3) })
  t.match(third, [{ status: 'True', lastTransitionTime: '2026-01-01T00:03:00Z' }])
  t.end()
})

t.test('what was not found again is gone', (t) => {
  const stalled: Finding = { ...ready('True'), type: 'Stalled' }
  const first = conditionsFrom([ready('False'), stalled], undefined, { generation: 1, now: at(1) })
  const second = conditionsFrom([ready('True')], first, { generation: 1, now: at(2) })
  t.same(
    second.map(({ type }) => type),
    ['Ready'],
  )
  t.end()
})

t.test('no message is longer than the API allows', (t) => {
  const found = [ready('False', 'x'.repeat(100_000))]
  const [condition] = conditionsFrom(found, undefined, { generation: 1, now: at(1) })
  t.equal(condition?.message.length, 32_768)
  t.end()
})
