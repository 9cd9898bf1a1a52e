import t from 'tap'

import { createPublisher } from '../../../src/reconciler/manager/publisher.ts'

const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

t.test(
  'writes one value at a time, and of those that came meanwhile only the latest',
  async (t) => {
    const writes: { value: number; done: PromiseWithResolvers<void> }[] = []
    const publish = createPublisher<number>({
      signal: new AbortController().signal,
      onTrouble: ({ message }) => t.fail(message),
      write(value) {
        const done = Promise.withResolvers<void>()
        writes.push({ value, done })
        return done.promise
      },
    })
    for (const value of [1, 2, 3]) publish(value)
    t.same(
      writes.map(({ value }) => value),
      [1],
    )
    writes[0]?.done.resolve()
    await settle()
    t.same(
      writes.map(({ value }) => value),
      [1, 3],
    )
  },
)

t.test('tries a failed write again, with a newer value where there is one', async (t) => {
  const written: number[] = []
  const troubles: string[] = []
  let isBroken = true
  const publish = createPublisher<number>({
    signal: new AbortController().signal,
    retryMs: 1,
    onTrouble: ({ message }) => troubles.push(message),
    async write(value) {
      if (isBroken) throw new Error('conflict')
      written.push(value)
    },
  })
  publish(1)
  await settle()
  t.same(troubles, ['conflict'])
  publish(2)
  isBroken = false
  const deadline = performance.now() + 5_000
  while (written.length === 0 && performance.now() < deadline) await new Promise(setImmediate)
  t.same(written, [2])
})
