import { mock } from 'node:test'
import t from 'tap'

import { createCycle } from '../../../src/shared/ops/cycle.ts'

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

function counted(behaviour: () => Promise<void> = async () => undefined) {
  const runs: number[] = []
  const troubles: string[] = []
  const ending = new AbortController()
  const cycle = createCycle({
    retryMs: 1_000,
    signal: ending.signal,
    onTrouble: ({ message }) => troubles.push(message),
    work() {
      runs.push(runs.length + 1)
      return behaviour()
    },
  })
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    await settle()
  }
  return { cycle, runs, troubles, pass, end: () => ending.abort() }
}

t.test('does the work once for a burst, at the earliest time asked for', async (t) => {
  const { cycle, runs, pass } = counted()
  cycle.soon(500)
  cycle.soon(10)
  cycle.soon(300)
  await pass(9)
  t.equal(runs.length, 0)
  await pass(1)
  t.equal(runs.length, 1)
  await pass(1_000)
  t.equal(runs.length, 1)
})

t.test('tells an error and tries again', async (t) => {
  let isBroken = true
  const { cycle, runs, troubles, pass } = counted(async () => {
    if (isBroken) throw new Error('no answer')
  })
  cycle.soon(0)
  await pass(1)
  t.same(troubles, ['no answer'])
  isBroken = false
  await pass(1_000)
  t.equal(runs.length, 2)
  await pass(5_000)
  t.equal(runs.length, 2)
})

t.test('never works twice at once, and works again for what came meanwhile', async (t) => {
  const first = Promise.withResolvers<void>()
  const { cycle, runs, pass } = counted(() =>
    runs.length === 1 ? first.promise : Promise.resolve(),
  )
  cycle.soon(0)
  await pass(1)
  cycle.soon(0)
  await pass(1)
  t.equal(runs.length, 1)
  first.resolve()
  await settle()
  await pass(1)
  t.equal(runs.length, 2)
})

t.test('works again for what came due while it worked, though its timer fired early', async (t) => {
  const first = Promise.withResolvers<void>()
  const { cycle, runs, pass } = counted(() =>
    runs.length === 1 ? first.promise : Promise.resolve(),
  )
  cycle.soon(0)
  await pass(1)
  // The mocked timer fires at once; the clock that nobody mocks says that it is an hour too early.
  cycle.soon(3_600_000)
  await pass(3_600_000)
  first.resolve()
  await settle()
  t.equal(runs.length, 2)
  cycle.soon(10)
  await pass(10)
  t.equal(runs.length, 3)
})

t.test('does nothing after the signal', async (t) => {
  const { cycle, runs, pass, end } = counted()
  cycle.soon(10)
  end()
  await pass(100)
  cycle.soon(0)
  await pass(100)
  t.equal(runs.length, 0)
})

t.test('waits twice as long after each error in a row, and can be waited for', async (t) => {
  const { cycle, runs, pass } = counted(async () => {
    throw new Error('no answer')
  })
  cycle.soon(0)
  await pass(1)
  await pass(1_000)
  t.equal(runs.length, 2)
  await pass(1_000)
  t.equal(runs.length, 2)
  await pass(1_000)
  t.equal(runs.length, 3)
  await cycle.settled()
})
