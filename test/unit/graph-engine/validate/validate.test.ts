import t from 'tap'
import { validateNodes } from '../../../../src/shared/graph-engine/validate/validate.ts'
import { configMap, node, widget, withMetadata } from '../objects.ts'

/** A problem as `path message`. */
const problemsOf = (nodes: unknown) =>
  validateNodes(nodes).problems.map(({ path, message }) => `${path} ${message}`)

const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })

const metadata = (more: object) => [node('a', { object: withMetadata(widget('a'), more) })]

const rows: readonly (readonly [behaviour: string, nodes: unknown, problems: readonly string[]])[] =
  [
    ['a graph in order', [node('a'), node('b', { dependsOn: ['a'] })], []],
    ['no list', { a: 1 }, ['/nodes must be a list, not {"a":1}']],
    ['no nodes', [], ['/nodes must have at least one node']],
    [
      'too many nodes',
      Array.from({ length: 101 }, (_, index) => node(`n${index}`)),
      ['/nodes has 101 nodes, more than the 100 that are allowed'],
    ],
    ['no map', ['a'], ['/nodes/0 must be a map, not "a"']],
    ['without all that it needs', [{}], ['/nodes/0/id is required', '/nodes/0/object is required']],
    [
      'a field nobody knows',
      [{ ...node('a'), dependson: [] }],
      ['/nodes/0/dependson is no field of this: did you mean dependsOn?'],
    ],
    [
      'an id that is none',
      [node('a b', { object: widget('a') })],
      [
        '/nodes/0/id must be up to 63 letters, digits, "-", "_" and ".", the first and last of them a letter or digit, not "a b"',
      ],
    ],
    [
      'an id twice',
      [node('a'), node('a', { object: widget('b') })],
      ['/nodes/1/id "a" is the id of /nodes/0 too: an id is unique'],
    ],
    [
      'an object twice, in whatever version',
      [node('a'), node('b', { object: { ...widget('a'), apiVersion: 'example.com/v2' } })],
      ['/nodes/1/object Widget shop/a is the object of node a too: one object has one node'],
    ],
    [
      'a dependency that is misspelt',
      [node('database'), node('web', { dependsOn: ['databse'] })],
      ['/nodes/1/dependsOn/0 no node has the id "databse": did you mean database?'],
    ],
    [
      'a dependency that is unknown',
      [node('web', { dependsOn: ['disk'] })],
      ['/nodes/0/dependsOn/0 no node has the id "disk": the ids are ["web"]'],
    ],
    [
      'a cycle',
      [
        node('a', { dependsOn: ['b'] }),
        node('b', { dependsOn: ['c'] }),
        node('c', { dependsOn: ['a'] }),
      ],
      ['/nodes/0/dependsOn is a cycle: a → b → c → a'],
    ],
    [
      'a node that waits for itself',
      [node('a', { dependsOn: ['a'] })],
      ['/nodes/0/dependsOn is a cycle: a → a'],
    ],
    [
      'a Secret',
      [node('a', { object: { ...configMap('a'), kind: 'Secret' } })],
      [
        '/nodes/0/object/kind Secret is refused, since graphs can be read by many: refer to an existing Secret by its name',
      ],
    ],
    ['a Secret of another group', [node('a', { object: { ...widget('a'), kind: 'Secret' } })], []],
    [
      'an object without apiVersion and kind',
      [{ id: 'a', object: { metadata: { name: 'a' } } }],
      ['/nodes/0/object/apiVersion is required', '/nodes/0/object/kind is required'],
    ],
    [
      'an object without metadata',
      [{ id: 'a', object: { apiVersion: 'v1', kind: 'ConfigMap' } }],
      ['/nodes/0/object/metadata is required'],
    ],
    [
      'an object without name',
      [{ id: 'a', object: { ...widget('a'), metadata: { generateName: 'a-' } } }],
      [
        '/nodes/0/object/metadata/name is required',
        '/nodes/0/object/metadata/generateName is not possible: a node is one object with one name',
      ],
    ],
    [
      'a name that is a path',
      metadata({ name: 'a/../b' }),
      ['/nodes/0/object/metadata/name must be the name of an object, not "a/../b"'],
    ],
    ['a name with a colon', metadata({ name: 'system:view' }), []],
    [
      'a namespace that is none',
      metadata({ namespace: 'Shop' }),
      ['/nodes/0/object/metadata/namespace must be the name of a namespace, not "Shop"'],
    ],
    [
      'what the server writes',
      metadata({ uid: 'u', resourceVersion: '1', managedFields: [] }),
      ['uid', 'resourceVersion', 'managedFields'].map(
        (name) => `/nodes/0/object/metadata/${name} is written by the API server: leave it out`,
      ),
    ],
    [
      'what controllers write',
      [node('a', { object: { ...widget('a'), status: {} } })],
      ['/nodes/0/object/status is written by controllers: leave it out'],
    ],
    [
      'a version and a kind that are none',
      [node('a', { object: { ...widget('a'), apiVersion: 'a/b/c', kind: 'widget' } })],
      [
        '/nodes/0/object/apiVersion must be a version such as v1 or apps/v1, not "a/b/c"',
        '/nodes/0/object/kind must be a kind such as Deployment, not "widget"',
      ],
    ],
    [
      'nesting without end',
      [node('a', { object: widget('a', deep(70)) })],
      ['/nodes/0/object has more than 64 levels of nesting'],
    ],
    [
      'names that reach a prototype',
      [node('a', { object: widget('a', JSON.parse('{"__proto__": {}}')) })],
      ['/nodes/0/object has a field called __proto__, constructor or prototype'],
    ],
    [
      'numbers that JavaScript would change',
      [node('a', { object: widget('a', { size: 2 ** 60 }) })],
      ['/nodes/0/object has a number that is too large to be kept exactly'],
    ],
    [
      'policies nobody knows',
      [
        {
          ...node('a'),
          applyPolicy: {
            mode: 'Aply',
            conflictPolicy: 'Wait',
            deletionPolicy: 'Orphan',
            force: true,
          },
        },
      ],
      [
        '/nodes/0/applyPolicy/mode must not be "Aply": did you mean Apply?',
        '/nodes/0/applyPolicy/conflictPolicy must not be "Wait": it is one of Error, Force',
        '/nodes/0/applyPolicy/force is no field of this: known are mode, conflictPolicy, deletionPolicy',
      ],
    ],
    [
      'a predicate that says too little',
      [{ ...node('a'), readyWhen: [{ type: 'ConditionMatch' }] }],
      [
        '/nodes/0/readyWhen/0/conditionType is required by ConditionMatch',
        '/nodes/0/readyWhen/0/conditionStatus is required by ConditionMatch',
      ],
    ],
    [
      'a predicate of another kind',
      [{ ...node('a'), readyWhen: [{ type: 'Exists' }, { type: 'DeploymentAvailable' }] }],
      [
        '/nodes/0/readyWhen/1/type DeploymentAvailable is about Deployments only: use ConditionMatch',
      ],
    ],
    [
      'a timeout that is none',
      [{ ...node('a'), readyWhen: [{ type: 'Exists', timeout: -1 }] }],
      ['/nodes/0/readyWhen/0/timeout must be a number of seconds, not -1'],
    ],
    [
      'lists that are none',
      [{ ...node('a'), dependsOn: 'b', readyWhen: {} }],
      ['/nodes/0/dependsOn must be a list, not "b"', '/nodes/0/readyWhen must be a list, not {}'],
    ],
  ]

