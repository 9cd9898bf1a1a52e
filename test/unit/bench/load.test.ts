import t from 'tap'
import { closedLoop, openLoop } from '../../../tools/bench/load.ts'

const NO_WAIT = async () => undefined

t.test('requests fall due whether or not earlier ones are answered', async (t) => {
  const answers: (() => void)[] = []
  const send = () =>
    new Promise<void>((resolve) => {
      answers.push(resolve)
      // Nobody is answered before the last one has asked.
      if (answers.length === 20) for (const answer of answers) answer()
    })
  const { tookMs, perSecond } = await openLoop(send, 1_000, 20, NO_WAIT)
  t.same([answers.length, tookMs.length], [20, 20])
  t.ok(perSecond > 0, `${perSecond} a second`)
})

t.test('a request that fails is told to whoever waits for the load', async (t) => {
  const send = () => Promise.reject(new Error('no answer'))
  await t.rejects(openLoop(send, 1_000, 5, NO_WAIT), /no answer/)
})

t.test('a sender asks again when it is answered, and not before', async (t) => {
  const pending = { now: 0, most: 0 }
  const send = async () => {
    pending.most = Math.max(pending.most, ++pending.now)
    await new Promise((resolve) => setImmediate(resolve))
    pending.now--
  }
  const { tookMs, perSecond } = await closedLoop(send, 3, 20)
  t.equal(pending.most, 3)
  t.ok(tookMs.length >= 3 && perSecond > 0, `${tookMs.length} requests, ${perSecond} a second`)
})
