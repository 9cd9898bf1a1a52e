import t from 'tap'
import { type Crd, strip } from '../../../tools/crds/strip.ts'

const crdWith = (
  openAPIV3Schema: object,
  more: Partial<Crd['metadata']> = {},
  spec: object = {},
): Crd => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'sorts.example.com', ...more },
  spec: {
    group: 'example.com',
    names: { kind: 'Sort' },
    ...spec,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: openAPIV3Schema as Crd['metadata'] },
      },
    ],
  },
})

const schemaOf = (crd: Crd) => crd.spec.versions[0]?.schema.openAPIV3Schema

t.test('takes the prose out of a schema, wherever a schema is in it', async (t) => {
  const text = { type: 'string', description: 'a', title: 'b', example: 'c', externalDocs: {} }
  const bare = { type: 'string' }
  const all = (one: object) => ({
    type: 'object',
    properties: { a: one },
    patternProperties: { '^b': one },
    definitions: { c: one },
    additionalProperties: { type: 'array', items: one },
    not: one,
    allOf: [one],
    anyOf: [{ properties: { d: one } }],
    oneOf: [one],
  })
  t.same(schemaOf(strip(crdWith({ ...all(text), description: 'e' }))), all(bare))
})

t.test('keeps what only looks like prose', async (t) => {
  const schema = {
    type: 'object',
    required: ['description', 'title'],
    properties: {
      description: { type: 'string', enum: ['title'] },
      title: { type: 'object', default: { description: 'a' }, additionalProperties: true },
    },
    'x-kubernetes-validations': [{ rule: 'self.title', message: 'description' }],
  }
  t.same(schemaOf(strip(crdWith(schema))), schema)
})

t.test('takes out what an API server alone cannot honour', async (t) => {
  const conversion = { strategy: 'Webhook' }
  const crd = strip(
    crdWith({}, { annotations: { tool: 'a' }, labels: { b: 'c' } } as Partial<Crd['metadata']>, {
      scope: 'Cluster',
      conversion,
      preserveUnknownFields: false,
    }),
  )
  t.same(crd.metadata, { name: 'sorts.example.com' })
  t.same(Object.keys(crd.spec), ['group', 'names', 'scope', 'versions'])
})

t.test('keeps the approval without which a group of Kubernetes is not served', async (t) => {
  const approval = { 'api-approved.kubernetes.io': 'https://example.com/1' }
  const crd = strip(crdWith({}, { annotations: { ...approval, tool: 'a' } }))
  t.same(crd.metadata.annotations, approval)
})

t.test(
  'keeps printer columns and subresources, and changes nothing that it is given',
  async (t) => {
    const given = crdWith({ description: 'a' })
    const column = { name: 'Age', jsonPath: '.a', type: 'date' }
    const [version] = given.spec.versions
    const crd = {
      ...given,
      spec: {
        ...given.spec,
        versions: [
          {
            ...version,
            additionalPrinterColumns: [{ ...column, description: 'b' }],
            subresources: { status: {} },
          },
        ],
      },
    } as Crd
    const before = structuredClone(crd)
    t.match(strip(crd).spec.versions, [
      { additionalPrinterColumns: [column], subresources: { status: {} } },
    ])
    t.notOk(strip(crd).spec.versions[0]?.additionalPrinterColumns?.[0]?.description)
    t.same(crd, before)
  },
)
