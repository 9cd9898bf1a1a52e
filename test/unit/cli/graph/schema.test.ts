import t from 'tap'
import { schemaCauses } from '../../../../src/cli/graph/offline/schema.ts'
import { definitionOf } from '../../../../src/shared/api/custom-resource.ts'
import { TRANSFORM } from '../../../../src/shared/graph/transform.ts'
import { EMBEDDED, INVALID_SPECS } from './invalid-specs.ts'

const causesOf = (spec: unknown, more: object = {}) =>
  schemaCauses({
    apiVersion: 'platform.pequod.io/v1alpha1',
    kind: 'Transform',
    metadata: { name: 'shop', namespace: 'web', labels: { any: 'thing' } },
    ...(spec === undefined ? {} : { spec }),
    ...more,
  }).map(({ field, message }) => `${field}: ${message}`)

t.test('a Transform is as its definition has it', async (t) => {
  t.same(causesOf({ cueRef: EMBEDDED, input: { any: { thing: [1] } } }), [])
  t.same(
    causesOf(
      {
        cueRef: { ...EMBEDDED, path: 'a/b' },
        input: {},
        policies: [{ name: 'resource-limits', severity: 'Warning' }],
        deletionPolicy: 'Orphan',
        suspend: true,
        serviceAccountName: 'deployers',
        interval: '1h30m',
      },
      { status: { observedGeneration: 1 } },
    ),
    [],
  )
})

for (const [what, spec, causes] of INVALID_SPECS)
  t.test(`refused: ${what}, ${JSON.stringify(spec)}`, async (t) => {
    t.same(causesOf(spec), causes)
  })

t.test('the definition says nothing in CEL that is not judged here, too', async (t) => {
  const rules = JSON.stringify(definitionOf(TRANSFORM)).match(/"rule":/g) ?? []
  t.equal(rules.length, 2)
})
