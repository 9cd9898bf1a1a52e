import { mock } from 'node:test'
import t from 'tap'

import { WorkQueue } from '../../../src/shared/ops/work-queue.ts'

/** A queue whose work is finished by hand, in whatever order the test wants. */
function manual(concurrency: number) {
  const started: string[] = []
  const open = new Map<string, PromiseWithResolvers<void>>()
  const errors: { key: string; retryInMs: number }[] = []
  const queue = new WorkQueue({
    work(key) {
      started.push(key)
      const work = Promise.withResolvers<void>()
      open.set(key, work)
      return work.promise
    },
    onError: (key, _error, retryInMs) => errors.push({ key, retryInMs }),
    orderOf: (key) => Number(key.slice(1)),
    concurrency,
    random: () => 0,
  })
  const settle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
  const finish = async (key: string, error?: Error) => {
    const work = open.get(key)
    if (error) work?.reject(error)
    else work?.resolve()
    await settle()
  }
  return { queue, started, errors, finish, settle }
}

t.test('works on a key once, however often it was added meanwhile', async (t) => {
  const { queue, started, settle } = manual(1)
  for (let i = 0; i < 5; i++) queue.add('a1')
  await settle()
  t.same(started, ['a1'])
})

t.test(
  'works on a key again when it was added while it was worked on, never twice at once',
  async (t) => {
    const { queue, started, finish, settle } = manual(4)
    queue.add('a1')
    await settle()
    queue.add('a1')
    await settle()
    t.same(started, ['a1'])
    await finish('a1')
    t.same(started, ['a1', 'a1'])
  },
)

t.test('starts keys in their order, as many at once as it may', async (t) => {
  const { queue, started, finish, settle } = manual(2)
  for (const key of ['c3', 'a1', 'd4', 'b2']) queue.add(key)
  await settle()
  t.same(started, ['a1', 'b2'])
  await finish('b2')
  t.same(started, ['a1', 'b2', 'c3'])
})

t.test(
  'retries a key that fails with ever longer delays, and none of the others waits',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const { queue, started, errors, finish, settle } = manual(1)
    queue.add('a1')
    queue.add('b2')
    await settle()
    await finish('a1', new Error('refused'))
    t.same(started, ['a1', 'b2'])
    await finish('b2')
    const delays: number[] = []
    for (let failure = 2; failure <= 5; failure++) {
      const { retryInMs } = errors.at(-1) ?? { retryInMs: 0 }
      delays.push(retryInMs)
      mock.timers.tick(Math.ceil(retryInMs))
      await settle()
      await finish('a1', new Error('refused again'))
    }
    t.same(delays, [100, 200, 400, 800])
  },
)

t.test('a change cuts the wait of a key that failed short', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { queue, started, errors, finish, settle } = manual(1)
  queue.add('a1')
  await settle()
  await finish('a1', new Error('refused'))
  queue.add('a1')
  await settle()
  t.same(started, ['a1', 'a1'])
  await finish('a1', new Error('refused again'))
  t.equal(errors.at(-1)?.retryInMs, 200, 'and does not make the next wait a first one')
  mock.timers.tick(199)
  await settle()
  t.same(started, ['a1', 'a1'], 'the earlier retry is forgotten')
  mock.timers.tick(1)
  await settle()
  t.same(started, ['a1', 'a1', 'a1'])
})

t.test('what was added while a key failed is worked on at once', async (t) => {
  const { queue, started, finish, settle } = manual(1)
  queue.add('a1')
  await settle()
  queue.add('a1')
  await finish('a1', new Error('refused'))
  t.same(started, ['a1', 'a1'])
})

t.test('what failed long waits a minute at most, and nothing once it succeeded', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { queue, started, errors, finish, settle } = manual(1)
  queue.add('a1')
  await settle()
  for (let failure = 1; failure <= 20; failure++) {
    await finish('a1', new Error('refused'))
    mock.timers.tick(60_000)
    await settle()
    t.equal(started.length, failure + 1)
  }
  t.equal(errors.at(-1)?.retryInMs, 30_000)
  await finish('a1')
  queue.add('a1')
  await settle()
  await finish('a1', new Error('refused'))
  t.equal(errors.at(-1)?.retryInMs, 100)
})

t.test('adds a key later, and of several times the earliest counts', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { queue, started, finish, settle } = manual(1)
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    await settle()
  }
  queue.addAfter('a1', 500)
  queue.addAfter('a1', 200)
  queue.addAfter('a1', 300)
  await pass(199)
  t.same(started, [])
  await pass(1)
  t.same(started, ['a1'])
  await finish('a1')
  await pass(1_000)
  t.same(started, ['a1'], 'the later ones are forgotten')
  queue.addAfter('a1', -1)
  await pass(1)
  t.same(started, ['a1', 'a1'], 'and what is due is added at once')
})

t.test('a key can be added later than a timer can wait', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { queue, started, settle } = manual(1)
  queue.addAfter('b2', 2 ** 40)
  mock.timers.tick(1)
  await settle()
  t.same(started, [])
})

t.test('nothing is added later once the queue is stopped', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { queue, started, finish, settle } = manual(1)
  queue.add('a1')
  await settle()
  await finish('a1', new Error('refused'))
  queue.addAfter('b2', 10)
  await queue.stop()
  queue.addAfter('c3', 10)
  mock.timers.tick(1_000)
  await settle()
  t.same(started, ['a1'])
})

t.test('stops when the work in hand is done, and takes nothing new', async (t) => {
  const { queue, started, finish, settle } = manual(1)
  queue.add('a1')
  queue.add('b2')
  await settle()
  let isStopped = false
  const stopping = queue.stop().then(() => {
    isStopped = true
  })
  await settle()
  t.equal(isStopped, false, 'the work in hand is not cut off')
  await finish('a1')
  await stopping
  queue.add('c3')
  await settle()
  t.same(started, ['a1'])
})
