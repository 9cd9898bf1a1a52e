import { join } from 'node:path'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { manifestsIn } from '../../control-plane/manifests.ts'
import type { Bench } from '../bench.ts'
import { heartbeatAt, workerLike } from '../node-objects.ts'
import { cpuSeconds } from '../processes.ts'
import { type Line, line, type Section } from '../table.ts'
import { GOAL_NODES, memoryLines } from './memory.ts'

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/nodes')
const NODES = { apiVersion: 'v1', resource: 'nodes' }
const IN_PARALLEL = 8

/** What nodes cost: memory with ever more of them, and their heartbeats. */
export async function measureNodes(bench: Bench): Promise<Section> {
  const { client, effort } = bench
  const models = ['worker-virtual.yaml', 'worker-baremetal-gpu.yaml'].flatMap((file) =>
    manifestsIn(join(FIXTURES, file)),
  )
  const addWorker = async (index: number) => {
    const body = workerLike(models[index % models.length] as KubeObject, nameOf(index), index)
    await client.send(pathOf(NODES), { method: 'POST', body })
  }
  await restart(bench)
  const samples = (await bench.read(pathOf(NODES))).items.length
  const lines = [...bothLines(bench, samples, `the ${samples} sample nodes, started with them`)]
  let nodes = 0
  for (const goal of effort.nodes) {
    const from = nodes
    await inParallel(goal - from, (index) => addWorker(from + index))
    nodes = goal
    const many = `${goal.toLocaleString('en')} nodes more`
    await bench.audit.untilQuiet()
    lines.push(...bothLines(bench, goal, many))
    await restart(bench)
    lines.push(...bothLines(bench, goal, `${many}, started with them`))
    lines.push(...(await heartbeats(bench, goal)))
  }
  const bytes = JSON.stringify(await bench.read(pathOf(NODES, nameOf(0)))).length
  return {
    title: 'Nodes (as labelled by Node Feature Discovery), when all is quiet',
    lines,
    notes: [
      `A node has ${(bytes / 1000).toFixed(1)} kB.`,
      'A heartbeat is an update of a node’s status; requests are the reconciler’s, by the audit log.',
    ],
  }
}

const nameOf = (index: number) => `bench-worker-${index}`

async function restart({ autopilot, untilReady, audit }: Bench): Promise<void> {
  await autopilot.stop()
  autopilot.webhook.start()
  autopilot.reconciler.start()
  await untilReady()
  await audit.untilQuiet()
}

const bothLines = (bench: Bench, nodes: number, when: string): readonly Line[] =>
  (['reconciler', 'webhook'] as const).flatMap((of) =>
    memoryLines(bench, of, `, ${when}`, nodes <= GOAL_NODES ? undefined : ''),
  )

/** What the reconciler does while kubelets say that they are alive. */
async function heartbeats(
  { client, audit, autopilot, effort: { heartbeats: n } }: Bench,
  nodes: number,
): Promise<readonly Line[]> {
  const { pid } = autopilot.reconciler.child()
  const mark = audit.mark()
  const before = cpuSeconds(pid)
  await inParallel(n, async (index) => {
    await client.send(`${pathOf(NODES, nameOf(index % nodes))}/status`, {
      method: 'PATCH',
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: heartbeatAt(Date.now() + 1_000 * index) } },
    })
  })
  // The last of them is with us by then, and what it would lead to.
  await audit.untilQuiet()
  const cpuMs = 1000 * (cpuSeconds(pid) - before)
  const requests = audit.since(mark).others.length
  const what = `requests during heartbeats of ${nodes.toLocaleString('en')} nodes`
  return [
    line(what, '', { median: requests, n }, '0'),
    line('  processor time of the reconciler', 'ms', { median: cpuMs, n }),
  ]
}

/** Does something for each index, a few at a time. */
async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: IN_PARALLEL }, worker))
}
