import { join } from 'node:path'
import t from 'tap'

import { readObjects } from '../../../src/cli/read-objects.ts'

const folder = t.testdir({
  documents: `# two, and an empty one
apiVersion: v1
kind: Node
metadata: {name: a}
---
---
apiVersion: v1
kind: Node
metadata: {name: b}
`,
  list: `apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Node, metadata: {name: a}}
  - {apiVersion: config.openshift.io/v1, kind: Scheduler, metadata: {name: cluster}}
`,
  'typed-list.json': JSON.stringify({
    apiVersion: 'v1',
    kind: 'NodeList',
    items: [{ metadata: { name: 'a' } }],
  }),
  'flow.yaml': '{apiVersion: v1, kind: Node, metadata: {name: a}}',
  'object-that-is-called-a-list': `apiVersion: x.io/v1
kind: AllowList
metadata: {name: a}
items: [1, 2]
`,
  empty: '# nothing\n',
  broken: 'a: [\nsecret: b',
  alias: 'a: &a [1]\nb: *c',
  'no-object': 'kind: Node\nmetadata: {name: a}',
  'no-item':
    'apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Node, metadata: {name: a}}, 7]',
  text: 'just words',
  loose: 'apiVersion: v1\nkind: Node\nmetadata: {name: a, annotations: {a: b, c: off}}',
})
const namesIn = (file: string) =>
  readObjects(join(folder, file)).map(
    ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`,
  )

t.test('reads documents, lists and JSON', async (t) => {
  t.same(namesIn('documents'), ['v1 Node a', 'v1 Node b'])
  t.same(namesIn('list'), ['v1 Node a', 'config.openshift.io/v1 Scheduler cluster'])
  t.same(namesIn('typed-list.json'), ['v1 Node a'])
  t.same(namesIn('flow.yaml'), ['v1 Node a'])
  t.same(namesIn('object-that-is-called-a-list'), ['x.io/v1 AllowList a'])
  t.same(namesIn('empty'), [])
})

for (const [file, fault] of [
  ['missing', /^cannot read \S+missing: ENOENT/],
  ['broken', /^cannot read \S+broken: /],
  ['alias', /^cannot read \S+alias: Unresolved alias/],
  ['no-object', /no-object: document 1 is no Kubernetes object with apiVersion, kind and/],
  ['no-item', /no-item: document 1, item 1 is no Kubernetes object/],
  ['loose', /loose: document 1: the value of c is no text: write it in quotes/],
  ['text', /text: document 1 is no Kubernetes object/],
] as const) {
  t.test(`says in one line what is wrong with a file: ${file}`, async (t) => {
    t.throws(() => readObjects(join(folder, file)), { message: fault })
    try {
      readObjects(join(folder, file))
    } catch (error) {
      t.notMatch((error as Error).message, /\n|secret/)
    }
  })
}
