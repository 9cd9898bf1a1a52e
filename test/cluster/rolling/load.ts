import { setTimeout as sleep } from 'node:timers/promises'
import type { Loose } from '../harness/autopilot-fixture.ts'
import type { TestCluster } from '../harness/fixture.ts'
import { HCO, HEALTH_CHECK, METALLB } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

/** What became of a write: of one that moves a managed field the first four, of one that does not the last two. */
export type Fate =
  /** The managed field was put back. */
  | 'corrected'
  /** Nobody judged it: what was written is stored. */
  | 'passed'
  /** The first call was lost, the last look found the field moved: the writer is told to write again. */
  | 'sent back'
  | 'failed'
  | 'stored'

/** The fates of all writes of a load, counted, and what the failed ones were answered. */
export interface Fates {
  readonly count: Readonly<Record<Fate, number>>
  readonly failures: readonly string[]
}

/** Writes that go on until they are stopped. */
export interface Load {
  /** Waits until so many more were answered. */
  more(writes: number): Promise<void>
  /** Makes no more writes, and waits for the answers. */
  stop(): Promise<Fates>
}

// Up to 100 a second: one that falls behind does not catch up. More at once would only wait for one another: on a
// slow machine longer than the API server waits.
const EVERY_MS = 10
export const IN_FLIGHT = 8
const MERGE = 'application/merge-patch+json'
const SLOWEST_MS = 120_000

// Of what the baseline has of a HyperConverged nothing takes as many values as a load writes: a patch adds a number.
const TIMEOUT = 300
const OVERRIDE = [
  { op: 'add', path: '/spec/virtualization/liveMigrationConfig/progressTimeout', value: TIMEOUT },
]

/** Makes a number of the HyperConverged one that is kept, for the load to move. */
export async function keepNumber(cluster: Pick<TestCluster, 'admin'>): Promise<void> {
  const annotations = { 'platform.kubevirt.io/patch': JSON.stringify(OVERRIDE) }
  const { status, body } = await cluster.admin<Loose>(
    'PATCH',
    HCO,
    { metadata: { annotations } },
    MERGE,
  )
  const { progressTimeout } = body.spec?.virtualization?.liveMigrationConfig ?? {}
  if (progressTimeout !== TIMEOUT) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

/** Whether everything that a load writes is as it is kept. */
export const isAtBaseline = async (read: (path: string) => Promise<Loose>): Promise<boolean> => {
  const objects = await Promise.all(TARGETS.map(({ path }) => read(path)))
  return TARGETS.every(({ baseline, stored }, index) => stored(objects[index]) === baseline)
}

interface Target {
  readonly path: string
  readonly baseline: unknown
  readonly contest: (value: number) => object
  readonly stored: (object: Loose) => unknown
}

const TARGETS: readonly Target[] = [
  {
    path: HEALTH_CHECK,
    baseline: '51%',
    contest: (minHealthy) => ({ spec: { minHealthy } }),
    stored: ({ spec }) => spec.minHealthy,
  },
  {
    path: HCO,
    baseline: TIMEOUT,
    contest: (progressTimeout) => ({
      spec: { virtualization: { liveMigrationConfig: { progressTimeout } } },
    }),
    stored: ({ spec }) => spec.virtualization.liveMigrationConfig.progressTimeout,
  },
]
const LABELLED = [METALLB, HEALTH_CHECK, HCO]

// No value comes twice: of a write that changes nothing there is nothing to judge.
let serial = 1_000

/** Starts writing as the administrator: of five writes four move a managed field, and one does not. */
export function startLoad(cluster: Pick<TestCluster, 'admin'>): Load {
  const count = { corrected: 0, passed: 0, 'sent back': 0, failed: 0, stored: 0 }
  const failures: string[] = []
  const underway = new Set<Promise<void>>()
  let answered = 0
  let isOver = false

  // Who writes while others do may lose the race, and writes again.
  const patch = async (path: string, body: object): Promise<{ status: number; body: Loose }> => {
    const answer = await cluster.admin<Loose>('PATCH', path, body, MERGE)
    return answer.status === 409 ? patch(path, body) : answer
  }
  const write = async (value: number): Promise<Fate> => {
    if (value % 5 === 0) {
      const path = LABELLED[(value / 5) % LABELLED.length] ?? METALLB
      const { status, body } = await patch(path, labelled(value))
      if (status === 200) return 'stored'
      failures.push(`${path}: ${status} ${body.message}`)
      return 'failed'
    }
    const target = TARGETS[value % TARGETS.length] as Target
    const { status, body } = await patch(target.path, target.contest(value))
    const fate = fateOf(target, status, body)
    if (fate === 'failed')
      failures.push(`${target.path}: ${status} ${body.message ?? target.stored(body)}`)
    return fate
  }
  const writeOne = async () => {
    count[
      await write(serial++).catch((error: Error): Fate => {
        failures.push(error.message)
        return 'failed'
      })
    ] += 1
    answered += 1
  }
  const writing = (async () => {
    while (!isOver) {
      const one = writeOne()
      underway.add(one)
      void one.then(() => underway.delete(one))
      await sleep(EVERY_MS)
      if (underway.size >= IN_FLIGHT) await Promise.race(underway)
    }
    await Promise.all(underway)
  })()
  return {
    async more(writes) {
      const enough = answered + writes
      await until(`${writes} writes more`, async () => answered >= enough, SLOWEST_MS)
    },
    async stop() {
      isOver = true
      await writing
      return { count, failures }
    },
  }
}

const labelled = (value: number) => ({ metadata: { labels: { 'example.com/load': `${value}` } } })

function fateOf({ baseline, stored }: Target, status: number, body: Loose): Fate {
  if (status === 403 && /The correction did not last/.test(body.message)) return 'sent back'
  if (status !== 200) return 'failed'
  const found = stored(body)
  if (found === baseline) return 'corrected'
  return typeof found === 'number' ? 'passed' : 'failed'
}
