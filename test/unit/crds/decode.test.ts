import { gzipSync } from 'node:zlib'
import t from 'tap'
import { decode } from '../../../tools/crds/decode.ts'
import type { Format, Skeleton } from '../../../tools/crds/lock.ts'
import { published, SORTS } from './published.ts'

const read = (content: string | Uint8Array, format: Format) =>
  decode(published(content, format), Buffer.from(content))

const skeleton: Skeleton = { scope: 'Namespaced', shortNames: ['so'], hasStatus: true }

t.test('finds the document of that name among others', async (t) => {
  const text = `# prose\n---\n${SORTS.replaceAll('sorts', 'others')}---\n${SORTS}`
  t.equal(read(text, { format: 'yaml' }).metadata.name, 'sorts.example.com')
  t.equal(read(text, { format: 'controller-gen', goPackage: './v1' }).spec.names.kind, 'Sort')
  t.throws(() => read('a: b', { format: 'yaml' }), {
    message: 'the file has no definition of that name',
  })
})

t.test('finds a definition in a Go string, backquotes and all', async (t) => {
  const quoted = SORTS.replace('prose', 'some ` + "`" + `quoted` + "`" + ` prose')
  const go = `package a\n\nvar all = map[string]string{\n\t"other": \`x\`,\n\t"sort": \`${quoted}\`,\n}\n`
  const crd = read(go, { format: 'go-embed', key: 'sort' })
  t.equal(crd.spec.versions[0]?.schema.openAPIV3Schema.description, 'some `quoted` prose')
  t.throws(() => read(go, { format: 'go-embed', key: 'none' }), {
    message: 'the file has no Go string at "none"',
  })
})

t.test('sets a schema into the skeleton, for each version that is served', async (t) => {
  const go = '"sort": `openAPIV3Schema:\n  type: object\n`,'
  const schema = { openAPIV3Schema: { type: 'object' } }
  t.same(read(go, { format: 'go-schema', key: 'sort', skeleton }), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'sorts.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        kind: 'Sort',
        listKind: 'SortList',
        plural: 'sorts',
        singular: 'sort',
        shortNames: ['so'],
      },
      versions: [
        { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema },
        { name: 'v1beta1', served: true, storage: false, subresources: { status: {} }, schema },
      ],
    },
  })
})

t.test('finds the schema that a cluster published, and makes it one of a definition', async (t) => {
  const entry = (group: string, version: string, required: readonly string[]) => ({
    'x-kubernetes-group-version-kind': [{ group, version, kind: 'Sort' }],
    namespaced: true,
    required,
    type: 'object',
    properties: { metadata: { $ref: '#/components/schemas/ObjectMeta' }, [version]: {} },
  })
  const sort = [
    entry('other.example.com', 'v1', []),
    entry('example.com', 'v1', ['spec']),
    entry('example.com', 'v1beta1', []),
  ]
  const content = gzipSync(JSON.stringify({ sort }))
  const format = { format: 'openapi', skeleton: { scope: 'Cluster', hasStatus: false } } as const
  t.same(
    read(content, format).spec.versions.map(({ schema }) => schema.openAPIV3Schema),
    [
      { required: ['spec'], type: 'object', properties: { metadata: { type: 'object' }, v1: {} } },
      { type: 'object', properties: { metadata: { type: 'object' }, v1beta1: {} } },
    ],
  )
  t.throws(() => read(gzipSync('{}'), format), {
    message: 'the document has no schema of example.com/v1 Sort',
  })
})
