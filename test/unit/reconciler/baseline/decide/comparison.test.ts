import t from 'tap'

import { removedFields } from '../../../../../src/reconciler/baseline/decide/comparison.ts'
import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import type { FieldPath } from '../../../../../src/shared/engine/merge/merge-tree.ts'
import { objectWith, tree } from '../../../engine/merge/schemas.ts'

const field = (...names: readonly string[]): FieldPath => names.map((name) => ({ field: name }))
const item = (name: string): FieldPath => [...field('spec', 'byName'), { key: { name } }]

const cases: readonly {
  readonly what: string
  readonly live: object
  readonly answer: object
  readonly extra: readonly FieldPath[]
  readonly told: readonly string[]
}[] = [
  {
    what: 'a field that is gone',
    live: { text: 'a' },
    answer: {},
    extra: [field('spec', 'text')],
    told: ['/spec/text "a" undefined'],
  },
  {
    what: 'a field that somebody else keeps',
    live: { text: 'a' },
    answer: { text: 'a' },
    extra: [field('spec', 'text')],
    told: [],
  },
  {
    what: 'a field that goes back to its default',
    live: { text: 'a' },
    answer: { text: 'b' },
    extra: [field('spec', 'text')],
    told: ['/spec/text "a" "b"'],
  },
  {
    what: 'a list item that is gone, for all that is in it',
    live: { byName: [{ name: 'x' }, { name: 'y', value: '1' }] },
    answer: { byName: [{ name: 'x' }] },
    extra: [item('y'), [...item('y'), { field: 'name' }], [...item('y'), { field: 'value' }]],
    told: ['/spec/byName/1 {"name":"y","value":"1"} undefined'],
  },
  {
    what: 'a field of a list item that stays, wherever it is then',
    live: { byName: [{ name: 'x' }, { name: 'y', value: '1' }] },
    answer: { byName: [{ name: 'y' }] },
    extra: [item('y'), [...item('y'), { field: 'value' }]],
    told: ['/spec/byName/1/value "1" undefined'],
  },
  {
    what: 'a field of an item that is gone already',
    live: { byName: [{ name: 'x' }] },
    answer: { byName: [{ name: 'x' }] },
    extra: [[...item('y'), { field: 'value' }]],
    told: [],
  },
]

for (const { what, live, answer, extra, told } of cases) {
  t.test(`tells ${what}`, async (t) => {
    const objects = [live, answer].map((spec) => objectWith(spec)) as [KubeObject, KubeObject]
    const found = removedFields({ tree, live: objects[0], extra }, objects[1])
    t.same(
      found.map(
        ({ pointer, found, wanted }) =>
          `${pointer} ${JSON.stringify(found)} ${JSON.stringify(wanted)}`,
      ),
      told,
    )
  })
}
