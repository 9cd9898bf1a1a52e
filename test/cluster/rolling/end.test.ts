import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { autopilotCluster, isReady, NAMESPACE } from '../harness/autopilot-fixture.ts'
import { faultTest } from '../harness/fault.ts'
import type { Scope } from '../harness/fixture.ts'
import { HCO, MUTATING, STATE, VALIDATING } from '../harness/objects.ts'
import { until } from '../harness/until.ts'
import { spawnReplica, untilEnded, untilListening } from './rolling-cluster.ts'

const SERVING = `/api/v1/namespaces/${NAMESPACE}/secrets/virt-platform-autopilot-webhook-tls`
const SLOWEST_MS = 90_000
const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'of-the-test',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    operation: 'CREATE',
    name: 'unmanaged',
    userInfo: { username: 'alice' },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unmanaged' } },
  },
})

t.test('how a replica of the webhook begins and ends', async (t) => {
  const cluster = await autopilotCluster(t)
  const { autopilot, admin } = cluster

  const start = async (...flags: readonly string[]) => {
    const process = spawnReplica(cluster, { flags })
    t.teardown(() => process.kill())
    return { process, ...(await untilListening(process)) }
  }
  const startReady = async (...flags: readonly string[]) => {
    const replica = await start(...flags)
    await until('it is ready', () => isReady(replica.opsPort), SLOWEST_MS)
    return replica
  }
  const terminate = ({ process: { pid } }: { process: { pid: number } }) =>
    process.kill(pid, 'SIGTERM')
  const obstacles = async (opsPort: number) =>
    (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).text()

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it ends while connections are held open that never ask anything',
      outcome: 'it closes them, finishes the request in hand, and ends in order',
    },
    async (t) => {
      const replica = await startReady('--shutdown-grace=0s')
      const held = await hold(t, replica.port)
      const asking = ask(t, replica.port)
      asking.write(REVIEW.slice(0, 20))
      await once(asking, 'socket')
      const answered = once(asking, 'response') as Promise<[IncomingMessage]>
      await settled(t, replica.port)
      terminate(replica)
      await until('it takes no more connections', () => isRefused(replica.port), SLOWEST_MS)
      // It waits a few seconds for a request, and for nothing else: what is held open is gone all the same.
      asking.end(REVIEW.slice(20))
      const [answer] = await answered
      await Promise.all(held)
      t.match(answer, { statusCode: 200, headers: { connection: 'close' } })
      t.match(JSON.parse(await text(answer)), { response: { uid: 'of-the-test', allowed: true } })
      t.equal(await untilEnded(replica.process), 'exit code 0')
      t.match(replica.process.output(), /"msg":"ended"/)
    },
  )

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it ends while a request is sent ever so slowly',
      outcome: 'it cuts that off, and ends in order',
    },
    async (t) => {
      const replica = await startReady('--shutdown-grace=0s')
      const asking = ask(t, replica.port)
      const failed = once(asking, 'error')
      asking.write(REVIEW.slice(0, 20))
      await settled(t, replica.port)
      terminate(replica)
      t.match(await failed, [{ code: 'ECONNRESET' }])
      t.equal(await untilEnded(replica.process), 'exit code 0')
    },
  )

  await t.test('while it ends it is not ready, judges, and keeps no connection', async (t) => {
    const replica = await startReady('--shutdown-grace=10m')
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    t.teardown(() => agent.destroy())
    const judge = async () => {
      const asking = ask(t, replica.port, agent).end(REVIEW)
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      t.match(JSON.parse(await text(answer)), { response: { allowed: true } })
      return answer.headers.connection
    }
    t.equal(await judge(), 'keep-alive')
    terminate(replica)
    await until('it is not ready', async () => !(await isReady(replica.opsPort)))
    t.equal(await obstacles(replica.opsPort), 'not ready: it is shutting down')
    t.equal(await judge(), 'close', 'on the connection that there was')
    t.equal(await judge(), 'close', 'on a new one')

    const off = { metadata: { annotations: { 'platform.kubevirt.io/autopilot': 'false' } } }
    const { status } = await admin('PATCH', HCO, off, 'application/merge-patch+json')
    t.equal(status, 200)
    const isOff = async () => /"activation":"off"/.test(replica.process.output())
    await until('it has learned the next state', isOff, SLOWEST_MS)
    const on = { metadata: { annotations: { 'platform.kubevirt.io/autopilot': null } } }
    await admin('PATCH', HCO, on, 'application/merge-patch+json')

    t.ok(replica.process.isRunning())
    terminate(replica)
    t.equal(await untilEnded(replica.process), 'exit code 130', 'a second signal ends it at once')
  })

  await t.test('unless it is told otherwise, it judges for ten seconds more', async (t) => {
    const replica = await startReady()
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    t.teardown(() => agent.destroy())
    const since = performance.now()
    terminate(replica)
    let lastMs = 0
    await until(
      'it takes no more connections',
      async () => {
        if (await isRefused(replica.port)) return true
        const asking = ask(t, replica.port, agent).end(REVIEW)
        const answer = await once(asking, 'response').catch(() => undefined)
        // It may end between the two.
        if (!answer) return isRefused(replica.port)
        const [{ statusCode }] = answer as [IncomingMessage]
        await text(answer[0])
        t.equal(statusCode, 200)
        lastMs = performance.now() - since
        return false
      },
      SLOWEST_MS,
    )
    t.comment(`the last was judged after ${Math.round(lastMs)} ms`)
    t.ok(lastMs > 9_000, `judged for ${lastMs} ms`)
    t.ok(performance.now() - since < 30_000)
    t.equal(await untilEnded(replica.process), 'exit code 0')
  })

  await faultTest(
    t,
    {
      part: 'webhook',
      fault: 'it starts before there is a certificate or a state, and nothing is registered',
      outcome: 'it is not ready and refuses connections, until the leader makes both',
    },
    async (t) => {
      await autopilot.reconciler.stop()
      for (const path of [SERVING, STATE, MUTATING, VALIDATING])
        t.equal((await admin('DELETE', path)).status, 200, path)
      const replica = await start('--shutdown-grace=0s')
      t.equal(
        await obstacles(replica.opsPort),
        'not ready: there is no serving certificate, the leader has published no state',
      )
      const asking = ask(t, replica.port).end(REVIEW)
      const [refusal] = await once(asking, 'error')
      t.match(`${refusal}`, /alert handshake failure/, 'nobody waits in vain')
      t.ok(await isReady(autopilot.opsPorts.webhook), 'who knew both goes on')

      autopilot.reconciler.start()
      await until('it is ready', () => isReady(replica.opsPort), SLOWEST_MS)
      terminate(replica)
      t.equal(await untilEnded(replica.process), 'exit code 0')
    },
  )
})

/** A connection that never says a word, and one that never asks; each settles when the other side ends it. */
async function hold(t: Scope, port: number): Promise<readonly Promise<unknown>[]> {
  const silent = connectTcp(port, '127.0.0.1')
  const idle = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await Promise.all([once(silent, 'connect'), once(idle, 'secureConnect')])
  return [silent, idle].map((socket: Socket) => {
    t.teardown(async () => void socket.destroy())
    socket.on('error', () => undefined).resume()
    return new Promise((resolve) => socket.once('close', resolve))
  })
}

/** Begins a review whose body is still to be sent. */
function ask(t: Scope, port: number, agent?: Agent): ClientRequest {
  const asking = request({
    host: '127.0.0.1',
    port,
    path: '/mutate',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(REVIEW) },
    rejectUnauthorized: false,
    agent: agent ?? false,
  })
  t.teardown(async () => void asking.destroy())
  return asking
}

/** A whole request comes after what was sent before it. */
async function settled(t: Scope, port: number): Promise<void> {
  const [answer] = (await once(ask(t, port).end(REVIEW), 'response')) as [IncomingMessage]
  await text(answer)
}

const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connectTcp(port, '127.0.0.1')
    socket.once('error', () => resolve(true))
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
  })
