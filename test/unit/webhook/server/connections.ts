import { once } from 'node:events'
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PREFIX } from '../../../../src/shared/baseline/annotations.ts'
import { createApp } from '../../../../src/webhook/server/app.ts'
import { closeQuiet, followConnections } from '../../../../src/webhook/server/drain.ts'
import { type Caller, call, requestOf, say, statusIn } from '../door.ts'
import { handlersWith } from '../known.ts'

const until = async (isSo: () => boolean) => {
  while (!isSo()) await turn()
}
const areOpen = (callers: readonly Caller[]) => callers.map(({ socket }) => !socket.destroyed)

/** The webhook's server without TLS, with its own limits or such as a test can wait for. */
async function limited(t: Pick<Test, 'teardown' | 'fail'>, limits: object = {}) {
  const app = createApp({
    prefix: PREFIX,
    routes: handlersWith().routes,
    onError: (error) => t.fail(`a caller made the webhook fail: ${error.stack}`),
  })
  t.teardown(() => app.close())
  const { server } = app
  await app.listen({ host: '127.0.0.1', port: 0 })
  Object.assign(server, limits)
  const address = server.address()
  const door = { port: typeof address === 'object' && address ? address.port : 0, isPlain: true }
  const open = () =>
    new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  return { server, door, open }
}
t.test('the server has the limits that hold off whoever holds connections', async (t) => {
  const { server } = await limited(t)
  t.match(server, {
    maxConnections: 2_000,
    headersTimeout: 5_000,
    requestTimeout: 5_000,
    keepAliveTimeout: 120_000,
  })
})

t.test('no more connections stay than there may be, and silent ones end', async (t) => {
  const { server, door, open } = await limited(t, { maxConnections: 20 })
  const callers: Caller[] = []
  while (callers.length < 100) {
    callers.push(...(await Promise.all(Array.from({ length: 10 }, () => call(door)))))
    t.ok((await open()) <= 20)
  }
  await until(() => areOpen(callers).filter(Boolean).length === 20)
  t.equal(statusIn(await say(door, ...requestOf('{}'))), undefined, 'there is no room')
  // Read by each connection when it is looked at, once a second.
  Object.assign(server, { headersTimeout: 100, requestTimeout: 100 })
  await Promise.all(callers.map(({ closed }) => closed))
  t.equal(statusIn(await say(door, ...requestOf('{}'))), 400, 'somebody who speaks is heard')
})

t.test('whoever is slow to say what it wants is cut off, and so is an idle one', async (t) => {
  const { door } = await limited(t, {
    headersTimeout: 100,
    requestTimeout: 100,
    keepAliveTimeout: 100,
  })
  const kept = { headers: { connection: 'keep-alive' } }
  const [head] = requestOf('x'.repeat(1_000))
  const callers = await Promise.all([call(door), call(door), call(door)])
  const [slowHead, slowBody, idle] = callers as [Caller, Caller, Caller]
  slowHead.socket.write('POST /mutate HTTP/1.1\r\nx-slow: ')
  slowBody.socket.write(head)
  idle.socket.write(requestOf('{}', kept).join(''))
  t.same((await Promise.all(callers.map(({ closed }) => closed))).map(statusIn), [408, 408, 400])
})

/** A server without limits, whose clock the test sets, and which answers when it is told to. */
async function followed(t: Pick<Test, 'teardown'>) {
  const clock = { now: 0 }
  const now = () => clock.now
  const answers: (() => void)[] = []
  const server = createServer((_request, response) => answers.push(() => response.end('ok')))
  const connections = followConnections(server, now)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { socket } of connections.values()) socket.destroy()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const open = async () => {
    const before = connections.size
    const caller = await call({ port, isPlain: true })
    await until(() => connections.size !== before)
    return caller
  }
  const ask = async ({ socket }: Caller) => {
    const before = answers.length
    socket.write(requestOf('', { headers: { connection: 'keep-alive' } })[0])
    await until(() => answers.length > before)
  }
  const isFree = ({ requests }: { requests: number }) => requests === 0
  const answered = async (caller: Caller) => {
    await ask(caller)
    answers.at(-1)?.()
    await until(() => statusIn(caller.heard()) === 200 && [...connections.values()].every(isFree))
  }
  return { clock, now, connections, open, ask, answered, answers }
}

t.test('a sweep closes no connection with a request in hand', async (t) => {
  const { connections, now, open, ask, answers, clock } = await followed(t)
  const [busy, silent] = [await open(), await open()]
  await ask(busy)
  clock.now = 60_000
  await closeQuiet(connections, now)
  await silent.closed
  t.same(areOpen([busy]), [true])
  answers[0]?.()
  await until(() => statusIn(busy.heard()) === 200)
})

t.test('sweeps at the same time close nothing that was quiet for less than one', async (t) => {
  const { connections, now, open, answered, clock } = await followed(t)
  const [silent, idle] = [await open(), await open()]
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
