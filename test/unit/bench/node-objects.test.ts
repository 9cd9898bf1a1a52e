import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { heartbeatAt, workerLike } from '../../../tools/bench/node-objects.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/nodes')
const model = loadManifests(FIXTURES).find(
  ({ metadata }) => metadata.name === 'worker-vm-0',
) as KubeObject

t.test('a worker keeps the labels and the capacity of the one that it is like', async (t) => {
  const worker = workerLike(model, 'w-7', 7)
  t.match(worker.metadata.labels, model.metadata.labels)
  t.match(worker, {
    status: { capacity: (model as { status?: { capacity: object } }).status?.capacity },
  })
  t.equal(worker.metadata.labels?.['feature.node.kubernetes.io/cpu-cpuid.AVX512F'], 'true')
})

t.test('no two workers have the same name, and neighbours share a rack', async (t) => {
  const placeOf = (index: number) => {
    const { name, labels = {} } = workerLike(model, `w-${index}`, index).metadata
    t.equal(labels['kubernetes.io/hostname'], name)
    return [labels['topology.kubernetes.io/zone'], labels['topology.kubernetes.io/rack']]
  }
  t.same([0, 1, 31, 32].map(placeOf), [
    ['region-1a', 'rack-0'],
    ['region-1b', 'rack-0'],
    ['region-1b', 'rack-0'],
    ['region-1c', 'rack-1'],
  ])
})

t.test('a worker is as large as those of a cluster at work', async (t) => {
  const bytes = JSON.stringify(workerLike(model, 'w-0', 0)).length
  t.ok(bytes > 10_000 && bytes < 20_000, `${bytes} bytes`)
})

t.test('a heartbeat changes when a node was heard of, and nothing else', async (t) => {
  const [first, second] = [0, 10_000].map((time) => heartbeatAt(Date.UTC(2026, 1, 1) + time))
  const heard = (conditions: typeof first) => conditions?.map((one) => one.lastHeartbeatTime)
  t.same(new Set(heard(first)), new Set(['2026-02-01T00:00:00Z']))
  t.same(new Set(heard(second)), new Set(['2026-02-01T00:00:10Z']))
  const lastHeartbeatTime = ''
  t.same(
    first?.map((one) => ({ ...one, lastHeartbeatTime })),
    second?.map((one) => ({ ...one, lastHeartbeatTime })),
  )
})
