import t from 'tap'

import { assetIndex, objectSources } from '../../../../../src/reconciler/baseline/gather/sources.ts'
import type { Served } from '../../../../../src/shared/cluster/discovery.ts'
import { assetNamed, catalog, everythingServed } from '../../../baseline/facts.ts'

const metallb = assetNamed('metallb')
const served: Served = new Map(
  Object.entries(everythingServed).map(([key, versions]) => [key, { versions, resource: key }]),
)

t.test('a change of a source concerns its asset, and those that depend on it', async (t) => {
  const rival = { ...metallb, name: 'rival', yieldsTo: metallb }
  const needy = { ...metallb, name: 'needy', needs: metallb }
  const assetsOf = assetIndex([metallb, rival, needy])
  t.same(assetsOf('asset:metallb'), ['metallb', 'rival', 'needy'])
  t.same(assetsOf('asset:rival'), ['rival'])
  t.same(assetsOf('namespace:metallb-system'), ['metallb', 'rival', 'needy'])
  t.same(assetsOf('nodes'), [])
})

t.test('only what is served is watched, each object by its name', async (t) => {
  const sources = objectSources(catalog, served, 'kubevirt')
  const found = sources.find(({ id }) => id === 'asset:metallb')
  t.match(found, {
    name: 'metallb',
    at: { apiVersion: 'metallb.io/v1beta1', namespace: 'metallb-system' },
  })
  t.notOk(
    sources.some(({ id }) => id === 'asset:hco-golden-config'),
    'that is a fact',
  )
  t.notOk(
    sources.some(({ id }) => id === 'namespace:kubevirt'),
    'it is there with its HyperConverged',
  )
  t.ok(sources.some(({ id }) => id === 'namespace:metallb-system'))
  t.same(objectSources(catalog, new Map(), 'kubevirt'), [])
})
