import t from 'tap'

import { Settled } from '../../../src/reconciler/baseline/decide/settled.ts'
import type { KubeObject } from '../../../src/shared/engine/json/object.ts'
import { sha256 } from '../../../src/shared/ops/digest.ts'

const object = (value: number, metadata = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', ...metadata },
  spec: { value },
})
const FORESIGHT = { drifts: [] }

t.test('what was foreseen holds for the very same pair of states', async (t) => {
  const settled = new Settled(sha256)
  t.equal(settled.foreseen(object(1), object(2)), undefined)
  settled.foresee(object(1), object(2), FORESIGHT)
  t.equal(settled.foreseen(object(1), object(2)), FORESIGHT)
  const touched = { ...object(2, { resourceVersion: '9', managedFields: [] }), status: { a: 1 } }
  t.equal(settled.foreseen(object(1), touched), FORESIGHT, 'status and bookkeeping do not count')
  t.equal(settled.foreseen(object(1), object(3)), undefined)
  t.equal(settled.foreseen(object(3), object(2)), undefined)
  t.equal(settled.foreseen(object(1), undefined), undefined)
})

t.test('a creation is foreseen too, for each object by itself', async (t) => {
  const settled = new Settled(sha256)
  settled.foresee(object(1), undefined, FORESIGHT)
  t.equal(settled.foreseen(object(1), undefined), FORESIGHT)
  t.equal(settled.foreseen(object(1, { name: 'y' }), undefined), undefined)
  settled.foresee(object(1, { name: 'y' }), undefined, { drifts: [] })
  t.equal(settled.foreseen(object(1), undefined), FORESIGHT)
})

t.test('what the server saw no difference between is no foresight', async (t) => {
  const settled = new Settled(sha256)
  const live = object(2, { uid: 'u' })
  settled.add(object(1), live)
  t.ok(settled.has(object(1), live))
  t.equal(settled.foreseen(object(1), live), undefined)
})

t.test('its memory is bounded', async (t) => {
  const settled = new Settled(sha256)
  for (let index = 0; index < 1_001; index++)
    settled.foresee(object(1, { name: `x${index}` }), undefined, FORESIGHT)
  t.equal(settled.foreseen(object(1, { name: 'x0' }), undefined), undefined)
  t.equal(settled.foreseen(object(1, { name: 'x1000' }), undefined), FORESIGHT)
})
