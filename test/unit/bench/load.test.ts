import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { load } from '../../../tools/bench/load.ts'

t.test('what waits for a slow answer is timed from when it was due', async (t) => {
  const slow = { senders: 1, forMs: 50, perSecond: 100 }
  const { tookMs } = await load(() => new Promise((resolve) => setTimeout(resolve, 30)), slow)
  t.equal(tookMs.length, 5)
  t.ok(Math.min(...tookMs) >= 29 && Math.max(...tookMs) >= 100, tookMs.join())
})

t.test('at a rate, no more is asked than is due', async (t) => {
  const { tookMs, perSecond } = await load(turn, { senders: 4, forMs: 100, perSecond: 200 })
  t.equal(tookMs.length, 20)
  t.ok(perSecond > 0 && perSecond < 220, `${perSecond} a second`)
})

t.test('a request that fails is told to whoever waits for the load', async (t) => {
  const send = () => Promise.reject(new Error('no answer'))
  await t.rejects(load(send, { senders: 2, forMs: 5 }), /no answer/)
})

t.test('a sender asks again when it is answered, and not before', async (t) => {
  const pending = { now: 0, most: 0 }
  const send = async () => {
    pending.most = Math.max(pending.most, ++pending.now)
    await turn()
    pending.now--
  }
  const { tookMs, perSecond } = await load(send, { senders: 3, forMs: 20 })
  t.equal(pending.most, 3)
  t.ok(tookMs.length >= 3 && perSecond > 0, `${tookMs.length} requests, ${perSecond} a second`)
})
