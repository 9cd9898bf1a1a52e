import type { Bench } from '../bench.ts'
import { closedLoop, connectTo, openLoop, TLS } from '../load.ts'
import { type Comparison, comparisonGrid, cpuLines, type Run } from '../peers/compare.ts'
import {
  createPlace,
  FLOOR,
  type Server,
  startFloor,
  startGoPeer,
  webhookOf,
} from '../peers/servers.ts'
import { cpuSeconds, pinApart } from '../processes.ts'
import { GOAL_BYTES, type Review, responseIn, reviewsOf, UID } from '../reviews.ts'
import { extent, median, quantile, rotated, spread } from '../statistics.ts'
import { type Line, line, type Section } from '../table.ts'

/** The number of connections for which the goals are stated. */
const MANY = 16
const CONNECTIONS = [1, MANY, 64]
const LARGE_BYTES = 100_000

/** How many decisions the webhook makes on one core, asked as the API server asks: over TLS, by kept-alive connections. */
export async function measureDecisions(bench: Bench): Promise<Section> {
  const server = webhookOf(bench)
  const reviews = await reviewsOf(bench)
  const { note, release } = pinApart(server.pid)
  try {
    const lines: Line[] = []
    const shares: string[] = []
    for (const review of reviews) {
      const runsBy = async (connections: number) =>
        (await compare(bench, [server], review, connections)).servers[0]?.runs ?? []
      const one = await runsBy(1)
      const many = await runsBy(MANY)
      const capacity = extent(many.map(({ perSecond }) => perSecond))
      const cpu = extent(many.map((run) => run.cpu))
      shares.push(`${Math.round((capacity.median * cpu.median) / 10)} %`)
      lines.push(
        line(`${review.what}, 1 connection`, '/s', extent(one.map(({ perSecond }) => perSecond))),
        line(`${review.what}, ${MANY} connections`, '/s', capacity),
        line('  processor time per 1,000', 's', cpu),
        line(
          '  latency at half of that rate',
          'ms',
          spread(await latencies(bench, server, review, capacity.median / 2)),
          'p99 under 5 ms',
        ),
      )
    }
    return {
      title: 'Decisions of one webhook process over TLS',
      lines,
      notes: [
        `${note} Each request has the object, of ${GOAL_BYTES / 1000} kB, new and old.`,
        `It got ${shares.join(', ')} of its core under ${MANY} connections: of less than 95 % others took the rest.`,
        `${roundsOf(bench)} Latency is from when a request was due, over ${MANY} connections.`,
      ],
    }
  } finally {
    release()
  }
}

/** The webhook beside a server that decides nothing and beside the same webhook in Go, on one core each. */
export async function measurePeers(bench: Bench): Promise<Section> {
  const place = await createPlace(bench)
  const servers = [await startFloor(place), webhookOf(bench)]
  const { note, release } = pinApart(webhookOf(bench).pid)
  const notes = [note]
  try {
    await startGoPeer(place).then(
      (server) => servers.push(server),
      (error: Error) => notes.unshift(`The peer in Go is missing: ${error.message.split('\n')[0]}`),
    )
    const measured = await compareAll(bench, servers)
    return {
      title: `Processor time of a decision at 5 kB and ${MANY} connections, beside a server that decides nothing and one in Go`,
      lines: cpuLines(measured.filter(({ connections }) => connections === MANY)),
      grids: measured.map(comparisonGrid),
      notes: [
        ...notes,
        `${roundsOf(bench)} Ratios are medians of each round’s.`,
        'Each sender waits for its answer before it sends again, so more connections mean longer waits at the same rate.',
        `All have the same certificate and the same requests, by ${TLS.minVersion} with ${TLS.ciphers}; all answers were checked first.`,
        'bare Fastify parses a request and allows it. controller-runtime compares the same fields, and does nothing else that the webhook does.',
      ],
      versions: servers.flatMap(({ versions }) => versions),
    }
  } finally {
    release()
    for (const { end } of servers) await end()
  }
}

const roundsOf = ({ effort: { rounds, loadMs } }: Bench) =>
  `${rounds} rounds of ${loadMs / 1000} s of each in turn; numbers are medians of the rounds.`

async function compareAll(bench: Bench, servers: readonly Server[]): Promise<Comparison[]> {
  const small = await reviewsOf(bench)
  // Node compiles what is often used: whoever was asked little so far is slow, and not for long.
  for (const review of small) await compare(bench, servers, review, MANY, 1)
  const comparisons: Comparison[] = []
  for (const review of [...small, ...(await reviewsOf(bench, LARGE_BYTES))]) {
    for (const connections of CONNECTIONS)
      comparisons.push(await compare(bench, servers, review, connections))
  }
  return comparisons
}

/** What each of these servers makes of one review, round by round. */
async function compare(
  { effort: { rounds, loadMs }, authority }: Bench,
  servers: readonly Server[],
  review: Review,
  connections: number,
  times = rounds,
): Promise<Comparison> {
  const ca = await authority()
  const asked = servers.map(({ url, ...server }) => {
    const { post, close } = connectTo(url, ca, connections)
    return { ...server, post, close, runs: [] as Run[] }
  })
  // Of each load another user: whoever insists for long may be answered otherwise.
  const loadOf = ({ post }: (typeof asked)[number], user: string, forMs: number) => {
    const body = review.bodyFor(user)
    return closedLoop(() => post(body), connections, forMs)
  }
  try {
    for (const server of asked) {
      await check(server.name, review, server.post)
      await loadOf(server, 'warm-up', loadMs / 2)
    }
    for (let round = 0; round < times; round++) {
      for (const server of rotated(asked, round)) {
        const before = cpuSeconds(server.pid)
        const load = await loadOf(server, `user-${connections}-${round}`, loadMs)
        const cpu = (1000 * (cpuSeconds(server.pid) - before)) / load.tookMs.length
        const [p50Ms, p99Ms] = [median(load.tookMs), quantile(load.tookMs, 0.99)]
        server.runs.push({ perSecond: load.perSecond, cpu, p50Ms, p99Ms })
      }
    }
    for (const { name, post } of asked) await check(name, review, post)
  } finally {
    await Promise.all(asked.map(({ close }) => close()))
  }
  return { what: review.what, objectBytes: review.objectBytes, connections, servers: asked }
}

/** How long answers take at a rate that does not wait for them. */
async function latencies(
  { effort, authority }: Bench,
  { url }: Server,
  { bodyFor }: Review,
  perSecond: number,
): Promise<readonly number[]> {
  const { post, close } = connectTo(url, await authority(), MANY)
  const body = bodyFor('carol')
  try {
    return (await openLoop(() => post(body), perSecond, 2 * effort.loadMs)).tookMs
  } finally {
    await close()
  }
}

/** Throws where a server does not answer as it must: the floor allows everything as it is. */
async function check(name: string, review: Review, post: (body: Buffer) => Promise<string>) {
  const text = await post(review.bodyFor('checking'))
  const response = responseIn(text)
  const { uid, allowed, patch } = response
  const isAllowed = uid === UID && allowed && patch === undefined
  if (!(name === FLOOR ? isAllowed : review.isExpected(response)))
    throw new Error(`${name} does not answer with a ${review.what}: ${text}`)
}
