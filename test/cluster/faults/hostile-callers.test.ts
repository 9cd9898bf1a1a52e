import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Caller, call, requestOf, statusIn } from '../../unit/webhook/door.ts'
import { autopilotCluster } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import { environment } from '../harness/fixture.ts'
import { until } from '../harness/until.ts'

const MiB = 1 << 20
const CALLERS = 500
const SIZE = 3 * MiB
/** So many reviews of this size, less than a byte each, are all that is held of large ones: 24 MiB. */
const HOLDERS = 8
// Of what is sent at once it is a quarter; unloaded, the process has about 100.
// From its sources, with its lines being counted, it takes more.
const MOST_MIB = environment().AUTOPILOT_FROM_SOURCE ? 800 : 400
/** How often the process is looked at while something goes on. */
const LOOK_MS = 20
/** How long after an edit the next one follows: edits are no flood of their own. */
const EDIT_MS = 200

/** What some work gives back, and how long it takes. */
async function timed<Found>(work: () => Promise<Found>) {
  const start = performance.now()
  return { found: await work(), ms: Math.round(performance.now() - start) }
}

/** A review of a foreign object that is as large as this. */
function* largeReview(size: number) {
  const [head = '', tail] = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'forged',
      operation: 'UPDATE',
      kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
      name: 'x',
      userInfo: { username: 'system:serviceaccount:gitops:argocd' },
      object: '?',
    },
  }).split('?')
  yield head
  const part = 'x'.repeat(64 << 10)
  for (let left = size - head.length - 3; left > 0; left -= part.length) yield part.slice(0, left)
  yield tail
}

const isOpen = ({ socket }: Caller) => !socket.destroyed

