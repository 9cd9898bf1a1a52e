import t from 'tap'

import type { Asset } from '../../../../src/shared/baseline/catalog/catalog.ts'
import { hcoFactsOf } from '../../../../src/shared/baseline/facts/hco-facts.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'

const asset = (parts: Partial<Asset>) =>
  ({ hcoFields: [], conditions: [], sections: [], ...parts }) as unknown as Asset
const hco = (spec: unknown, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'hco.kubevirt.io/v1',
  kind: 'HyperConverged',
  metadata: { name: 'x', namespace: 'ns', ...(annotations && { annotations }) },
  spec,
})

t.test('only the fields that an asset reads are facts', async (t) => {
  const catalog = [
    asset({ hcoFields: ['/a/b', '/a/list', '/absent/c'] }),
    asset({ conditions: [{ type: 'annotation', key: 'enable-x', gate: 'X' }] }),
    asset({ conditions: [{ type: 'hco-field-unconfigured', pointer: '/d' }] }),
  ]
  const spec = { a: { b: 1, c: 2, list: [{ x: 1 }] }, d: {}, e: 5, featureGates: [{ name: 'X' }] }
  t.same(hcoFactsOf(catalog, hco(spec)), {
    apiVersion: 'hco.kubevirt.io/v1',
    namespace: 'ns',
    annotations: {},
    spec: { a: { b: 1, list: [{ x: 1 }] }, d: {}, featureGates: [{ name: 'X' }] },
  })
})

t.test('a write to a field that nobody reads changes no fact', async (t) => {
  const catalog = [asset({ hcoFields: ['/a'] })]
  t.same(hcoFactsOf(catalog, hco({ a: 1, b: 1 })), hcoFactsOf(catalog, hco({ a: 1, b: 2 })))
})

t.test('nested fields of one asset do not hide each other', async (t) => {
  for (const hcoFields of [
    ['/a', '/a/b'],
    ['/a/b', '/a'],
  ]) {
    const { spec } = hcoFactsOf([asset({ hcoFields })], hco({ a: { b: 1, c: 2 } }))
    t.same(spec, { a: { b: 1, c: 2 } })
  }
})

t.test('a list of which an item is read too stays a list', async (t) => {
  for (const hcoFields of [
    ['/list', '/list/1/a'],
    ['/list/1/a', '/list'],
  ]) {
    const list = [{ a: 1 }, { a: 2 }]
    t.same(hcoFactsOf([asset({ hcoFields })], hco({ list })).spec, { list })
  }
})

t.test('a specification that is missing or no map is an empty one', async (t) => {
  for (const spec of [undefined, null, 'x', []]) {
    t.same(hcoFactsOf([asset({ hcoFields: ['/a/b'] })], hco(spec)).spec, {})
  }
  t.same(hcoFactsOf([asset({ hcoFields: ['/a/b'] })], hco({ a: 'scalar' })).spec, {})
})

t.test(
  'annotations under our prefix are facts, without it and sorted; overrides and approvals are not',
  async (t) => {
    const prefix = 'platform.kubevirt.io/'
    const { annotations } = hcoFactsOf(
      [],
      hco(
        {},
        {
          [`${prefix}b`]: '1',
          other: 'x',
          [`${prefix}a`]: '2',
          [`${prefix}patch`]: '[]',
          [`${prefix}approve`]: 'd',
        },
      ),
    )
    t.same(annotations, { a: '2', b: '1' })
    t.same(Object.keys(annotations), ['a', 'b'])
  },
)

t.test('what is not there, and what is no pointer, is no fact', async (t) => {
  const bare = { apiVersion: 'hco.kubevirt.io/v1', kind: 'HyperConverged', metadata: { name: 'x' } }
  const catalog = [asset({ hcoFields: ['/a', 'no pointer'] })]
  t.same(hcoFactsOf(catalog, bare), {
    apiVersion: 'hco.kubevirt.io/v1',
    namespace: '',
    annotations: {},
    spec: {},
  })
  const whole = [asset({ hcoFields: [''] })]
  t.same(hcoFactsOf(whole, hco({ a: 1 })).spec, { a: 1 })
  t.same(hcoFactsOf(whole, hco('odd')).spec, {})
})
