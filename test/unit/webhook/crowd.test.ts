import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { followConnections } from '../../../src/webhook/server/connections.ts'
import { boundConnections } from '../../../src/webhook/server/crowd.ts'
import { closeQuiet } from '../../../src/webhook/server/drain.ts'
import { type Caller, call, requestOf, statusIn } from './door.ts'

type Ending = Pick<typeof t, 'teardown'>

/** A server with TLS or without, whose clock the test sets, and which answers when it is told to. */
async function crowded(t: Ending, limits = { soft: 4, hard: 8, quietMs: 1_000 }) {
  const clock = { now: 0 }
  const now = () => clock.now
  const answers: (() => void)[] = []
  const server = createServer((_request, response) => answers.push(() => response.end('ok')))
  const connections = followConnections(server, now)
  boundConnections(server, connections, now, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    for (const { socket } of connections) socket.destroy()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await turn()
  }
  const open = async () => {
    const before = connections.size
    const caller = await call({ port, isPlain: true })
    await until(() => connections.size !== before || caller.socket.destroyed)
    return caller
  }
  const opened = async (count: number) => {
    const callers: Caller[] = []
    while (callers.length < count) callers.push(await open())
    return callers
  }
  const ask = async ({ socket }: Caller) => {
    const before = answers.length
    socket.write(requestOf('', { headers: { connection: 'keep-alive' } })[0])
    await until(() => answers.length > before)
  }
  const answered = async (caller: Caller) => {
    await ask(caller)
    answers.at(-1)?.()
    await until(() => statusIn(caller.heard()) === 200 && [...connections].every(isFree))
  }
  const isFree = ({ requests }: { requests: number }) => requests === 0
  return {
    clock,
    now,
    connections,
    call: () => call({ port, isPlain: true }),
    open,
    opened,
    ask,
    answered,
    answers,
  }
}

const areOpen = (callers: readonly Caller[]) => callers.map(({ socket }) => !socket.destroyed)

t.test('whoever came a moment ago is not closed for a newcomer', async (t) => {
  const { connections, opened, answered, clock } = await crowded(t)
  const idle = await opened(3)
  for (const caller of idle) await answered(caller)
  clock.now = 500
  const newcomers = await opened(5)
  t.equal(connections.size, 8, 'there may be more for a moment')
  for (const caller of newcomers) await answered(caller)
  t.same(areOpen([...idle, ...newcomers]), Array(8).fill(true))
})

t.test('idle ones leave first, the one that asked longest ago before the others', async (t) => {
  const { opened, open, answered, clock } = await crowded(t)
  const [silent, first, second, third] = (await opened(4)) as [Caller, Caller, Caller, Caller]
  for (const caller of [second, first, third]) {
    clock.now += 10
    await answered(caller)
  }
  clock.now += 1_000
  await open()
  await second.closed
  await open()
  await first.closed
  await open()
  await third.closed
  t.same(areOpen([silent, first, second, third]), [true, false, false, false])
  await open()
  await silent.closed
})

t.test('a connection with a request in hand is never closed', async (t) => {
  const { opened, open, ask, answers, clock } = await crowded(t)
  const busy = await opened(4)
  for (const caller of busy) await ask(caller)
  clock.now = 60_000
  const newcomers = [await open(), await open()]
  t.same(areOpen([...busy, ...newcomers]), Array(6).fill(true))
  for (const answer of answers) answer()
  for (const { heard } of busy) while (statusIn(heard()) !== 200) await turn()
})

t.test('there is an end to how many there may be, and what is quiet then makes room', async (t) => {
  const { opened, open, call, connections, clock } = await crowded(t)
  const silent = await opened(8)
  const refused = await call()
  await refused.closed
  t.equal(connections.size, 8)
  clock.now = 1_000
  await (await call()).closed
  await Promise.all(silent.slice(0, 4).map(({ closed }) => closed))
  t.equal(connections.size, 4)
  t.equal(areOpen([await open()])[0], true)
})

t.test('sweeps at the same time close nothing that was quiet for less than one', async (t) => {
  const { connections, now, opened, answered, clock } = await crowded(t)
  const [silent, idle] = (await opened(2)) as [Caller, Caller]
  clock.now = 200
  await answered(idle)
  clock.now = 300
  await Promise.all([1, 2, 3].map(() => closeQuiet(connections, now)))
  await silent.closed
  t.same(areOpen([idle]), [true])
  clock.now = 450
  await closeQuiet(connections, now)
  await idle.closed
  t.equal(connections.size, 0)
})
