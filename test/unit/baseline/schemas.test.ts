import t from 'tap'

import { readKind } from '../../../src/shared/cluster/schemas.ts'

const part = { type: 'object', properties: { d: { default: 4 }, e: { default: 5 } } }
const document = {
  components: {
    schemas: {
      part,
      one: {
        'x-kubernetes-group-version-kind': [{ group: 'x.io', version: 'v1', kind: 'One' }],
        properties: {
          spec: {
            properties: {
              plain: { type: 'string' },
              text: { type: 'string', default: 'a' },
              list: { type: 'array', items: { properties: { i: { default: 1 } } }, default: [1] },
              part: { allOf: [{ $ref: '#/components/schemas/part' }], default: { d: 7 } },
              // As the schema of schemas does: opened every time, this has no end.
              ...Object.fromEntries(
                Array.from({ length: 20 }, (_, n) => [
                  `itself${n}`,
                  { $ref: '#/components/schemas/one' },
                ]),
              ),
            },
          },
        },
      },
    },
  },
}
const query = { apiVersion: 'x.io/v1', kind: 'One', enumPointers: [], fieldPointers: [] }

t.test('reads what is put in the place of a field that is left out', async (t) => {
  const { defaults = {} } = readKind(document, { ...query, wantsValues: true }) ?? {}
  t.strictSame(defaults, {
    '/spec/text': 'a',
    '/spec/list': [1],
    '/spec/part/d': 7,
    '/spec/part/e': 5,
  })
  t.equal(readKind(document, query)?.defaults, undefined, 'only where it is wanted')
})

// Of each: whether matching costs at most what two repetitions do.
const patterns: readonly (readonly [pattern: string, isKept: boolean])[] = [
  ['^((100|[0-9]{1,2})%|[0-9]+)$', true],
  ['^(a|b)?$', true],
  ['^[a-z]+\\.[a-z]+$', true],
  ['^(a+)+$', false],
  ['^(a|aa)*$', false],
  ['^(a?){9}$', false],
  ['^a*a*a*$', false],
]

for (const [pattern, isKept] of patterns) {
  t.test(`${isKept ? 'keeps' : 'drops'} the pattern ${pattern}`, async (t) => {
    const text = { type: 'string', pattern, description: 'a text' }
    const properties = { text, pattern: { type: 'integer', description: 'none of a schema' } }
    const one = { ...document.components.schemas.one, properties }
    const read = readKind({ components: { schemas: { one } } }, { ...query, wantsValues: true })
    t.same((read?.values as { properties: unknown } | undefined)?.properties, {
      text: { type: 'string', ...(isKept && { pattern }) },
      pattern: { type: 'integer' },
    })
  })
}
