import t from 'tap'

import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import {
  evaluateSample,
  SAMPLE_CLUSTERS,
} from '../../../../tools/generate/samples/sample-clusters.ts'
import { catalog } from '../facts.ts'
import { crdOf, faultsOf } from './definitions.ts'
import { fightsAmong } from './fights.ts'
import { ignitionFaults } from './ignition.ts'

// What is of the API server itself has no definition; there the cluster test asks the server.
const isDefined = ({ object: { group, kind } }: (typeof catalog)[number]) =>
  crdOf(group, kind) !== undefined

const active = new Map<string, readonly string[]>()

for (const [cluster, sample] of Object.entries(SAMPLE_CLUSTERS)) {
  const { statuses } = evaluateSample(catalog, sample)
  const objects: KubeObject[] = []
  for (const asset of catalog) {
    const status = statuses.get(asset.name)
    const state = status?.kind === 'inactive' ? status.reason : status?.kind
    t.test(`${asset.name} × ${cluster}: ${state}`, async (t) => {
      t.ok(status, 'it is decided')
      t.not(status?.kind, 'failed', JSON.stringify(status))
      if (status?.kind !== 'active') return
      objects.push(status.baseline)
      if (isDefined(asset)) t.same(faultsOf(status.baseline), [], 'its schema')
      t.same(ignitionFaults(status.baseline), [], 'its Ignition')
      active.set(asset.name, [...(active.get(asset.name) ?? []), cluster])
    })
  }
  t.test(`no two assets fight on ${cluster}`, async (t) => {
    t.not(objects.length, 0)
    t.same(fightsAmong(objects), [])
  })
}

t.test('every asset is active on some sample cluster', async (t) => {
  t.same(
    catalog.filter(({ name }) => !active.has(name)).map(({ name }) => name),
    [],
  )
})

t.test(
  'where there is no OpenShift, what is kept is of the operators that are there',
  async (t) => {
    const kept = catalog.filter(({ name }) => active.get(name)?.includes('no-openshift'))
    t.same([...new Set(kept.map(({ object }) => object.group))].sort(), [
      '',
      'forklift.konveyor.io',
      'hco.kubevirt.io',
      'metallb.io',
      'monitoring.coreos.com',
      'rbac.authorization.k8s.io',
      'remediation.medik8s.io',
    ])
  },
)
