import { setTimeout as sleep } from 'node:timers/promises'

import type { Bench } from '../bench.ts'
import { connectTo, openLoop } from '../load.ts'
import { cpuSeconds, memoryOf } from '../processes.ts'
import { type Review, responseIn, reviewsOf } from '../reviews.ts'
import { extent, slopeOf, spread } from '../statistics.ts'
import { line, type Section } from '../table.ts'

const PER_SECOND = 200
const CONNECTIONS = 16
const USERS = 20
const PAUSE_MS = 1
const MB_PER_MIB = 1.048576

// A platform is mostly left as it should be.
const OF_TEN = [0, 0, 0, 0, 1, 0, 0, 0, 0, 2]
const WARM_UP_SHARE = 0.2

/** What the webhook was like at one moment of a soak. */
export interface Sample {
  /** Since the soak began. */
  readonly minutes: number
  readonly mebibytes: number
}

/** Whether the webhook stays as it is under a steady load of all sorts: its memory, its event loop, its answers. */
export async function measureSoak(bench: Bench): Promise<Section> {
  const { autopilot, effort, metric } = bench
  const { pid } = autopilot.webhook.child()
  const asks = asksOf(await reviewsOf(bench), USERS)
  const { post, close } = connectTo(autopilot.webhookUrl, await bench.authority(), CONNECTIONS)
  const samples: Sample[] = []
  const lagsMs: number[] = []
  const tookMs: number[] = []
  let asked = 0
  let wrong = 0
  const send = async () => {
    const { body, isExpected } = asks[asked++ % asks.length] as Ask
    if (!isExpected(responseIn(await post(body)))) wrong++
  }
  const cpuBefore = cpuSeconds(pid)
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  while (elapsedMs() < effort.soakMs) {
    const load = await openLoop(send, PER_SECOND, effort.soakSampleMs, () => sleep(PAUSE_MS))
    for (const took of load.tookMs) tookMs.push(took)
    samples.push({ minutes: elapsedMs() / 60_000, mebibytes: memoryOf(pid).now / MB_PER_MIB })
    // What prom-client counts from one scrape to the next.
    lagsMs.push(1000 * (await metric('webhook', 'nodejs_eventloop_lag_p99_seconds')))
  }
  const seconds = elapsedMs() / 1000
  const cpu = (100 * (cpuSeconds(pid) - cpuBefore)) / seconds
  await close()
  const memory = extent(samples.map(({ mebibytes }) => mebibytes))
  const growth = growthAfterWarmUp(samples)
  return {
    title: `Soak: ${PER_SECOND} requests a second for ${Math.round(seconds)} s, by ${USERS} users over ${CONNECTIONS} connections`,
    lines: [
      line('memory (RSS)', 'MiB', memory),
      line('  growth per minute after warm-up', 'MiB', growth, '0, within the range of memory'),
      line('event-loop delay, p99 of each sample', 'ms', extent(lagsMs), 'under 20 ms'),
      line('time to answer', 'ms', spread(tookMs), 'p99 under 5 ms'),
      line('processor time, of a core', '%', cpu),
      line('decisions', '/s', { median: asked / seconds, n: asked }),
      line('answers that were not as they must be', '', { median: wrong, n: asked }, '0'),
    ],
    notes: [
      `A sample is ${effort.soakSampleMs / 1000} s. Of ten requests eight are clean updates, one is a correction and one a denial.`,
      'The slope is that of the line through all samples but the first fifth, in which the process warms up.',
      'The delay is what nodejs_eventloop_lag_p99_seconds says: it is looked at every 10 ms, so that 10 ms is no delay.',
    ],
  }
}

/** One request of a soak. */
interface Ask extends Pick<Review, 'isExpected'> {
  readonly body: Buffer
}

/** The requests of a soak, to be asked one after another and over again: of ten, one corrected and one denied. */
export const asksOf = (reviews: readonly Review[], users: number): readonly Ask[] =>
  Array.from({ length: users }, (_, user) => user).flatMap((user) =>
    OF_TEN.map((kind) => {
      const { bodyFor, isExpected } = reviews[kind] as Review
      return { body: bodyFor(`user-${user}`), isExpected }
    }),
  )

/** How fast memory grows, MiB a minute, by the samples after the first fifth of the time; NaN for fewer than two. */
export function growthAfterWarmUp(samples: readonly Sample[]) {
  const end = samples.at(-1)?.minutes ?? 0
  const warm = samples.filter(({ minutes }) => minutes > WARM_UP_SHARE * end)
  const median = slopeOf(warm.map(({ minutes, mebibytes }) => [minutes, mebibytes]))
  return { median, n: warm.length }
}
