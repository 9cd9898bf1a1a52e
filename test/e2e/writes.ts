import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, type Rehearsal } from './rehearsal.ts'
import { SERVICE, targetPortOf, toTargetPort } from './service.ts'

/** What became of the writes, and what the failed ones were answered. */
export interface Fates {
  /** Of a field that is anybody's. */
  readonly stored: number
  /** Of a managed field, which was put back. */
  readonly corrected: number
  /** Of a managed field, which nobody judged. */
  readonly unjudged: number
  readonly failures: readonly string[]
}

/** Writes that go on until they are stopped. */
export interface Writes {
  /** Waits until so many more were answered. */
  more(count: number): Promise<void>
  stop(): Promise<Fates>
}

// Often enough to meet each moment of a rollout, seldom enough not to slow it down.
const EVERY_MS = 100
const CONFLICT = 409

/**
 * Starts writing one after the other: in turn one that is stored, and one that moves a managed field, as a dry run, since those empty
 * nobody's bucket.
 */
export function startWrites({ patch }: Rehearsal): Writes {
  const fates = { stored: 0, corrected: 0, unjudged: 0, failures: [] as string[] }
  let answered = 0
  let isOver = false
  const label = async () => {
    const { status, body } = await patch(SERVICE, {
      metadata: { annotations: { 'example.com/rehearsal': `${answered}` } },
    })
    if (status === 200) fates.stored += 1
    else if (status !== CONFLICT) fates.failures.push(body.message)
  }
  const contest = async () => {
    const { status, body } = await patch(SERVICE, toTargetPort(10_000 + answered), {
      dryRun: 'All',
    })
    if (status !== 200) fates.failures.push(body.message)
    else if (targetPortOf(body) === 10_000 + answered) fates.unjudged += 1
    else fates.corrected += 1
  }
  const writing = (async () => {
    while (!isOver) {
      const write = answered % 2 === 0 ? label : contest
      await write().catch((error: Error) => fates.failures.push(error.message))
      answered += 1
      await sleep(EVERY_MS)
    }
  })()
  return {
    async more(count) {
      const enough = answered + count
      await eventually(`${count} writes more`, async () => answered >= enough)
    },
    async stop() {
      isOver = true
      await writing
      return fates
    },
  }
}
