import t from 'tap'
import { keyOf, type ObjectRef, refOf, titleOf } from '../../../src/shared/graph-engine/node.ts'
import { widget } from './objects.ts'

const rows: readonly (readonly [ref: ObjectRef, key: string, title: string])[] = [
  [
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    'apps/Deployment/shop/web',
    'Deployment shop/web',
  ],
  [{ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }, '/Namespace//shop', 'Namespace shop'],
]

t.test('names objects', async (t) => {
  for (const [ref, key, title] of rows) {
    t.equal(keyOf(ref), key)
    t.equal(titleOf(ref), title)
    t.same(
      refOf({
        ...ref,
        metadata: { name: ref.name, ...(ref.namespace && { namespace: ref.namespace }) },
      }),
      ref,
    )
  }
  const [one, other] = [widget('a'), { ...widget('a'), apiVersion: 'example.com/v2' }]
  t.equal(keyOf(refOf(one)), keyOf(refOf(other)), 'in whatever version')
})