t.test('finds', async (t) => {
  for (const [behaviour, nodes, problems] of rows) {
    t.same(problemsOf(nodes), problems, behaviour)
    const { length } = validateNodes(nodes).nodes
    t.equal(
      length,
      problems.length === 0 && Array.isArray(nodes) ? nodes.length : 0,
      `${behaviour}: nodes`,
    )
  }
})

t.test('names the node', async (t) => {
  t.equal(validateNodes([{ ...node('web'), dependsOn: 'b' }]).problems[0]?.nodeId, 'web')
  t.equal('nodeId' in (validateNodes([7]).problems[0] ?? {}), false)
})

const sized = (id: string, kib: number) =>
  node(id, { object: widget(id, { text: 'x'.repeat(kib * 1_024) }) })

t.test('warns before a graph is too large, and names what is big', async (t) => {
  const small = [sized('a', 100), sized('b', 200)]
  t.same(validateNodes(small), { problems: [], warnings: [], nodes: small })
  const { warnings, problems } = validateNodes([...small, sized('c', 70)])
  t.same(problems, [])
  t.match(warnings, [
    {
      path: '/nodes',
      message:
        /^has 371 KiB of the 512 KiB that are allowed; the biggest nodes are b \(201 KiB\), a \(101 KiB\), c \(71 KiB\)$/,
    },
  ])
  const large = validateNodes([...small, sized('c', 213)])
  t.match(large, { nodes: [], warnings: [] })
  t.match(large.problems, [
    { message: /^has 514 KiB, more than the 512 KiB that are allowed; the biggest/ },
  ])
  const many = validateNodes(Array.from({ length: 71 }, (_, index) => node(`n${index}`)))
  t.match(many, {
    problems: [],
    warnings: [{ message: 'has 71 nodes of the 100 that are allowed' }],
  })
})
