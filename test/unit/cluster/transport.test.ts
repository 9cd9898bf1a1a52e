import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import {
  createTransport,
  type Limits,
  type Outgoing,
} from '../../../src/shared/cluster/transport.ts'
import { until } from '../../cluster/harness/until.ts'

const LIMITS: Limits = { connectMs: 5_000, requestMs: 5_000, streamMs: 5_000, connections: 2 }

/** A server that does as it is told, the requests that it has, and a transport to it. */
async function transportTo(t: Test, listener: RequestListener, limits: Partial<Limits> = {}) {
  const sockets = new Set<Socket>()
  const server = createServer(listener)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const route = { server: url, proxyUrl: undefined, tls: {} }
  const transport = createTransport(route, { ...LIMITS, ...limits })
  t.teardown(() => {
    transport.close()
    server.closeAllConnections()
    server.close()
  })
  const outgoing = (path: string, changes: Partial<Outgoing> = {}): Outgoing => ({
    url: `${url}${path}`,
    method: 'GET',
    headers: {},
    isRepeatable: true,
    ...changes,
  })
  const ask = async (path: string, changes: Partial<Outgoing> = {}) =>
    text(await transport.open('requests', outgoing(path, changes)))
  return { url, server, sockets, transport, outgoing, ask }
}

t.test('a request that waits for a connection is given up as any other', async (t) => {
  const held: ServerResponse[] = []
  const { ask } = await transportTo(t, ({ url }, answer) => {
    if (url === '/held') held.push(answer)
    else answer.end(url)
  })
  const before = [ask('/held'), ask('/held')]
  const controller = new AbortController()
  const waiting = ask('/aborted', { signal: controller.signal })
  const patient = ask('/patient')
  controller.abort(new Error('enough'))
  await t.rejects(waiting, { message: 'enough' })
  await t.rejects(ask('/aborted', { signal: controller.signal }), { message: 'enough' })
  await until('both are held', async () => held.length === 2)
  for (const answer of held) answer.end('held')
  t.same(await Promise.all([...before, patient]), ['held', 'held', '/patient'])
  t.equal(await ask('/next'), '/next', 'and nobody else is the poorer')
})

t.test('a server that says nothing is waited for so long, and no longer', async (t) => {
  const limits = { requestMs: 300, connections: 1 }
  const { ask, transport, outgoing } = await transportTo(
    t,
    ({ url }, answer) => {
      if (url === '/silent') return
      answer.write('first')
      if (url === '/paused') return
      const ticking = setInterval(() => answer.write('.'), 50)
      answer.once('close', () => clearInterval(ticking))
      setTimeout(() => answer.end('last'), 1_000)
    },
    { ...limits, streamMs: 400 },
  )
  await t.rejects(ask('/silent'), { message: 'no answer within 0.3 s' })
  await t.rejects(ask('/paused'), { message: 'nothing more within 0.3 s' })
  const slow = ask('/slow')
  await t.rejects(ask('/behind'), { message: 'no free connection within 0.3 s' })
  t.match(await slow, /^first\.+last$/, 'what comes slowly is not late')

  const stream = await transport.open('streams', outgoing('/paused'))
  await t.rejects(text(stream), { message: 'nothing more within 0.4 s' })
  await t.rejects(transport.open('streams', outgoing('/silent')), {
    message: 'no answer within 0.3 s',
  })
})

t.test('who reads an answer is told why there is no more of it', async (t) => {
  const { transport, outgoing, ask, sockets } = await transportTo(t, ({ url }, answer) => {
    if (url === '/whole') answer.end('whole')
    else answer.write('first')
    if (url === '/cut') answer.socket?.end()
  })
  await t.rejects(ask('/cut'), { code: 'ECONNRESET' })
  for (const path of ['/open', '/whole']) {
    const controller = new AbortController()
    const { signal } = controller
    const answer = await transport.open('requests', outgoing(path, { signal }))
    if (path === '/whole') await until('all of it is here', async () => answer.complete)
    controller.abort(new Error('enough'))
    await t.rejects(text(answer), { message: 'enough' }, path)
  }
  await until('no connection is kept for them', async () => sockets.size === 0)
})

