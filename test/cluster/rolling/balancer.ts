import { get } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../harness/fixture.ts'

/** A process behind a balancer: where it serves, and where it says whether it is ready. */
export interface Endpoint {
  readonly port: number
  readonly opsPort: number
}

/**
 * What a Service is to the API server, in one process: it deals new connections out in turn to the endpoints that
 * are ready. Whoever ceases to be ready keeps the connections that it has.
 */
export interface Balancer {
  readonly url: string
  add(endpoint: Endpoint): void
  /** Asks this endpoint no more whether it is ready: it is gone. */
  remove(endpoint: Endpoint): void
  /** Whether this endpoint gets new connections. */
  isServing(endpoint: Endpoint): boolean
  /** How many connections this endpoint has. */
  open(endpoint: Endpoint): number
  /** How many connections were ever dealt to this endpoint, whether it took them or not. */
  dealt(endpoint: Endpoint): number
  /** How many connections the API server ended first, as where it has waited long enough; all, or of other endpoints than this. */
  abandoned(beside?: Endpoint): number
}

const PROBE_EVERY_MS = 100
const PROBE_TIMEOUT_MS = 1_000
// A process that says that it is not ready, or is gone, is out at once; one that is slow to answer may only be slow.
const SILENCES = 3

interface Member extends Endpoint {
  isReady: boolean
  isGone: boolean
  silences: number
  dealt: number
  abandoned: number
  readonly sockets: Set<Socket>
}

/** Starts a balancer, by default on the loopback interface, with nobody behind it yet; it ends with its scope. */
export async function startBalancer(
  t: Pick<Scope, 'teardown'>,
  { host, port }: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<Balancer> {
  const members: Member[] = []
  const clients = new Set<Socket>()
  let isOver = false
  let turn = 0
  const next = () => {
    const ready = members.filter(({ isReady }) => isReady)
    return ready[turn++ % ready.length]
  }
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    clients.add(client)
    client.once('close', () => clients.delete(client))
    const member = next()
    if (member) return join(client, member)
    client.on('error', () => undefined).resetAndDestroy()
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const probing = new Set<Promise<void>>()
  const watch = async (member: Member) => {
    while (!isOver && !member.isGone) {
      await probe(member)
      await sleep(PROBE_EVERY_MS)
    }
  }
  t.teardown(async () => {
    isOver = true
    for (const client of clients) client.destroy()
    server.close()
    await Promise.all(probing)
  })
  const of = ({ port }: Endpoint) => {
    const member = members.find((one) => one.port === port)
    if (!member) throw new Error(`nobody added an endpoint on port ${port}`)
    return member
  }
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    add(endpoint) {
      const member = {
        ...endpoint,
        isReady: false,
        isGone: false,
        silences: 0,
        dealt: 0,
        abandoned: 0,
        sockets: new Set<Socket>(),
      }
      members.push(member)
      probing.add(watch(member))
    },
    remove(endpoint) {
      Object.assign(of(endpoint), { isReady: false, isGone: true })
    },
    isServing: (endpoint) => of(endpoint).isReady,
    open: (endpoint) => of(endpoint).sockets.size,
    dealt: (endpoint) => of(endpoint).dealt,
    abandoned: (beside) =>
      members
        .filter(({ port }) => port !== beside?.port)
        .reduce((sum, { abandoned }) => sum + abandoned, 0),
  }
}

/** Byte for byte, both ends of a connection included: a refusal and a reset come through as a reset. */
function join(client: Socket, member: Member): void {
  const upstream = connect({
    port: member.port,
    host: '127.0.0.1',
    allowHalfOpen: true,
    noDelay: true,
  })
  member.dealt += 1
  member.sockets.add(upstream)
  upstream.once('close', () => member.sockets.delete(upstream))
  client.once('end', () => {
    if (!upstream.readableEnded && !upstream.destroyed) member.abandoned += 1
  })
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.pipe(to)
    from.once('error', () => to.resetAndDestroy())
  }
}

async function probe(member: Member): Promise<void> {
  const answer = await readiness(member.opsPort)
  member.silences = answer === 'silent' ? member.silences + 1 : 0
  if (answer !== 'silent') member.isReady = answer === 'ready'
  else if (member.silences >= SILENCES) member.isReady = false
}

const readiness = (port: number) =>
  new Promise<'ready' | 'not ready' | 'silent'>((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', agent: false } as const
    const asked = get({ ...options, timeout: PROBE_TIMEOUT_MS }, (answer) => {
      resolve(answer.statusCode === 200 ? 'ready' : 'not ready')
      answer.resume()
    })
    asked.once('timeout', () => {
      resolve('silent')
      asked.destroy()
    })
    asked.on('error', () => resolve('not ready'))
  })
