import type { Bench } from '../bench.ts'
import { connectTo, type LoadOptions, load, TLS } from '../load.ts'
import { FLOOR, type Server, startPeers, webhookOf } from '../peers/peers.ts'
import { cpuSeconds, pinApart } from '../processes.ts'
import { isAllowedAsItIs, OBJECT_BYTES, type Review, responseIn, reviewsOf } from '../reviews.ts'
import { extent, ratios, rotated, spread } from '../statistics.ts'
import { type Line, line, type Section } from '../table.ts'

const CONNECTIONS = 16
const CPU_GOALS = ['under 0.22 s', 'under 0.30 s', 'under 0.25 s']
const TIMES_GOALS: Readonly<Record<string, readonly string[]>> = { [FLOOR]: ['1.5 ×', '2 ×'] }

/** How many decisions the webhook makes on one core, asked as the API server asks, beside a server that decides nothing and a webhook in Go. */
export async function measureDecisions(bench: Bench): Promise<Section> {
  const { rounds, loadMs, steadyPerSecond } = bench.effort
  const own = webhookOf(bench)
  const { peers, problem } = await startPeers(bench)
  const { note, release } = pinApart(own.pid)
  try {
    const lines: Line[] = []
    for (const [index, review] of (await reviewsOf(bench)).entries()) {
      const [asked, ...others] = await compare(bench, [own, ...peers], review)
      lines.push(
        line(review.what, '/s', extent(asked.rates)),
        line('  latency at a steady rate', 'ms', spread(asked.tookMs), 'p99 under 5 ms'),
        line('  processor time of 1,000', 's', extent(asked.cpu), CPU_GOALS[index]),
        ...others.map(({ name, cpu }) =>
          line(
            `  times that of ${name}`,
            '×',
            extent(ratios(asked.cpu, cpu)),
            TIMES_GOALS[name]?.[index],
          ),
        ),
      )
    }
    return {
      title:
        'Decisions of one webhook process over TLS, beside a server that decides nothing and one in Go',
      lines,
      notes: [
        ...problem,
        note,
        `Each request has the object, of ${OBJECT_BYTES / 1000} kB, new and old; ${CONNECTIONS} connections ask again when they are answered. Latency is from when a request was due.`,
        `Latency and processor time are at ${steadyPerSecond} a second for all: what waits for the load, or is waited for, takes another time for the same.`,
        `${rounds} rounds of ${loadMs / 1000} s of each in turn; numbers are medians of the rounds.`,
        `All have the same certificate and the same requests, by ${TLS.minVersion} with ${TLS.ciphers}; their answers are checked.`,
        'bare Fastify parses a request and allows it. controller-runtime compares the same fields, and does nothing else that the webhook does.',
      ],
      versions: peers.flatMap(({ versions }) => versions),
    }
  } finally {
    release()
    for (const { end } of peers) await end()
  }
}

/** What each of these servers makes of one review, round by round. */
async function compare(
  bench: Bench,
  [own, ...peers]: readonly [Server, ...Server[]],
  review: Review,
) {
  const ca = await bench.authority()
  const connect = (server: Server) => {
    const [rates, cpu, tookMs]: [number[], number[], number[]] = [[], [], []]
    return { ...server, ...connectTo(server.url, ca, CONNECTIONS), rates, cpu, tookMs }
  }
  const asked = [connect(own), ...peers.map(connect)] as const
  const options = { senders: CONNECTIONS, forMs: bench.effort.loadMs }
  // Node compiles what is often used: the first round is for that, and not counted.
  for (let round = -1; round < bench.effort.rounds; round++) {
    for (const server of rotated(asked, round + 1)) {
      // Of each load another user: whoever insists for long may be answered otherwise.
      const body = review.bodyFor(`user-${round}`)
      check(server.name, review, await server.post(body))
      const { perSecond } = await load(() => server.post(body), options)
      const { cpu, tookMs } = await askAt(bench.effort.steadyPerSecond, server, body, options)
      if (round < 0) continue
      server.rates.push(perSecond)
      server.cpu.push(cpu)
      for (const took of tookMs) server.tookMs.push(took)
    }
  }
  for (const { close } of asked) await close()
  return asked
}

/** The processor time of 1,000 decisions at a rate that does not wait for answers, and how long each takes. */
async function askAt(
  perSecond: number,
  { pid, post }: Server & ReturnType<typeof connectTo>,
  body: Buffer,
  options: LoadOptions,
) {
  const before = cpuSeconds(pid)
  const { tookMs } = await load(() => post(body), { ...options, perSecond })
  return { cpu: (1000 * (cpuSeconds(pid) - before)) / tookMs.length, tookMs }
}

/** Throws where a server does not answer as it must: the floor allows everything as it is. */
function check(name: string, { what, isExpected }: Review, text: string): void {
  const isRight = name === FLOOR ? isAllowedAsItIs : isExpected
  if (!isRight(responseIn(text))) throw new Error(`${name} does not answer with a ${what}: ${text}`)
}
