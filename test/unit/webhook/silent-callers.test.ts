import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createApp } from '../../../src/webhook/server/app.ts'
import { followConnections } from '../../../src/webhook/server/connections.ts'
import { boundConnections } from '../../../src/webhook/server/crowd.ts'
import { type Caller, call, requestOf, say, statusIn } from './door.ts'
import { handlersWith } from './known.ts'

const CALLERS = 5_000
const AT_ONCE = 100
/** How many connections there are at most, whoever comes. */
const CAP = 2_000

t.test(
  `of ${CALLERS} connections that say nothing, no more than ${CAP} stay, and a review is answered`,
  async (t) => {
    const app = createApp({
      ...handlersWith(),
      onError: (error) => t.fail(`a caller made the webhook fail: ${error.stack}`),
    })
    t.teardown(() => app.close())
    const now = () => performance.now()
    boundConnections(app.server, followConnections(app.server, now), now)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const address = app.server.address()
    const door = { port: typeof address === 'object' && address ? address.port : 0, isPlain: true }
    const open = () =>
      new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
    const callers: Caller[] = []
    let most = 0
    while (callers.length < CALLERS) {
      callers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => call(door)))))
      most = Math.max(most, await open())
    }
    t.equal(callers.length, CALLERS)
    t.ok(most <= CAP, `${most} were open at once`)
    // Where they came faster than 2,000 a second, the first of them must have been quiet for one.
    const speak = async () => statusIn(await say(door, ...requestOf('{}')))
    let status = await speak()
    for (let tries = 0; status === undefined && tries < 50; tries++) {
      await sleep(100)
      status = await speak()
    }
    t.equal(status, 400, 'somebody who speaks is heard')
    for (const { socket } of callers) socket.destroy()
    await Promise.all(callers.map(({ closed }) => closed))
  },
)
