import { join } from 'node:path'
import { STATE_CONFIG_MAP } from '../../src/shared/baseline/names.ts'
import type { Client } from '../../src/shared/cluster/client.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import { watch } from '../../src/shared/cluster/watch.ts'
import type { KubeObject } from '../../src/shared/engine/json/object.ts'
import { sumOf } from '../../test/cluster/harness/autopilot-fixture.ts'
import { NAMESPACE } from '../../test/cluster/harness/program.ts'
import { loadManifests } from '../control-plane/manifests.ts'
import type { Bench } from './cluster.ts'
import { GOAL_NODES, MEMORY_GOAL } from './memory.ts'
import { heartbeatAt, NODES, workerLike } from './node-objects.ts'
import { cpuSeconds, memoryOf } from './process-numbers.ts'
import { extent } from './statistics.ts'
import type { Line, Section } from './table.ts'

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/nodes')
const IN_PARALLEL = 8
const PATIENCE_MS = 30_000

/** What nodes cost: memory with ever more of them, the time until a fact is published, and their heartbeats. */
export async function measureNodes(bench: Bench): Promise<Section> {
  const { client, effort, audit } = bench
  const workers = loadManifests(FIXTURES)
    .map((manifest) => manifest as KubeObject)
    .filter(isLabelledWorker)
  await createPool(client)
  await restart(bench)
  const samples = (await listNodes(client)).length
  const lines = [
    ...(await memoryLines(bench, samples, `the ${samples} sample nodes, started with them`)),
  ]
  let nodes = 0
  let joined = 0
  for (const goal of effort.nodes) {
    const from = nodes
    nodes = goal - effort.joins
    await inParallel(nodes - from, (index) => addWorker(client, workers, from + index))
    const tookMs: number[] = []
    for (; nodes < goal; nodes++) {
      // What the last one led to would have this one looked at sooner.
      await audit.untilQuiet()
      tookMs.push(await joinOne(client, { workers, index: nodes, joined: ++joined }))
    }
    await audit.untilQuiet()
    const many = `${goal.toLocaleString('en')} nodes`
    lines.push(...(await memoryLines(bench, goal, `${many} more`)))
    await restart(bench)
    lines.push(...(await memoryLines(bench, goal, `${many} more, started with them`)))
    lines.push({ what: `a fact of one more is published (${many})`, unit: 'ms', ...extent(tookMs) })
    lines.push(...(await heartbeats(bench, goal)))
  }
  const sizes = (await listNodes(client)).map((node) => JSON.stringify(node).length)
  return {
    title: 'Nodes (as labelled by Node Feature Discovery), when all is quiet',
    lines,
    notes: [
      `A node has ${(Math.max(...sizes) / 1000).toFixed(1)} kB; heap is what is in use, garbage included.`,
      'A fact: from the request that creates a node of a pool to the published state that counts it. Changes of nodes are',
      'taken in once a second, so that a thousand of them are one.',
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

async function memoryLines(
  { autopilot }: Bench,
  nodes: number,
  what: string,
): Promise<readonly Line[]> {
  const goal = nodes <= GOAL_NODES ? { goal: MEMORY_GOAL } : {}
  const lines = (['reconciler', 'webhook'] as const).map(async (of): Promise<readonly Line[]> => {
    const memory = memoryOf(autopilot[of].child().pid)
    const reply = await fetch(`http://127.0.0.1:${autopilot.opsPorts[of]}/metrics`)
    const heap = sumOf(await reply.text(), 'nodejs_heap_size_used_bytes')
    return [
      { what: `${of}, ${what}`, unit: 'MB', median: memory?.now, ...goal },
      { what: '  at its peak', unit: 'MB', median: memory?.peak, ...goal },
      { what: '  heap', unit: 'MB', median: heap / 1e6 },
    ]
  })
  return (await Promise.all(lines)).flat()
}

const ROLES = 'node-role.kubernetes.io/'

// A node of the control plane would belong to another pool.
const isLabelledWorker = ({ kind, metadata: { labels = {} } }: KubeObject) =>
  kind === 'Node' &&
  `${ROLES}worker` in labels &&
  !(`${ROLES}master` in labels || `${ROLES}control-plane` in labels) &&
  Object.keys(labels).some((label) => label.startsWith('feature.node.kubernetes.io/'))

const ROLE = 'bench'

/** A pool whose machines are counted by their role, so that each node that joins it makes another fact. */
const createPool = (client: Client) =>
  client.send(
    pathOf({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      resource: 'machineconfigpools',
    }),
    {
      method: 'POST',
      body: {
        apiVersion: 'machineconfiguration.openshift.io/v1',
        kind: 'MachineConfigPool',
        metadata: { name: ROLE },
        spec: { nodeSelector: { matchLabels: { [`${ROLES}${ROLE}`]: '' } } },
      },
    },
  )

const nameOf = (index: number) => `bench-worker-${index}`

async function addWorker(
  client: Client,
  workers: readonly KubeObject[],
  index: number,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const model = workers[index % workers.length]
  if (!model) throw new Error(`${FIXTURES} holds no worker with labels of Node Feature Discovery`)
  const node = workerLike(model, nameOf(index), index)
  const metadata = { ...node.metadata, labels: { ...node.metadata.labels, ...labels } }
  await client.send(pathOf(NODES), { method: 'POST', body: { ...node, metadata } })
}

async function listNodes(client: Client): Promise<readonly KubeObject[]> {
  const { body } = await client.send(pathOf(NODES))
  return (body as { items: readonly KubeObject[] }).items
}

/** Adds one node, and tells how long it takes until the published state counts it. */
async function joinOne(
  client: Client,
  { workers, index, joined }: { workers: readonly KubeObject[]; index: number; joined: number },
): Promise<number> {
  const ending = new AbortController()
  const published = Promise.withResolvers<number>()
  const synced = Promise.withResolvers<void>()
  const patience = setTimeout(
    () => published.reject(new Error(`no fact of a node within ${PATIENCE_MS} ms`)),
    PATIENCE_MS,
  )
  void watch({
    client,
    at: { apiVersion: 'v1', resource: 'configmaps', namespace: NAMESPACE },
    name: STATE_CONFIG_MAP,
    signal: ending.signal,
    onSync: synced.resolve,
    onTrouble: published.reject,
    onChange(_key, state) {
      if (machinesIn(state) === joined) published.resolve(performance.now())
    },
  })
  try {
    await synced.promise
    const startedAt = performance.now()
    const role = { [`${ROLES}${ROLE}`]: '' }
    const [publishedAt] = await Promise.all([
      published.promise,
      addWorker(client, workers, index, role),
    ])
    return publishedAt - startedAt
  } finally {
    clearTimeout(patience)
    ending.abort()
  }
}

function machinesIn(state: KubeObject | undefined): unknown {
  const { data } = (state ?? {}) as { data?: Readonly<Record<string, string>> }
  return JSON.parse(data?.['facts.json'] ?? '{}').pools?.[ROLE]
}

/** What the reconciler does while kubelets say that they are alive. */
async function heartbeats(
  { client, audit, autopilot, effort }: Bench,
  nodes: number,
): Promise<readonly Line[]> {
  const { pid } = autopilot.reconciler.child()
  await audit.untilQuiet()
  const mark = audit.mark()
  const before = cpuSeconds(pid)
  await inParallel(effort.heartbeats, async (index) => {
    await client.send(`${pathOf(NODES, nameOf(index % nodes))}/status`, {
      method: 'PATCH',
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: heartbeatAt(Date.now() + 1_000 * index) } },
    })
  })
  // The last of them is with us by then, and what it would lead to.
  await audit.untilQuiet()
  const after = cpuSeconds(pid)
  const n = effort.heartbeats
  const cpuMs = before === undefined || after === undefined ? undefined : 1000 * (after - before)
  return [
    {
      what: `requests during heartbeats of ${nodes.toLocaleString('en')} nodes`,
      unit: '',
      median: audit.since(mark).others.length,
      n,
      goal: '0',
    },
    { what: '  processor time of the reconciler', unit: 'ms', median: cpuMs, n },
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
