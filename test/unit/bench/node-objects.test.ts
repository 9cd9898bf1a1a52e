import { join } from 'node:path'
import t from 'tap'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { workerLike } from '../../../tools/bench/node-objects.ts'
import { loadManifests } from '../../../tools/control-plane/manifests.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/nodes')
const model = loadManifests(FIXTURES).find(
  ({ metadata }) => metadata.name === 'worker-vm-0',
) as KubeObject

t.test('a worker keeps the labels and the capacity of the one that it is like', async (t) => {
  const worker = workerLike(model, 7)
  t.match(worker, {
    metadata: { labels: { ...model.metadata.labels, 'kubernetes.io/hostname': 'bench-worker-7' } },
    status: { capacity: (model as { status?: { capacity: object } }).status?.capacity },
  })
})

t.test('no two workers have the same name, and neighbours share a rack', async (t) => {
  const placeOf = (index: number) => {
    const { name, labels = {} } = workerLike(model, index).metadata
    return [name, labels['topology.kubernetes.io/zone'], labels['topology.kubernetes.io/rack']]
  }
  t.same([0, 31, 32].map(placeOf), [
    ['bench-worker-0', 'region-1a', 'rack-0'],
    ['bench-worker-31', 'region-1b', 'rack-0'],
    ['bench-worker-32', 'region-1c', 'rack-1'],
  ])
})

t.test('a worker is as large as those of a cluster at work', async (t) => {
  const bytes = JSON.stringify(workerLike(model, 0)).length
  t.ok(bytes > 10_000 && bytes < 20_000, `${bytes} bytes`)
})
