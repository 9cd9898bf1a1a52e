import t from 'tap'

import { Definitions } from '../../../../../src/reconciler/baseline/gather/definitions.ts'
import type { Served } from '../../../../../src/shared/cluster/discovery.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import { assetNamed } from '../../../baseline/facts.ts'

const definition = (name: string, metadata = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name, resourceVersion: '1', ...metadata },
})
const METALLB = 'metallbs.metallb.io'
const served: Served = new Map([
  ['metallb.io/MetalLB', { versions: ['v1beta1'], resource: 'metallbs' }],
])

/** The definitions of a cluster, as they come and go. */
const follow = (...all: KubeObject[]) => {
  const definitions = new Definitions([assetNamed('metallb')], () => all)
  return { definitions, all }
}

t.test('only changes of the catalog’s groups count, each once', async (t) => {
  const { definitions, all } = follow(definition('widgets.example.com'))
  t.equal(definitions.hasChanged(), false)
  all.push(definition(METALLB))
  t.equal(definitions.hasChanged(), true)
  t.equal(definitions.hasChanged(), false)
  all[1] = definition(METALLB, { resourceVersion: '2' })
  t.equal(definitions.hasChanged(), true)
})

t.test('a kind whose definition ends is served no more, though discovery says so', async (t) => {
  const { definitions, all } = follow(definition(METALLB))
  t.same([...definitions.withoutEnding(served).keys()], ['metallb.io/MetalLB'])
  all[0] = definition(METALLB, { deletionTimestamp: '2026-01-01T00:00:00Z' })
  t.equal(definitions.withoutEnding(served).size, 0)
  t.equal(definitions.isAheadOf(new Map()), false)
  all.length = 0
  t.equal(definitions.withoutEnding(served).size, 0, 'nor once it is gone')
  all.push(definition(METALLB))
  t.equal(definitions.withoutEnding(served).size, 1, 'until it is back')
})

t.test('what no definition ever stood for is served as discovery says', async (t) => {
  t.same(follow().definitions.withoutEnding(served), served, 'aggregated APIs, and built-in ones')
})

t.test('discovery is behind while it lacks what is defined', async (t) => {
  const { definitions } = follow(definition(METALLB))
  t.equal(definitions.isAheadOf(new Map()), true)
  t.equal(definitions.isAheadOf(served), false)
})