t.test('callers who overdo it', async (t) => {
  const cluster = await autopilotCluster(t)
  const { webhook, webhookPort: port, opsPorts } = cluster.autopilot
  const { isJudged } = cluster
  const memory = () => {
    const status = readFileSync(`/proc/${webhook.child().pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  }
  const look = async () => {
    const { status, body } = await fetch(`http://127.0.0.1:${opsPorts.webhook}/healthz`)
    await body?.cancel()
    return status
  }
  /**
   * Looks at the process as kubelet does while something goes on, and edits besides: the most memory, and every
   * answer. How long both wait is only told, because it is as much the machine's doing.
   */
  const watching = async (t: Test, work: () => Promise<unknown>) => {
    const answers = new Set<number>()
    const [looks, judged, passed]: [number[], number[], number[]] = [[], [], []]
    let isDone = false
    let most = 0
    const watch = async () => {
      while (!isDone) {
        const { found, ms } = await timed(look)
        answers.add(found)
        looks.push(ms)
        most = Math.max(most, memory())
        await sleep(LOOK_MS)
      }
    }
    const edit = async () => {
      while (!isDone) {
        const { found, ms } = await timed(isJudged)
        if (found) judged.push(ms)
        else passed.push(ms)
        await sleep(EDIT_MS)
      }
    }
    const end = () => {
      isDone = true
    }
    await Promise.all([work().finally(end), watch(), edit()])
    t.comment(`${looks.length} probes, the slowest ${Math.max(...looks)} ms`)
    for (const [fate, times] of Object.entries({ judged, passed }))
      t.comment(`${times.length} edits ${fate}, the slowest ${Math.max(0, ...times)} ms`)
    return { answers: [...answers], most }
  }

  /**
   * Callers who keep the last byte to themselves hold all the room there is for large reviews: the answers to whoever only
   * says meanwhile how much is to come, and to them once they end. Who is refused while still sending may never read why.
   * Undefined where one of them was cut off before, since a machine that is busy needs longer than a caller has.
   */
  const hold = async () => {
    const [head, body] = requestOf([...largeReview(SIZE)].join(''))
    const holders = await Promise.all(Array.from({ length: HOLDERS }, () => call({ port })))
    for (const { socket } of holders) socket.write(`${head}${body.slice(0, -1)}`)
    const askers: Caller[] = []
    // Whoever asks before all has arrived is let in, and waited for: that holds nothing.
    await until('somebody is answered', async () => {
      const asker = await call({ port })
      asker.socket.write(head)
      askers.push(asker)
      return !holders.every(isOpen) || askers.some(({ heard }) => heard() !== '')
    })
    const told = askers.flatMap(({ heard }) => statusIn(heard()) ?? [])
    const areHeld = holders.every(isOpen)
    for (const { socket } of holders) socket.write(body.slice(-1))
    const answers = await Promise.all(holders.map(({ closed }) => closed))
    for (const { socket } of askers) socket.destroy()
    return areHeld && { told, answers: answers.map(statusIn) }
  }
  const flood = (headers: Readonly<Record<string, string>>) =>
    new Promise<number | string>((resolve) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path: '/mutate',
          method: 'POST',
          agent: false,
          rejectUnauthorized: false,
          headers: { 'content-type': 'application/json', ...headers },
        },
        (answer) => {
          resolve(answer.statusCode ?? 0)
          answer.resume()
        },
      )
      sent.on('error', () => resolve('cut off'))
      pipeline(Readable.from(largeReview(SIZE)), sent).catch(() => undefined)
    })

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: '500 reviews of 3 MiB come at once',
      outcome:
        'what is too much is told to come again; memory stays bounded, and writes are judged',
    },
    async (t) => {
      for (const headers of [
        { 'content-length': String(SIZE) },
        { 'transfer-encoding': 'chunked' },
      ]) {
        const seen: (number | string)[] = []
        const { answers, most } = await watching(t, async () => {
          const callers = Array.from({ length: CALLERS }, async () => {
            seen.push(await flood(headers))
          })
          await Promise.all(callers)
        })
        const counts = Object.groupBy(seen, String)
        t.comment(`${JSON.stringify(headers)} ${Math.round(most)} MiB`)
        for (const [answer, of = []] of Object.entries(counts)) t.comment(`${answer}: ${of.length}`)
        t.same(
          Object.keys(counts).filter(
            (answer) => !['200', '429', '408', 'cut off'].includes(answer),
          ),
          [],
        )
        t.same(answers, [200], 'it is alive all the time')
        t.ok(most < MOST_MIB, `${most} MiB`)
        await until('writes are judged', isJudged, 60_000)
      }
      const { told, answers } = await until('load is shed', hold)
      t.ok(told.length > 0)
      for (const status of told) t.equal(status, 429, 'there is no room')
      for (const status of answers)
        t.ok([200, 408].includes(status ?? 0), 'there was room for them')
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: '2,000 connections are opened, and nothing is said on them',
      outcome:
        'each is closed within seconds, the API server comes in again, and memory stays bounded',
    },
    async (t) => {
      const callers: Caller[] = []
      const { answers, most } = await watching(t, async () => {
        for (let batch = 0; batch < 40; batch++) {
          // Half of them do not even begin with TLS.
          const opened = Array.from({ length: 50 }, () => call({ port, isPlain: batch % 2 === 0 }))
          callers.push(...(await Promise.all(opened)))
        }
        t.ok(callers.some(isOpen), 'they are there')
        // Whoever says nothing is closed by the server's timeouts. Until then there may be no room for the API server.
        await Promise.all(callers.map(({ closed }) => closed))
        await until('a write is judged', isJudged)
      })
      t.same(answers, [200])
      t.ok(most < MOST_MIB, `${most} MiB`)
      t.equal(callers.length, 2_000)
    },
  )

  await faultTest(
    t,
    {
      part: 'hostile callers',
      fault: '200 callers send one byte a second, of a header or of a body',
      outcome: 'they are cut off, and writes are judged meanwhile',
    },
    async (t) => {
      const [head] = requestOf('x'.repeat(SIZE))
      const callers = await Promise.all(
        Array.from({ length: 200 }, async (_, at) => {
          const caller = await call({ port })
          caller.socket.write(at % 2 ? head : 'POST /mutate HTTP/1.1\r\nx-slow: ')
          return caller
        }),
      )
      const drip = setInterval(() => {
        for (const { socket } of callers) if (!socket.destroyed) socket.write('x')
      }, 1_000)
      let isOver = false
      const cutOff = Promise.all(callers.map(({ closed }) => closed)).finally(() => {
        isOver = true
      })
      let judged = 0
      while (!isOver) if (await isJudged()) judged++
      t.ok(judged > 0, 'while they are there')
      const answers = await cutOff
      clearInterval(drip)
      for (const answer of answers) t.ok([408, 429, undefined].includes(statusIn(answer)))
      await until('a write is judged', isJudged)
    },
  )

  await t.test('a kept connection is closed with the answer once the end has begun', async (t) => {
    const { socket, heard, closed } = await call({ port })
    const ask = () =>
      socket.write(requestOf('{}', { headers: { connection: 'keep-alive' } }).join(''))
    ask()
    await until('it is answered', async () => statusIn(heard()) === 400)
    t.match(heard(), /connection: keep-alive/i)
    const ended = webhook.stop()
    const text = await closed
    t.equal(text, heard(), 'an idle one is closed')
    await ended
    t.notOk(webhook.child().isRunning())
  })
})
