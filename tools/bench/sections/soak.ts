import type { Bench } from '../bench.ts'
import { connectTo, load } from '../load.ts'
import { memoryOf, meterOf } from '../processes.ts'
import { type Review, responseIn, reviewsOf } from '../reviews.ts'
import { extent, median, spread } from '../statistics.ts'
import { line, type Section } from '../table.ts'

const PER_SECOND = 200
const CONNECTIONS = 16
const USERS = 20
// A platform is mostly left as it should be: of ten requests one is a correction, and one a denial.
const OF_TEN = [0, 0, 0, 0, 1, 0, 0, 0, 0, 2]

/** Whether the webhook stays as it is under a steady load of all sorts: its memory, its event loop, its answers. */
export async function measureSoak(bench: Bench): Promise<Section> {
  const { autopilot, effort, metric } = bench
  const { pid } = autopilot.webhook.child()
  const asks = asksOf(await reviewsOf(bench), USERS)
  const { post, close } = connectTo(autopilot.webhookUrl, await bench.authority(), CONNECTIONS)
  const [memory, lagsMs, tookMs]: [number[], number[], number[]] = [[], [], []]
  let asked = 0
  let wrong = 0
  const send = async () => {
    const ask = asks[asked++ % asks.length]
    if (ask && !ask.isExpected(responseIn(await post(ask.body)))) wrong++
  }
  const options = { senders: CONNECTIONS, perSecond: PER_SECOND, forMs: effort.soakSampleMs }
  const used = meterOf(autopilot)
  while (memory.length < effort.soakMs / effort.soakSampleMs) {
    for (const took of (await load(send, options)).tookMs) tookMs.push(took)
    memory.push(memoryOf(pid).now)
    // What prom-client counts from one scrape to the next.
    lagsMs.push(1000 * (await metric('webhook', 'nodejs_eventloop_lag_p99_seconds')))
  }
  const { seconds, webhook } = used()
  await close()
  const growth = growthAfterWarmUp(memory)
  return {
    title: `Soak: ${PER_SECOND} requests a second for ${Math.round(seconds)} s, by ${USERS} users over ${CONNECTIONS} connections`,
    lines: [
      line('memory (RSS)', 'MB', extent(memory)),
      line('  growth from the second fifth to the last', 'MB', growth, '0, within that range'),
      line('event-loop delay, p99 of each sample', 'ms', extent(lagsMs), 'under 20 ms'),
      line('time to answer', 'ms', spread(tookMs), 'p99 under 5 ms'),
      line('processor time, of a core', '%', webhook),
      line('decisions', '/s', { median: asked / seconds, n: asked }),
      line('answers that were not as they must be', '', { median: wrong, n: asked }, '0'),
    ],
    notes: [
      `A sample is ${effort.soakSampleMs / 1000} s. Of ten requests eight are clean updates, one is a correction and one a denial.`,
      'Growth is that of the median: in the first fifth the process warms up.',
      'The delay is what nodejs_eventloop_lag_p99_seconds says: it is looked at every 10 ms, so that 10 ms is no delay.',
    ],
  }
}

/** The requests of a soak, to be asked one after another and over again: of ten, one corrected and one denied. */
export const asksOf = (reviews: readonly Review[], users: number) =>
  Array.from({ length: users }, (_, user) => user).flatMap((user) =>
    OF_TEN.map((kind) => {
      const { bodyFor, isExpected } = reviews[kind] as Review
      return { body: bodyFor(`user-${user}`), isExpected }
    }),
  )

/** By how much a median grows from the second fifth of all samples to the last. */
export function growthAfterWarmUp(samples: readonly number[]): number {
  const fifth = (index: number) =>
    median(samples.slice((index * samples.length) / 5, ((index + 1) * samples.length) / 5))
  return fifth(4) - fifth(1)
}
