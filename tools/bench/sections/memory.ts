import { join } from 'node:path'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { manifestsIn } from '../../control-plane/manifests.ts'
import type { Bench } from '../bench.ts'
import { connectTo, load } from '../load.ts'
import { workerLike } from '../node-objects.ts'
import { memoryOf } from '../processes.ts'
import { reviewsOf } from '../reviews.ts'
import { type Line, line, type Section } from '../table.ts'

const MODEL = join(import.meta.dirname, '../../../test/fixtures/nodes/worker-virtual.yaml')
const IN_PARALLEL = 8
const GOAL = 'under 120 MB with 1,000 nodes'
const HOSTILE_REVIEWS = 10
const HOSTILE_BYTES = 6.5 * 1024 * 1024

/** What both processes take with ever more nodes, and the webhook after hostile reviews. */
export async function measureMemory(bench: Bench): Promise<Section> {
  const { autopilot, audit, effort } = bench
  const lines: Line[] = []
  let nodes = 0
  for (const goal of effort.nodes) {
    await addWorkers(bench, nodes, goal)
    nodes = goal
    await autopilot.stop()
    autopilot.webhook.start()
    autopilot.reconciler.start()
    await bench.untilReady()
    await audit.untilQuiet()
    lines.push(...memoryLines(bench, `${goal.toLocaleString('en')} nodes`))
  }
  const tookMs = await abuse(bench)
  const hostile = `${HOSTILE_REVIEWS} reviews of ${HOSTILE_BYTES / 1024 / 1024} MiB of empty maps`
  lines.push(
    ...memoryLines(bench, hostile).slice(0, 2),
    line('  longest answer to one of them', 'ms', Math.max(...tookMs)),
  )
  return {
    title: 'Memory (bundled, as shipped) with many nodes, as Node Feature Discovery labels them',
    lines,
    notes: ['Both were started with so many nodes, beside the sample nodes, and left until quiet.'],
  }
}

/** What both processes take now, and what they took at their peak. */
const memoryLines = ({ autopilot }: Bench, when: string): readonly Line[] =>
  (['webhook', 'reconciler'] as const).flatMap((of) => {
    const { now, peak } = memoryOf(autopilot[of].child().pid)
    return [line(`${of}, ${when}`, 'MB', now, GOAL), line('  at its peak', 'MB', peak)]
  })

async function addWorkers({ client }: Bench, from: number, to: number): Promise<void> {
  const [model] = manifestsIn(MODEL)
  let next = from
  const creator = async () => {
    while (next < to) {
      const body = workerLike(model as KubeObject, next++)
      await client.send(pathOf({ apiVersion: 'v1', resource: 'nodes' }), { method: 'POST', body })
    }
  }
  await Promise.all(Array.from({ length: IN_PARALLEL }, creator))
}

/** Sends what takes the most memory for its size, one after the other; how long each was waited for. */
async function abuse(bench: Bench): Promise<readonly number[]> {
  const [review] = await reviewsOf(bench)
  const junk = `[${'{},'.repeat(HOSTILE_BYTES / 3)}{}]`
  const clean = String(review?.bodyFor('mallory'))
  const body = Buffer.from(clean.replace('"spec":{', () => `"spec":{"junk":${junk},`))
  const { post, close } = connectTo(bench.autopilot.webhookUrl, await bench.authority(), 1)
  const tookMs: number[] = []
  while (tookMs.length < HOSTILE_REVIEWS)
    tookMs.push(...(await load(() => post(body), { senders: 1, forMs: 1 })).tookMs)
  await close()
  return tookMs
}
