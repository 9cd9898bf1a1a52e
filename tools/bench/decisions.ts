import { authority } from './authority.ts'
import type { Bench } from './cluster.ts'
import { pinApart } from './cores.ts'
import { closedLoop, connectTo, openLoop } from './load.ts'
import { cpuSeconds } from './process-numbers.ts'
import { GOAL_BYTES, type Review, type ReviewAnswer, reviewsOf } from './reviews.ts'
import { extent, ratesIn, spread } from './statistics.ts'
import type { Line, Section } from './table.ts'

const MANY = 16
const WINDOWS = 10

/** How many decisions the webhook makes on one core, asked as the API server asks: over TLS, by kept-alive connections. */
export async function measureDecisions(bench: Bench): Promise<Section> {
  const { pid } = bench.autopilot.webhook.child()
  const reviews = await reviewsOf(bench)
  const ca = await authority(bench)
  const { note, release } = pinApart(pid)
  try {
    const lines: Line[] = []
    const shares: string[] = []
    for (const review of reviews) {
      const measured = await measureReview(bench, review, ca, pid)
      lines.push(...measured.lines)
      if (measured.cpuShare !== undefined) shares.push(`${Math.round(100 * measured.cpuShare)} %`)
    }
    const sizes = reviews.map(({ bodyFor }) => `${(bodyFor('alice').length / 1000).toFixed(1)} kB`)
    return {
      title: 'Decisions of one webhook process over TLS',
      lines,
      notes: [
        `${note} Requests have ${sizes.join(', ')}: the object, of ${GOAL_BYTES / 1000} kB, new and old.`,
        `It got ${shares.join(', ') || 'an unknown share'} of its core under ${MANY} connections: of less than 95 % others took the rest.`,
        `Rates in ${WINDOWS} windows of each load; latency from when a request was due, at half of the rate of ${MANY} connections.`,
      ],
    }
  } finally {
    release()
  }
}

async function measureReview(
  { autopilot, effort: { loadMs } }: Bench,
  { what, bodyFor, isExpected }: Review,
  ca: string,
  pid: number,
): Promise<{ readonly lines: readonly Line[]; readonly cpuShare: number | undefined }> {
  const one = connectTo(autopilot.webhookUrl, ca, 1)
  const many = connectTo(autopilot.webhookUrl, ca, MANY)
  const check = async (user: string) => {
    const answer = JSON.parse(String(await one.post(bodyFor(user)))) as ReviewAnswer
    if (!isExpected(answer)) throw new Error(`not a ${what}: ${JSON.stringify(answer)}`)
  }
  try {
    await check('warm-up')
    const load = (user: string, connection: typeof one) => {
      const body = bodyFor(user)
      return () => connection.post(body)
    }
    await closedLoop(load('warm-up', many), MANY, loadMs / 3)
    const single = await closedLoop(load('alice', one), 1, loadMs)
    const cpuBefore = cpuSeconds(pid)
    const full = await closedLoop(load('bob', many), MANY, loadMs)
    const cpuAfter = cpuSeconds(pid)
    await check('bob')
    const rates = (moments: typeof full) =>
      ratesIn(moments.answeredAt, { ...moments, windows: WINDOWS })
    const capacity = extent(rates(full)).median
    const half = await openLoop(load('carol', many), capacity / 2, loadMs)
    const cpu = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore
    const lines: Line[] = [
      { ...rateLine(`${what}, 1 connection`, rates(single)), n: single.answeredAt.length },
      { ...rateLine(`${what}, ${MANY} connections`, rates(full)), n: full.answeredAt.length },
      {
        what: '  processor time per 1,000',
        unit: 's',
        median: cpu === undefined ? undefined : (1000 * cpu) / full.answeredAt.length,
        n: full.answeredAt.length,
      },
      {
        what: `  latency at ${Math.round(capacity / 2).toLocaleString('en')}/s`,
        unit: 'ms',
        ...spread(half.tookMs),
        goal: 'p99 under 5 ms',
      },
    ]
    return { lines, cpuShare: cpu === undefined ? undefined : (1000 * cpu) / loadMs }
  } finally {
    await Promise.all([one.close(), many.close()])
  }
}

const rateLine = (what: string, rates: readonly number[]): Line => ({
  what,
  unit: '/s',
  ...extent(rates),
})
