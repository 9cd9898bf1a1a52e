import type { Client } from '../../src/shared/cluster/client.ts'
import { pathOf } from '../../src/shared/cluster/resource.ts'
import type { Bench } from './cluster.ts'
import { memoryOf } from './process-numbers.ts'
import type { Line, Section } from './table.ts'

const NODES = { apiVersion: 'v1', resource: 'nodes' }
const GOAL = 'under 120 MB with 1,000 nodes'

/** The memory of both processes, as shipped, after all that was asked of them before. */
export async function measureMemory({
  autopilot: { webhook, reconciler },
  client,
  audit,
  effort,
  untilReady,
}: Bench): Promise<Section> {
  const lines = [
    ...memoryLines('webhook', webhook.child().pid),
    ...memoryLines('reconciler', reconciler.child().pid),
  ]
  await addNodes(client, effort.nodes)
  await audit.untilQuiet()
  lines.push(...memoryLines(`reconciler, ${effort.nodes} nodes added`, reconciler.child().pid))
  await reconciler.stop()
  reconciler.start()
  await untilReady()
  lines.push(...memoryLines('reconciler, started with them', reconciler.child().pid))
  return { title: 'Memory (bundled, as shipped), after the runs above', lines }
}

function memoryLines(what: string, pid: number): Line[] {
  const memory = memoryOf(pid)
  return [
    { what, unit: 'MB', median: memory?.now, goal: GOAL },
    { what: '  at its peak', unit: 'MB', median: memory?.peak, goal: GOAL },
  ]
}

const IMAGES_PER_NODE = 50

/** Adds workers that are as large as those of a cluster at work: a kubelet reports up to 50 images. */
async function addNodes(client: Client, count: number): Promise<void> {
  const images = Array.from({ length: IMAGES_PER_NODE }, (_, index) => ({
    names: [`quay.io/demo/image-${index}@sha256:${String(index).padStart(64, '0')}`],
    sizeBytes: 123_456_789,
  }))
  const add = async (index: number) => {
    const name = `bench-worker-${index}`
    await client.send(pathOf(NODES), {
      method: 'POST',
      body: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name,
          labels: {
            'kubernetes.io/arch': 'amd64',
            'kubernetes.io/hostname': name,
            'kubernetes.io/os': 'linux',
            'node-role.kubernetes.io/worker': '',
          },
        },
      },
    })
    await client.send(`${pathOf(NODES, name)}/status`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { status: { images, capacity: { cpu: '64', memory: '263274096Ki', pods: '500' } } },
    })
  }
  await Promise.all(Array.from({ length: count }, (_, index) => add(index)))
}
