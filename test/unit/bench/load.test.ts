import t from 'tap'
import { openLoop } from '../../../tools/bench/load.ts'

const NO_WAIT = async () => undefined

t.test('requests fall due whether or not earlier ones are answered', async (t) => {
  const answers: (() => void)[] = []
  const send = () =>
    new Promise<void>((resolve) => {
      answers.push(resolve)
      // Nobody is answered before the last one has asked.
      if (answers.length === 20) for (const answer of answers) answer()
    })
  const { answeredAt, tookMs } = await openLoop(send, 1_000, 20, NO_WAIT)
  t.same([answers.length, answeredAt.length, tookMs.length], [20, 20, 20])
})

t.test('a request that fails is told to whoever waits for the load', async (t) => {
  const send = () => Promise.reject(new Error('no answer'))
  await t.rejects(openLoop(send, 1_000, 5, NO_WAIT), /no answer/)
})
