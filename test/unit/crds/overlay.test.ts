import t from 'tap'
import { type Change, overlaid } from '../../../tools/crds/overlay.ts'

const why = 'a test wants it'
const value = { list: [{ needed: ['a', 'b'] }, { needed: ['b'] }], map: { kept: 1 } }

const cases: readonly { name: string; change: Change; becomes: unknown }[] = [
  {
    name: 'sets a member that is not there yet',
    change: { path: '/map/new', set: { b: 2 }, why },
    becomes: { ...value, map: { kept: 1, new: { b: 2 } } },
  },
  {
    name: 'replaces a member',
    change: { path: '/map', set: 3, why },
    becomes: { ...value, map: 3 },
  },
  {
    name: 'drops a value from every list that * leads to',
    change: { path: '/list/*/needed', drop: 'b', why },
    becomes: { ...value, list: [{ needed: ['a'] }, { needed: [] }] },
  },
]

for (const { name, change, becomes } of cases) {
  t.test(name, async (t) => {
    const before = structuredClone(value)
    t.same(overlaid(value, change), becomes)
    t.same(value, before, 'in a copy')
  })
}

t.test('a path that leads nowhere is a mistake, and so is nothing to drop', async (t) => {
  const mistakes: readonly (readonly [Change, string])[] = [
    [{ path: '/no/member', set: 1, why }, 'overlay /no/member: there is no no: correct the path'],
    [{ path: '/map/*/x', set: 1, why }, 'overlay /map/*/x: there is no *: correct the path'],
    [{ path: '/gone', drop: 'a', why }, 'overlay /gone: there is no gone: correct the path'],
    [
      { path: '/list/*/needed', drop: 'a', why },
      'overlay /list/*/needed: a is not in the list there: remove the overlay',
    ],
    [
      { path: '/map', drop: 'a', why },
      'overlay /map: a is not in the list there: remove the overlay',
    ],
  ]
  for (const [change, message] of mistakes) t.throws(() => overlaid(value, change), { message })
})
