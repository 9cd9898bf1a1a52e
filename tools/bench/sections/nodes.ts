import { join } from 'node:path'
import type { Client } from '../../../src/shared/cluster/client.ts'
import { pathOf } from '../../../src/shared/cluster/resource.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { loadManifests } from '../../control-plane/manifests.ts'
import type { Bench } from '../bench.ts'
import { heartbeatAt, NODES, workerLike } from '../node-objects.ts'
import { cpuSeconds } from '../processes.ts'
import { type Line, line, type Section } from '../table.ts'
import { GOAL_NODES, memoryLines } from './memory.ts'

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures/nodes')
const IN_PARALLEL = 8

/** What nodes cost: memory with ever more of them, and their heartbeats. */
export async function measureNodes(bench: Bench): Promise<Section> {
  const { client, effort } = bench
  const workers = loadManifests(FIXTURES)
    .map((manifest) => manifest as KubeObject)
    .filter(isLabelledWorker)
  await restart(bench)
  const samples = (await listNodes(client)).length
  const lines = [...bothLines(bench, samples, `the ${samples} sample nodes, started with them`)]
  let nodes = 0
  for (const goal of effort.nodes) {
    const from = nodes
    await inParallel(goal - from, (index) => addWorker(client, workers, from + index))
    nodes = goal
    const many = `${goal.toLocaleString('en')} nodes more`
    await bench.audit.untilQuiet()
    lines.push(...bothLines(bench, goal, many))
    await restart(bench)
    lines.push(...bothLines(bench, goal, `${many}, started with them`))
    lines.push(...(await heartbeats(bench, goal)))
  }
  const sizes = (await listNodes(client)).map((node) => JSON.stringify(node).length)
  return {
    title: 'Nodes (as labelled by Node Feature Discovery), when all is quiet',
    lines,
    notes: [
      `A node has ${(Math.max(...sizes) / 1000).toFixed(1)} kB.`,
      'A heartbeat is an update of a node’s status; requests are the reconciler’s, by the audit log.',
    ],
  }
}

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

const ROLES = 'node-role.kubernetes.io/'

// A node of the control plane would belong to another pool.
const isLabelledWorker = ({ kind, metadata: { labels = {} } }: KubeObject) =>
  kind === 'Node' &&
  `${ROLES}worker` in labels &&
  !(`${ROLES}master` in labels || `${ROLES}control-plane` in labels) &&
  Object.keys(labels).some((label) => label.startsWith('feature.node.kubernetes.io/'))

const nameOf = (index: number) => `bench-worker-${index}`

async function addWorker(
  client: Client,
  workers: readonly KubeObject[],
  index: number,
): Promise<void> {
  const model = workers[index % workers.length]
  if (!model) throw new Error(`${FIXTURES} holds no worker with labels of Node Feature Discovery`)
  const body = workerLike(model, nameOf(index), index)
  await client.send(pathOf(NODES), { method: 'POST', body })
}

async function listNodes(client: Client): Promise<readonly KubeObject[]> {
  const { body } = await client.send(pathOf(NODES))
  return (body as { items: readonly KubeObject[] }).items
}

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
