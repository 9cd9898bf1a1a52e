import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { BodyBudget } from '../../../../src/webhook/server/body.ts'
import { type Caller, call, chunked, requestOf, say, statusIn } from '../door.ts'
import { listening, reviewOfSize } from '../server.ts'

const MiB = 1 << 20
const fail = (error: Error) => t.fail(`the webhook failed: ${error.stack}`)
const { door, close } = await listening(fail)
t.teardown(close)

/** Opens so many connections, and says the same on each; the answer is waited for by whoever wants one. */
const callers = (count: number, ...parts: readonly (string | Buffer)[]): Promise<Caller[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const caller = await call(door)
      for (const part of parts) caller.socket.write(part)
      return caller
    }),
  )
const end = (held: readonly Caller[]) => {
  for (const { socket } of held) socket.destroy()
}
/** A whole request comes after what was sent before it. */
const statusOf = async (body: string) => statusIn(await say(door, ...requestOf(body)))
const headOf = (headers: Readonly<Record<string, string>>) => requestOf('', { headers })[0]

const until = async (isSo: () => boolean) => {
  while (!isSo()) await turn()
}

t.test('heads that only say how much is to come keep nobody out', async (t) => {
  const heads = [
    headOf({ 'transfer-encoding': 'chunked' }),
    headOf({ 'content-length': String(256 * 1024 - 1) }),
    headOf({ 'content-length': String(7 * MiB) }),
  ]
  for (const head of heads) {
    const held = await callers(34, head)
    t.equal(await statusOf(reviewOfSize(5_000)), 200)
    t.equal(await statusOf(reviewOfSize(7 * MiB)), 200)
    end(held)
  }
})

t.test('large requests that arrive, whatever they say, leave room for small ones', async (t) => {
  const part = reviewOfSize(7 * MiB).slice(0, 5 * MiB)
  const says = [
    [headOf({ 'content-length': String(7 * MiB) }), part],
    [headOf({ 'transfer-encoding': 'chunked' }), chunked(part).slice(0, -'0\r\n\r\n'.length)],
  ] as const
  for (const said of says) {
    const held = await callers(8, ...said)
    const refused = await Promise.race(held.map(({ closed }) => closed))
    // Cut off while it is still sending, a caller may never read why.
    t.ok(refused === '' || statusIn(refused) === 429, refused)
    t.equal(await statusOf(reviewOfSize(5_000)), 200)
    end(held)
  }
})

t.test('a small request for which there is no room is told to come again', async (t) => {
  const budget = new BodyBudget({ bytes: 100_000, largeFrom: 50_000, keptForSmall: 50_000 })
  const small = await listening(fail, budget)
  t.teardown(small.close)
  const text = reviewOfSize(45_000)
  const ask = () => call(small.door)
  const [first, second, third] = await Promise.all([ask(), ask(), ask()])
  const [head] = requestOf(text)
  // Each is let in while there is room for it.
  for (const { socket } of [first, second, third]) socket.write(head + text.slice(0, 10_000))
  await until(() => !budget.hasRoom(70_001))
  for (const { socket } of [first, second, third]) socket.write(text.slice(10_000, 30_000))
  await until(() => !budget.hasRoom(10_001))
  first.socket.write(text.slice(30_000, 39_000))
  await until(() => !budget.hasRoom(1_001))
  const late = await say(small.door, ...requestOf(text))
  third.socket.write(text.slice(30_000))
  for (const told of [late, await third.closed]) {
    t.equal(statusIn(told), 429)
    t.match(told, /retry-after: 1\r\n/)
  }
  first.socket.write(text.slice(39_000))
  second.socket.write(text.slice(30_000))
  for (const { closed } of [first, second]) t.equal(statusIn(await closed), 200)
  await until(() => budget.hasRoom(49_999))
})

t.test('who has no time to come again is not told to', async (t) => {
  const small = await listening(
    fail,
    new BodyBudget({ bytes: 100, largeFrom: 50, keptForSmall: 50 }),
  )
  t.teardown(small.close)
  const told = async (query: string) => {
    const [head, body] = requestOf(reviewOfSize())
    return say(small.door, head.replace('/mutate', `/mutate${query}`), body)
  }
  for (const query of ['', '?timeout=3s', '?timeout=30s', '?timeout=', '?timeout=1s&timeout=1s'])
    t.match(await told(query), /^HTTP\/1.1 429 [\s\S]*retry-after: 1\r\n/, query)
  const [status, ...others] = (await told('?timeout=1s')).toLowerCase().split('\r\n')
  t.match(status, ' 429 ')
  t.notOk(others.some((line) => line.startsWith('retry-after')))
})

t.test('a request that breaks off gives its room back', async (t) => {
  const said = [headOf({ 'content-length': String(7 * MiB) }), 'x'.repeat(5 * MiB)]
  for (let round = 0; round < 6; round++) {
    const [caller] = await callers(1, ...said)
    await statusOf(reviewOfSize())
    caller?.socket.destroy()
    await caller?.closed
  }
  t.equal(await statusOf(reviewOfSize(7 * MiB)), 200)
})