t.test(
  'a connection that the server closes as we write is no trouble to who may ask twice',
  async (t) => {
    const asked: string[] = []
    const { ask } = await transportTo(t, ({ url = '', socket }, answer) => {
      asked.push(url)
      // The second request on each connection is where it ends.
      if (known.has(socket) || url === '/never') socket.destroy()
      else answer.end(url)
      known.add(socket)
    })
    const known = new WeakSet<Socket>()
    const sent = async (work: Promise<unknown>) => {
      await work
      return asked.splice(0)
    }
    t.same(await sent(ask('/first')), ['/first'])
    t.same(await sent(ask('/again')), ['/again', '/again'])
    const once = t.rejects(ask('/once', { isRepeatable: false }), { code: 'ECONNRESET' })
    t.same(await sent(once), ['/once'])
    const fresh = t.rejects(ask('/never'), { code: 'ECONNRESET' })
    t.same(await sent(fresh), ['/never'], 'a new connection that ends is one')
  },
)

t.test('nothing is asked once it is closed', async (t) => {
  const asked: (string | undefined)[] = []
  const { ask, transport, sockets, outgoing } = await transportTo(t, ({ url }, answer) => {
    asked.push(url)
    answer.write('first')
  })
  const stream = await transport.open('streams', outgoing('/stream'))
  const ends = ['/a', '/b', '/waits', '/waits'].map((path) =>
    t.rejects(ask(path), { message: 'the client was closed' }),
  )
  await until('all that have a connection are asked', async () => asked.length === 3)
  transport.close()
  await Promise.all(ends)
  await t.rejects(text(stream), { message: 'the client was closed' })
  await t.rejects(ask('/later'), { message: 'the client was closed' })
  await until('all connections are closed', async () => sockets.size === 0)
  t.same(asked.sort(), ['/a', '/b', '/stream'])
})

t.test('a proxy that lets nobody through is an error of each request', async (t) => {
  const proxy = createServer()
  proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const server = 'https://api.invalid:6443'
  const transport = createTransport({ server, proxyUrl, tls: {} }, LIMITS)
  t.teardown(transport.close)
  const request = { url: server, method: 'GET', headers: {}, isRepeatable: true }
  const all = Array.from({ length: 5 }, () => transport.open('requests', request))
  for (const one of all) await t.rejects(one, { message: /api\.invalid:6443 .* 403 Forbidden$/ })
})

t.test('whatever a server does, and whoever gives up, every request ends', async (t) => {
  const faults: RequestListener[] = [
    (_request, answer) => answer.end('whole'),
    (_request, answer) => answer.writeHead(200, { 'content-length': 5 }).end('whole'),
    (_request, answer) => void setTimeout(() => answer.end('whole'), 20),
    (_request, answer) => answer.writeHead(200, { connection: 'close' }).end('whole'),
    ({ socket }) => socket.destroy(),
    ({ socket }) => socket.resetAndDestroy(),
    ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf'),
    ({ socket }) => socket.end('nonsense'),
    (_request, answer) => void answer.write('half'),
    () => undefined,
  ]
  let turn = 0
  const listener: RequestListener = (request, answer) => {
    const fault = request.url === '/calm' ? faults[0] : faults[turn++ % faults.length]
    fault?.(request, answer)
  }
  const { ask, sockets } = await transportTo(t, listener, { requestMs: 300, connections: 8 })
  const ends = new Map<string, number>()
  const asker = async (_: unknown, index: number) => {
    for (let count = 0; count < 40; count++) {
      const isHasty = (index + count) % 3 === 0
      const signal = isHasty ? AbortSignal.timeout(count) : undefined
      const end = await ask('/', { signal, isRepeatable: count % 2 === 0 }).catch(
        (error: Error) => error.name,
      )
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 25 }, asker))
  t.equal(
    [...ends.values()].reduce((sum, one) => sum + one),
    1_000,
  )
  t.same([...ends.keys()].sort(), ['Error', 'TimeoutError', 'whole'])
  t.same(await Promise.all(Array.from({ length: 20 }, () => ask('/calm'))), Array(20).fill('whole'))
  t.ok(sockets.size <= 8, `${sockets.size} connections are kept`)
})
