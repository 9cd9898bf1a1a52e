import t from 'tap'

import type { Outcome } from '../../../../../src/reconciler/baseline/decide/outcome.ts'
import { ReconcileOrder } from '../../../../../src/reconciler/baseline/decide/reconcile-order.ts'
import type { Asset } from '../../../../../src/shared/baseline/catalog/catalog.ts'
import { assetNamed } from '../../../baseline/facts.ts'
import { plan } from '../asset-inputs.ts'

const tombstone = (name: string): Asset => ({ ...assetNamed('mtv'), name, isTombstone: true })
const [first, second] = [tombstone('first'), tombstone('second')]
const hco = assetNamed('hco-golden-config')
const other = assetNamed('metallb')
const catalog = [first, second, hco, other]
const gone: Outcome = { kind: 'gone' }
const unchanged: Outcome = { kind: 'unchanged', plan }
const configured: Outcome = { kind: 'configured', plan, drifts: [], cause: 'drift' }

const orderOf = (isKnown: (asset: Asset) => boolean = () => true) => {
  const order = new ReconcileOrder(catalog, isKnown)
  return { order, due: () => catalog.filter((asset) => order.isDue(asset)).map(({ name }) => name) }
}

t.test('tombstones come first, then the HyperConverged, then the others', async (t) => {
  const { order, due } = orderOf()
  t.same(due(), ['first', 'second'])
  t.equal(order.note(first, gone), false)
  t.same(due(), ['first', 'second'])
  t.equal(order.note(second, gone), true, 'the others may start')
  t.same(due(), ['first', 'second', hco.name])
  t.equal(order.note(hco, unchanged), true)
  t.same(due(), ['first', 'second', hco.name, other.name])
  t.equal(order.note(hco, unchanged), false, 'they were told')
  t.equal(order.note(first, gone), false)
  t.equal(order.note(other, unchanged), false)
})

t.test('nothing waits for more than one attempt, whatever came of it', async (t) => {
  const { order, due } = orderOf()
  order.note(first, undefined)
  t.equal(order.note(second, undefined), true)
  t.equal(order.note(hco, undefined), true)
  t.same(
    due(),
    catalog.map(({ name }) => name),
  )
})

t.test('a HyperConverged that we changed is read back first, once', async (t) => {
  const { order, due } = orderOf()
  for (const asset of [first, second]) order.note(asset, gone)
  t.equal(order.note(hco, configured), false)
  t.notOk(due().includes(other.name))
  t.equal(order.note(hco, configured), true, 'whoever changes it back holds up nobody')
  t.ok(due().includes(other.name))
})

t.test('an object that is not read is not due, and holds up nobody else', async (t) => {
  const { order, due } = orderOf((asset) => asset !== first)
  t.same(due(), ['second'])
  t.equal(order.note(second, gone), true)
  t.same(due(), ['second', hco.name])
})

t.test('a new leadership begins anew', async (t) => {
  const { order, due } = orderOf()
  for (const asset of [first, second]) order.note(asset, gone)
  order.note(hco, unchanged)
  order.reset()
  t.same(due(), ['first', 'second'])
})
