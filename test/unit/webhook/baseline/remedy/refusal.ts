import t from 'tap'

import type { KubeObject } from '../../../../../src/shared/engine/json/object.ts'
import type { Drift } from '../../../../../src/shared/engine/merge/merge.ts'
import { refusalOf } from '../../../../../src/webhook/baseline/decide/refusal.ts'

const schema = {
  type: 'object',
  properties: {
    metadata: { $ref: '#/components/schemas/ObjectMeta' },
    spec: {
      type: 'object',
      required: ['needed'],
      properties: {
        choice: { type: 'string', enum: ['a', 'b'] },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        healthy: {
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          pattern: '^((100|[0-9]{1,2})%|[0-9]+)$',
          'x-kubernetes-int-or-string': true,
        },
        needed: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
        list: {
          type: 'array',
          maxItems: 2,
          items: { type: 'object', required: ['name'], properties: { on: { type: 'boolean' } } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        elsewhere: { properties: { a: { $ref: '#/components/schemas/A' } } },
        one: { oneOf: [{ type: 'integer' }, { minimum: 2 }] },
        odd: { type: 'string', pattern: '(' },
        escaped: { type: 'string', pattern: '^[a\\-z]$' },
      },
    },
  },
}

const refusal = (spec: unknown, pointers: readonly string[], known: unknown = schema) => {
  const object = { apiVersion: 'v1', kind: 'Sort', metadata: { name: 'one' }, spec }
  const drifts = pointers.map(
    (pointer): Drift => ({ path: [], pointer, kind: 'different', found: spec, wanted: 1 }),
  )
  return refusalOf(known, object as KubeObject, drifts)
}

const cases: readonly (readonly [what: string, spec: unknown, at: string, why?: string])[] = [
  ['a value of the list', { choice: 'a' }, '/spec/choice'],
  ['one that is not', { choice: 'c' }, '/spec/choice', 'must be one of "a", "b"'],
  ['another type', { count: 'many' }, '/spec/count', 'must be integer'],
  ['too much', { count: 10 }, '/spec/count', 'must be <= 9'],
  ['a number where a text does, too', { healthy: 3 }, '/spec/healthy'],
  ['a text there', { healthy: '51%' }, '/spec/healthy'],
  ['neither', { healthy: true }, '/spec/healthy', 'must be integer or must be string'],
  [
    'a text of another form',
    { healthy: '101%' },
    '/spec/healthy',
    'must match pattern "^((100|[0-9]{1,2})%|[0-9]+)$"',
  ],
  ['a key of a map', { needed: { a: 'abc' } }, '/spec/needed/a'],
  [
    'a key’s value that is too long',
    { needed: { a: 'abcd' } },
    '/spec/needed/a',
    'must NOT have more than 3 characters',
  ],
  ['a required field that is left out', {}, '/spec/needed', 'is required'],
  ['a field of one that is left out', {}, '/spec/needed/a', 'is required'],
  ['a field that may be left out', { needed: {} }, '/spec/choice'],
  ['a text for a map', { needed: 'x' }, '/spec/needed/a', 'must be object'],
  ['a field of an item', { list: [{ on: 1 }] }, '/spec/list/0/on', 'must be boolean'],
  [
    'an item without its name',
    { list: [{ on: true }] },
    '/spec/list',
    "must have required property 'name'",
  ],
  ['a list that is too long', { list: [{}, {}, {}] }, '/spec/list', 'must NOT have more than 2'],
  ['content of no type', { free: { a: 1 } }, '/spec/free/a'],
  ['a type that is not known here', { elsewhere: { a: 1 } }, '/spec/elsewhere/a'],
  ['metadata', {}, '/metadata/labels/a'],
  [
    'what fits two of the ways of which one must',
    { one: 3 },
    '/spec/one',
    'must match exactly one',
  ],
  ['no map at all', { needed: [] }, '/spec/needed', 'must be object'],
  ['a null', { needed: null }, '/spec/needed'],
  ['a pattern that cannot be read', { odd: 'x' }, '/spec/odd'],
  ['a pattern of another engine', { escaped: '-' }, '/spec/escaped'],
  [
    'a value that is too deep',
    { choice: JSON.parse(`${'['.repeat(90)}${']'.repeat(90)}`) },
    '/spec/choice',
  ],
  ['a value that is too long to be looked at', { choice: 'c'.repeat(3_000) }, '/spec/choice'],
]

for (const [what, spec, at, why] of cases) {
  t.test(`${why === undefined ? 'says nothing of' : 'refuses'} ${what}`, async (t) => {
    const said = refusal(spec, [at])
    if (why === undefined) t.equal(said, undefined)
    else t.match(said, new RegExp(`^/spec/[a-z/0]+ ${RegExp.escape(why)}`))
  })
}

t.test('names the place, and the first edit of several that is refused', async (t) => {
  t.equal(refusal({}, ['/spec/needed/a']), '/spec/needed is required')
  t.equal(
    refusal({ choice: 'b', count: 0, needed: {} }, ['/spec/choice', '/spec/count']),
    '/spec/count must be >= 1',
  )
  t.equal(
    refusal({ list: [{ name: 'a', on: 1 }] }, ['/spec/list']),
    '/spec/list/0/on must be boolean',
  )
})

t.test('says nothing where no schema is known', async (t) => {
  t.equal(refusal({ choice: 'c' }, ['/spec/choice'], null), undefined)
  t.equal(refusalOf(null, {} as KubeObject, []), undefined)
})
