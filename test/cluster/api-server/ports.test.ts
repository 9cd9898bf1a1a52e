import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { freePort, serve } from '../../../tools/control-plane/ports.ts'
import { spawnLeashed } from '../../../tools/control-plane/processes.ts'
import { send } from '../../../tools/control-plane/request.ts'

const SERVER = `http.createServer((_, answer) => answer.end(process.argv[1]))
  .listen(process.argv[1], '127.0.0.1')`

function start(folder: string, port: number) {
  const args = ['--eval', SERVER, String(port)]
  const logFile = join(folder, 'log')
  return spawnLeashed({ name: 'echo', file: process.execPath, args, cwd: folder, env: {}, logFile })
}

t.test('another port is taken while the one that was free is in use', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port: inUse } = taken.address() as AddressInfo
  const tried: number[] = []
  const folder = t.testdir()
  const { process, ports: port } = await serve({
    // Another test may take one that was free, just as well.
    ports: async () => {
      const next = tried.length === 0 ? inUse : await freePort()
      tried.push(next)
      return next
    },
    start: (port) => start(folder, port),
    isReady: async (port) =>
      (await send(`http://127.0.0.1:${port}`, { timeoutMs: 200 })).text === String(port),
  })
  t.ok(tried.length > 1)
  t.equal(port, tried.at(-1))
  await process.kill()
  t.notOk(process.isRunning())
})

t.test('a program that ends before it serves is told at once, with what it said', async (t) => {
  const folder = t.testdir()
  const wrong = serve({
    ports: async () => 70_000,
    start: (port) => start(folder, port),
    isReady: async () => false,
  })
  await t.rejects(wrong, { message: /^starting echo: exit code 1\n[\s\S]*ERR_SOCKET_BAD_PORT/ })
})
