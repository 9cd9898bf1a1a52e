import { setTimeout as sleep } from 'node:timers/promises'

import { sumOf } from '../../test/cluster/harness/autopilot-fixture.ts'
import { authority } from './authority.ts'
import { type Bench, type Setup, withBench } from './cluster.ts'
import { connectTo, openLoop } from './load.ts'
import { cpuSeconds, memoryOf } from './process-numbers.ts'
import { reviewsOf } from './reviews.ts'
import { type Ask, asksOf, type Sample, slopeAfterWarmUp } from './soak-samples.ts'
import { extent, spread } from './statistics.ts'
import type { Line, Section } from './table.ts'

const PER_SECOND = 200
const CONNECTIONS = 16
const USERS = 20
const PAUSE_MS = 1

/** Whether the webhook stays as it is under a steady load of all sorts: its memory, its event loop, its counters. */
export const measureSoak = (setup: Setup): Promise<Section> =>
  // On a cluster of its own: memory is to be that of a process that did nothing else.
  withBench(setup, async (bench) => {
    const asks = asksOf(await reviewsOf(bench), USERS)
    const pool = connectTo(bench.autopilot.webhookUrl, await authority(bench), CONNECTIONS)
    try {
      return await soak(bench, asks, pool.post)
    } finally {
      await pool.close()
    }
  })

type Post = (body: Buffer) => Promise<unknown>

async function soak(bench: Bench, asks: readonly Ask[], post: Post): Promise<Section> {
  const { soakMs, soakSampleMs } = bench.effort
  const { pid } = bench.autopilot.webhook.child()
  const before = await counters(bench)
  const cpuBefore = cpuSeconds(pid)
  const samples: Sample[] = []
  const tookMs: number[] = []
  let asked = 0
  let wrong = 0
  const send = async () => {
    const ask = asks[asked++ % asks.length] as Ask
    if (!ask.isExpected(JSON.parse(String(await post(ask.body))))) wrong++
  }
  const startedAt = performance.now()
  while (performance.now() - startedAt < soakMs) {
    const load = await openLoop(send, PER_SECOND, soakSampleMs, () => sleep(PAUSE_MS))
    for (const took of load.tookMs) tookMs.push(took)
    const minutes = (performance.now() - startedAt) / 60_000
    samples.push({ minutes, mebibytes: mebibytes(pid), ...(await loopLag(bench)) })
  }
  const cpuAfter = cpuSeconds(pid)
  const after = await counters(bench)
  const seconds = (performance.now() - startedAt) / 1000
  const count = (name: keyof typeof after): Line => ({
    what: `  ${name}`,
    unit: '',
    median: after[name] - before[name],
  })
  return {
    title: `Soak: ${PER_SECOND} requests a second for ${Math.round(seconds)} s, by ${USERS} users over ${CONNECTIONS} connections`,
    lines: [
      ...memoryLines(samples),
      {
        what: 'event-loop delay, p99 of each sample',
        unit: 'ms',
        ...extent(samples.map(({ lagP99Ms }) => lagP99Ms)),
        goal: 'under 20 ms',
      },
      { what: 'time to answer', unit: 'ms', ...spread(tookMs), goal: 'p99 under 5 ms' },
      {
        what: 'processor time, of a core',
        unit: '%',
        median:
          cpuBefore === undefined || cpuAfter === undefined
            ? undefined
            : (100 * (cpuAfter - cpuBefore)) / seconds,
      },
      { what: 'decisions', unit: '/s', median: asked / seconds, n: asked },
      count('allowed'),
      count('corrected'),
      count('denied'),
      count('contests'),
      count('edit wars'),
      {
        what: 'answers that were not as they must be',
        unit: '',
        median: wrong,
        n: asked,
        goal: '0',
      },
    ],
    notes: [
      `A sample is ${soakSampleMs / 1000} s. Of ten requests eight are clean updates, one is a correction and one a denial.`,
      'The slope is that of the line through all samples but the first fifth, in which the process warms up.',
      'The delay is what nodejs_eventloop_lag_p99_seconds says: it is looked at every 10 ms, so that 10 ms is no delay.',
      'Allowed to edit wars are the webhook’s own counters. A contest that is repeated within two seconds counts once.',
    ],
  }
}

function memoryLines(samples: readonly Sample[]): readonly Line[] {
  const known = samples.flatMap(({ mebibytes }) => mebibytes ?? [])
  if (known.length === 0) return [{ what: 'memory', unit: 'MiB', median: undefined }]
  const { perMinute, used } = slopeAfterWarmUp(samples)
  return [
    { what: 'memory (RSS)', unit: 'MiB', ...extent(known) },
    { what: '  in the first sample', unit: 'MiB', median: known[0] },
    { what: '  in the last one', unit: 'MiB', median: known.at(-1) },
    {
      what: '  growth per minute after warm-up',
      unit: 'MiB',
      median: perMinute,
      n: used,
      goal: '0, within the range of memory',
    },
  ]
}

function mebibytes(pid: number): number | undefined {
  const memory = memoryOf(pid)
  return memory && (memory.now * 1e6) / 2 ** 20
}

async function metricsOf({ autopilot }: Bench): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${autopilot.opsPorts.webhook}/metrics`)
  return await reply.text()
}

/** What prom-client counts from one scrape to the next. */
async function loopLag(bench: Bench): Promise<Pick<Sample, 'lagP99Ms'>> {
  return { lagP99Ms: 1000 * sumOf(await metricsOf(bench), 'nodejs_eventloop_lag_p99_seconds') }
}

async function counters(bench: Bench) {
  const text = await metricsOf(bench)
  const verdicts = (verdict: string) =>
    sumOf(text, 'virt_platform_admission_requests_total', `verdict="${verdict}"`)
  return {
    allowed: verdicts('allowed'),
    corrected: verdicts('corrected'),
    denied: verdicts('denied'),
    contests: sumOf(text, 'virt_platform_admission_contests_total'),
    'edit wars': sumOf(text, 'virt_platform_thrashing_total'),
  }
}
