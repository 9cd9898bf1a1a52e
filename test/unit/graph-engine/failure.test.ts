import t from 'tap'
import {
  bounded,
  type Failure,
  failedAgain,
  MAX_MESSAGE_BYTES,
} from '../../../src/shared/graph-engine/failure.ts'

const waits = (count: number, jitter: number) => {
  let failure: Failure | undefined
  return Array.from({ length: count }, () => {
    failure = failedAgain(failure, { message: 'refused', hash: 'h', now: 1_000, jitter })
    return failure.retryAt - 1_000
  })
}

t.test(
  'tries again after 1 s, then after twice as long each time, up to 5 min, for ever',
  async (t) => {
    t.same(
      waits(11, 1).map((ms) => ms / 1_000),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300],
    )
    t.same(waits(3, 0), [500, 1_000, 2_000], 'those who failed together do not come back together')
    t.equal(waits(5_000, 1).at(-1), 300_000)
  },
)

t.test('knows since when it fails, and begins anew with something else to try', async (t) => {
  const first = failedAgain(undefined, { message: 'a', hash: 'h1', now: 1, jitter: 0 })
  const second = failedAgain(first, { message: 'b', hash: 'h1', now: 2, jitter: 0 })
  t.match(second, { message: 'b', attempts: 2, since: 1 })
  const other = failedAgain(second, { message: 'c', hash: 'h2', now: 3, jitter: 0 })
  t.match(other, { message: 'c', attempts: 1, since: 3 })
  t.equal('hash' in failedAgain(undefined, { message: 'd', now: 4, jitter: 0 }), false)
})

t.test('keeps messages short and printable', async (t) => {
  const long = bounded(`  ${'é'.repeat(600)}`)
  t.ok(Buffer.byteLength(long) <= MAX_MESSAGE_BYTES)
  t.ok(long.endsWith('…'))
  t.equal(bounded('a\nb\u001b[31m'), 'a\\u000ab\\u001b[31m')
})
