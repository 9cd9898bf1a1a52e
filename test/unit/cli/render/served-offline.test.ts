import t from 'tap'

import { servedOffline } from '../../../../src/cli/render/offline-cluster.ts'
import type { Asset, Catalog } from '../../../../src/shared/baseline/catalog/catalog.ts'
import type { Condition } from '../../../../src/shared/baseline/catalog/condition-schemas.ts'
import type { KindSchema } from '../../../../src/shared/cluster/schemas.ts'
import { ATOMIC } from '../../../../src/shared/engine/merge/merge-tree.ts'
import { assetNamed, catalog } from '../../baseline/facts.ts'

const hco = {
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'kubevirt-hyperconverged' },
}
const schema: KindSchema = { tree: ATOMIC, enums: {}, fields: {} }
const waiting = (...conditions: readonly Condition[]): Catalog => [
  { ...assetNamed('metallb'), conditions },
]
const served = (
  of: readonly Asset[],
  schemas: ReadonlyMap<string, KindSchema> = new Map(),
  withoutApis: readonly string[] = [],
) => servedOffline(of, { hco, schemas, withoutApis })

t.test('a condition that names versions has these served', async (t) => {
  const condition = { type: 'crd', group: 'x.io', kind: 'Thing', versions: ['v2', 'v1'] } as const
  t.same(served(waiting(condition)).get('x.io/Thing')?.versions, ['v2', 'v1'])
})

t.test('a condition that names none has those served whose schema is known, or some', async (t) => {
  const condition = { type: 'crd', group: 'x.io', kind: 'Thing' } as const
  const known = new Map([
    ['x.io/v3/Thing', schema],
    ['x.io/v4/Other', schema],
  ])
  t.same(served(waiting(condition), known).get('x.io/Thing')?.versions, ['v3'])
  t.same(served(waiting(condition)).get('x.io/Thing')?.versions, ['v1'])
})

t.test('versions that several name are served once', async (t) => {
  const condition = {
    type: 'crd',
    group: 'metallb.io',
    kind: 'MetalLB',
    versions: ['v1', 'v1beta1'],
  } as const
  t.same(served(waiting(condition)).get('metallb.io/MetalLB'), {
    versions: ['v1beta1', 'v1'],
    resource: 'metallbs',
  })
})

t.test('a condition on the HyperConverged’s API adds no version to its own', async (t) => {
  const condition = {
    type: 'crd',
    group: 'hco.kubevirt.io',
    kind: 'HyperConverged',
    versions: ['v1beta1'],
  } as const
  const withHco = [assetNamed('hco-golden-config'), ...waiting(condition)]
  t.same(served(withHco).get('hco.kubevirt.io/HyperConverged')?.versions, ['v1'])
})

t.test('only a group that the catalog names can be taken away, and not the first', async (t) => {
  for (const [group, fault] of [
    ['metalb.io', /no API group "metalb.io": did you mean "metallb.io"\?$/],
    ['hco.kubevirt.io', /without a HyperConverged nothing is kept at all$/],
  ] as const) {
    t.throws(() => served(catalog, new Map(), [group]), { name: 'UsageError', message: fault })
  }
})
