import fc from 'fast-check'
import t from 'tap'
import { MANAGED_BY, PATCH } from '../../../../src/shared/baseline/annotations.ts'
import { applyPatch } from '../../../../src/shared/baseline/planner.ts'
import { isMap, type KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { runs } from '../../runs.ts'

const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen)
  return Object.freeze(value)
}

const BASELINE: KubeObject = frozen({
  apiVersion: 'hco.kubevirt.io/v1beta1',
  kind: 'HyperConverged',
  metadata: {
    name: 'kubevirt-hyperconverged',
    namespace: 'openshift-cnv',
    labels: { [MANAGED_BY]: 'virt-platform-autopilot', tier: 'gold' },
  },
  spec: {
    a: 'secret-value',
    arr: [1, 2, 3],
    empty: {},
    map: { inner: { leaf: true } },
    nothing: null,
    'with/slash~tilde': 1,
  },
})

const outcome = (operations: unknown) => {
  const text = typeof operations === 'string' ? operations : JSON.stringify(operations)
  return applyPatch(BASELINE, text)
}

const specAfter = (operations: unknown) => {
  const result = outcome(operations)
  return result.ok ? result.value.spec : result.error
}

const problemsOf = (operations: unknown) => {
  const result = outcome(operations)
  return result.ok ? [] : result.error
}

t.test('applies every operation of RFC 6902', async (t) => {
  const spec = Object(BASELINE.spec)
  const vectors: [operations: unknown[], spec: object][] = [
    [[], spec],
    [[{ op: 'add', path: '/spec/new', value: { x: [] } }], { ...spec, new: { x: [] } }],
    [[{ op: 'add', path: '/spec/a', value: null }], { ...spec, a: null }],
    [[{ op: 'add', path: '/spec/arr/0', value: 0 }], { ...spec, arr: [0, 1, 2, 3] }],
    [[{ op: 'add', path: '/spec/arr/3', value: 4 }], { ...spec, arr: [1, 2, 3, 4] }],
    [[{ op: 'add', path: '/spec/arr/-', value: [4] }], { ...spec, arr: [1, 2, 3, [4]] }],
    [[{ op: 'add', path: '/spec/empty/', value: 1 }], { ...spec, empty: { '': 1 } }],
    [[{ op: 'add', path: '/spec/-', value: 1 }], { ...spec, '-': 1 }],
    [[{ op: 'add', path: '/spec/toString', value: 1 }], { ...spec, toString: 1 }],
    [[{ op: 'remove', path: '/spec/arr/1' }], { ...spec, arr: [1, 3] }],
    [[{ op: 'remove', path: '/spec/map/inner' }], { ...spec, map: {} }],
    [[{ op: 'replace', path: '/spec/nothing', value: 1 }], { ...spec, nothing: 1 }],
    [[{ op: 'replace', path: '/spec/arr/2', value: 'x' }], { ...spec, arr: [1, 2, 'x'] }],
    [
      [{ op: 'replace', path: '/spec/with~1slash~0tilde', value: 2 }],
      { ...spec, 'with/slash~tilde': 2 },
    ],
    [[{ op: 'replace', path: '/spec', value: {} }], {}],
    [[{ op: 'replace', path: '', value: { ...BASELINE, spec: { b: 1 } } }], { b: 1 }],
    [[{ op: 'add', path: '', value: { ...BASELINE, spec: {} } }], {}],
    [[{ op: 'move', from: '/spec/arr/0', path: '/spec/arr/2' }], { ...spec, arr: [2, 3, 1] }],
    [[{ op: 'move', from: '/spec/arr/0', path: '/spec/arr/0' }], spec],
    [
      [{ op: 'move', from: '/spec/map/inner', path: '/spec/map' }],
      { ...spec, map: { leaf: true } },
    ],
    [[{ op: 'move', from: '', path: '' }], spec],
    [
      [{ op: 'copy', from: '/spec/arr', path: '/spec/arr/-' }],
      { ...spec, arr: [1, 2, 3, [1, 2, 3]] },
    ],
    [[{ op: 'copy', from: '', path: '' }], spec],
    [
      [
        { op: 'copy', from: '/spec/map', path: '/spec/copy' },
        { op: 'remove', path: '/spec/copy/inner/leaf' },
      ],
      { ...spec, copy: { inner: {} } },
    ],
    [
      [
        { op: 'remove', path: '' },
        { op: 'test', path: '', value: null },
        { op: 'add', path: '', value: { ...BASELINE, spec: { c: 1 } } },
      ],
      { c: 1 },
    ],
    [
      [
        { op: 'test', path: '', value: BASELINE },
        { op: 'test', path: '/spec/map', value: { inner: { leaf: true } } },
        { op: 'test', path: '/spec/arr', value: [1, 2, 3] },
        { op: 'test', path: '/spec/nothing', value: null },
        { op: 'test', path: '/metadata/name', value: 'kubevirt-hyperconverged' },
      ],
      spec,
    ],
  ]
  for (const [operations, expected] of vectors) {
    t.strictSame(specAfter(operations), expected, JSON.stringify(operations))
  }
})

t.test('lets a patch set labels and annotations outside our prefix', async (t) => {
  const vectors: unknown[][] = [
    [{ op: 'add', path: '/metadata/annotations', value: { team: 'virt' } }],
    [{ op: 'add', path: '/metadata/annotations', value: {} }],
    [{ op: 'replace', path: '/metadata/labels/tier', value: 'silver' }],
    [{ op: 'remove', path: '/metadata/labels/tier' }],
    [{ op: 'add', path: '/metadata/labels/hasOwnProperty', value: 'then' }],
    [{ op: 'copy', from: '/spec/a', path: '/metadata/labels/a' }],
    [
      { op: 'move', from: '/metadata', path: '/spec/elsewhere' },
      { op: 'move', from: '/spec/elsewhere', path: '/metadata' },
    ],
  ]
  for (const operations of vectors) t.same(problemsOf(operations), [], JSON.stringify(operations))
})

const LABEL = '/metadata/labels/platform.kubevirt.io~1managed-by'

const FREEDOM =
  'in metadata it may set only labels and annotations outside platform.kubevirt.io/, and status, apiVersion and kind stay as they are'

t.test('judges the result, whatever way the patch took', async (t) => {
  const evil = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'evil' },
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
  }
  const vectors: [operation: unknown, ...pointers: string[]][] = [
    [{ op: 'replace', path: '/metadata/name', value: 'evil' }, '/metadata/name'],
    [{ op: 'replace', path: '/metadata/namespace', value: 'evil' }, '/metadata/namespace'],
    [{ op: 'remove', path: '/metadata/namespace' }, '/metadata/namespace'],
    [{ op: 'remove', path: '/metadata' }, '/metadata'],
    [{ op: 'replace', path: '/metadata', value: null }, '/metadata'],
    [{ op: 'replace', path: '/metadata', value: [] }, '/metadata'],
    [
      { op: 'replace', path: '/metadata', value: { name: 'evil' } },
      LABEL,
      '/metadata/namespace',
      '/metadata/name',
    ],
    [
      { op: 'replace', path: '', value: evil },
      LABEL,
      '/metadata/namespace',
      '/metadata/name',
      '/kind',
      '/apiVersion',
      '/spec',
    ],
    [{ op: 'copy', from: '/metadata', path: '' }, '/metadata', '/kind', '/apiVersion', '/spec'],
    [{ op: 'copy', from: '/metadata/name', path: '/kind' }, '/kind'],
    [{ op: 'replace', path: '/apiVersion', value: 'hco.kubevirt.io/v1' }, '/apiVersion'],
    [{ op: 'add', path: '/status', value: {} }, '/status'],
    [{ op: 'add', path: '/status', value: null }, '/status'],
    [
      {
        op: 'add',
        path: '/metadata/ownerReferences',
        value: [{ kind: 'ConfigMap', name: 'gone' }],
      },
      '/metadata/ownerReferences',
    ],
    [{ op: 'add', path: '/metadata/finalizers', value: ['evil/stuck'] }, '/metadata/finalizers'],
    [{ op: 'add', path: '/metadata/generateName', value: 'x' }, '/metadata/generateName'],
    [{ op: 'replace', path: LABEL, value: 'somebody' }, LABEL],
    [{ op: 'remove', path: LABEL }, LABEL],
    [{ op: 'remove', path: '/metadata/labels' }, LABEL],
    [{ op: 'replace', path: '/metadata/labels', value: null }, '/metadata/labels'],
    [{ op: 'add', path: '/metadata/annotations', value: null }, '/metadata/annotations'],
    [{ op: 'add', path: '/metadata/annotations', value: { n: 1 } }, '/metadata/annotations/n'],
    [{ op: 'add', path: '/metadata/labels/n', value: true }, '/metadata/labels/n'],
    [
      {
        op: 'add',
        path: '/metadata/annotations',
        value: { 'platform.kubevirt.io/mode': 'unmanaged' },
      },
      '/metadata/annotations/platform.kubevirt.io~1mode',
    ],
    [
      { op: 'add', path: '/metadata/labels/platform.kubevirt.io~1mode', value: 'unmanaged' },
      '/metadata/labels/platform.kubevirt.io~1mode',
    ],
    [{ op: 'move', from: '/metadata/labels', path: '/spec/labels' }, LABEL],
    [{ op: 'remove', path: '/spec' }, '/spec'],
    [{ op: 'replace', path: '/spec', value: null }, '/spec'],
    [{ op: 'replace', path: '/spec', value: [] }, '/spec'],
    [{ op: 'replace', path: '/spec', value: 'text' }, '/spec'],
    [{ op: 'remove', path: '' }, ''],
    [{ op: 'copy', from: '/spec/arr', path: '' }, ''],
  ]
  for (const [operation, ...pointers] of vectors) {
    const problems = problemsOf([operation])
    t.same(
      problems.map(({ pointer }) => pointer),
      pointers,
      JSON.stringify(operation),
    )
    t.ok(
      problems.every(({ operation }) => operation === undefined),
      'blames no operation',
    )
  }
  t.same(problemsOf([{ op: 'replace', path: '/metadata/name', value: 'evil' }]), [
    {
      reason: 'InvalidPatch',
      annotation: PATCH,
      message: `the patch must not change /metadata/name: ${FREEDOM}`,
      pointer: '/metadata/name',
    },
  ])
})

t.test('leaves an object without spec without one', async (t) => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: {} }
  const operation = { op: 'add', path: '/data/key', value: 'eA==' }
  const result = applyPatch(frozen(secret), JSON.stringify([operation]))
  t.same(result, { ok: true, value: { ...secret, data: { key: 'eA==' } } })
})

t.test('refuses what is no list of operations', async (t) => {
  const strict = 'the patch must be strict JSON: '
  const list = 'the patch must be a list of operations: [{"op": …}, …]'
  const vectors: [text: string, message: string][] = [
    ['null', list],
    ['""', list],
    ['{}', list],
    ['"[]"', list],
    ['', `${strict}value expected at offset 0 (line 1, column 1)`],
    ['\ufeff[]', `${strict}invalid symbol at offset 0 (line 1, column 1)`],
    [
      '[{"op":"remove","path":"/spec/a"},]',
      `${strict}value expected at offset 34 (line 1, column 35)`,
    ],
    ['[NaN]', `${strict}invalid symbol at offset 1 (line 1, column 2)`],
    ['[] // no', `${strict}invalid comment token at offset 3 (line 1, column 4)`],
    [
      '[{"op":"replace","path":"/spec/x","path":"/metadata/name","value":"e"}]',
      `${strict}duplicate member "path" at offset 34 (line 1, column 35)`,
    ],
    ['['.repeat(70), `${strict}more than 64 levels of nesting at offset 64 (line 1, column 65)`],
    [`["${'é'.repeat(64 * 1024)}"]`, 'the patch must not be longer than 65536 characters'],
    [`[${' '.repeat(300 * 1024)}]`, 'the patch must not be longer than 65536 characters'],
    [`[${'0,'.repeat(1_000)}0]`, 'the patch must not have more than 1,000 operations'],
  ]
  for (const [text, message] of vectors) {
    const problem = { reason: 'InvalidPatch', annotation: PATCH, message }
    t.strictSame(problemsOf(text), [problem], text.slice(0, 80))
  }
})

t.test('refuses operations with other members than they need', async (t) => {
  const map = 'an operation must be a map: {"op": …, "path": …}'
  const op = '"op" must be add, copy, move, remove, replace or test'
  const valued = 'replace must have "op", "path", "value" and nothing else'
  const pair = 'copy must have "op", "from", "path" and nothing else'
  const vectors: [operation: unknown, what: string][] = [
    [null, map],
    [[], map],
    ['remove', map],
    [{}, op],
    [{ op: '_get', path: '/spec' }, op],
    [{ op: 'toString', path: '/spec' }, op],
    [{ op: 'Add', path: '/spec/x', value: 1 }, op],
    [{ op: ['add'], path: '/spec/x', value: 1 }, op],
    [{ OP: 'remove', path: '/spec/x' }, op],
    [{ op: 'replace', path: '/kind', Path: '/spec/x', value: 'ClusterRoleBinding' }, valued],
    [{ op: 'replace', path: '/spec/a' }, valued],
    [{ op: 'replace', path: '/spec/a', from: '/spec/a' }, valued],
    [{ op: 'remove', path: '/spec/a', value: 1 }, 'remove must have "op", "path" and nothing else'],
    [{ op: 'remove' }, 'remove must have "op", "path" and nothing else'],
    [{ op: 'copy', path: '/spec/x', value: 1 }, pair],
    [{ op: 'copy', from: '/spec/a', path: '/spec/x', value: 1 }, pair],
    [{ op: 'add', 'path,value': 1 }, 'add must have "op", "path", "value" and nothing else'],
    [{ op: 'remove', path: null }, '"path" must be a JSON pointer'],
    [{ op: 'remove', path: ['spec'] }, '"path" must be a JSON pointer'],
    [{ op: 'copy', from: 1, path: '/spec/x' }, '"from" must be a JSON pointer'],
  ]
  for (const [index, [operation, what]] of vectors.entries()) {
    const [problem, ...others] = problemsOf([...Array(index).fill(TEST), operation])
    t.same(others, [])
    t.equal(problem?.message, `operation ${index}: ${what}`, JSON.stringify(operation))
    t.equal(problem?.operation, index)
  }
  const own = '[{"op":"remove","path":"/spec/a","__proto__":1}]'
  t.match(problemsOf(own), [{ message: /nothing else$/ }])
})

const TEST = { op: 'test', path: '/spec/arr/0', value: 1 }

t.test('says at which operation the patch fails, and why', async (t) => {
  const missing = (end: string) =>
    `the baseline, which the patch works on, ends at ${end}: correct the pointer, or add what is missing before`
  const absent = (parent: string) =>
    `in the baseline, which the patch works on, there is no ${parent}: add that before`
  const parentless =
    'in the baseline, which the patch works on, its parent is neither a map nor a list: add that before'
  const index = 'a list takes an index up to its length, without leading zeros, or "-" for its end'
  const own = 'a value cannot move into itself: choose another path'
  const failed = 'the test fails: correct its value, or leave the test out'
  const vectors: [operation: unknown, pointer: string, what: string][] = [
    [{ op: 'remove', path: '/x' }, '/x', missing('its root')],
    [{ op: 'remove', path: '/spec/map/x/y' }, '/spec/map/x/y', missing('/spec/map')],
    [{ op: 'remove', path: '/spec/arr/3' }, '/spec/arr/3', missing('/spec/arr')],
    [{ op: 'remove', path: '/spec/arr/-' }, '/spec/arr/-', missing('/spec/arr')],
    [{ op: 'remove', path: '/spec/arr/00' }, '/spec/arr/00', missing('/spec/arr')],
    [{ op: 'remove', path: '/spec/toString' }, '/spec/toString', missing('/spec')],
    [{ op: 'replace', path: '/spec/x', value: 1 }, '/spec/x', missing('/spec')],
    [{ op: 'replace', path: '/spec/arr/01', value: 1 }, '/spec/arr/01', missing('/spec/arr')],
    [
      { op: 'replace', path: '/spec/arr/length', value: 0 },
      '/spec/arr/length',
      missing('/spec/arr'),
    ],
    [{ op: 'replace', path: '/spec/a/0', value: 1 }, '/spec/a/0', missing('/spec/a')],
    [{ op: 'test', path: '/spec/x', value: null }, '/spec/x', missing('/spec')],
    [{ op: 'copy', from: '/spec/x', path: '/spec/y' }, '/spec/x', missing('/spec')],
    [
      { op: 'copy', from: '/metadata/managedFields', path: '/spec/y' },
      '/metadata/managedFields',
      missing('/metadata'),
    ],
    [{ op: 'move', from: '/spec/x', path: '/spec/y' }, '/spec/x', missing('/spec')],
    [{ op: 'add', path: '/spec/x/y', value: 1 }, '/spec/x/y', absent('/spec/x')],
    [{ op: 'add', path: '/spec/a/y', value: 1 }, '/spec/a/y', parentless],
    [{ op: 'add', path: '/spec/nothing/y', value: 1 }, '/spec/nothing/y', parentless],
    [{ op: 'add', path: '/spec/arr/4', value: 1 }, '/spec/arr/4', index],
    [{ op: 'add', path: '/spec/arr/01', value: 1 }, '/spec/arr/01', index],
    [{ op: 'add', path: '/spec/arr/-1', value: 1 }, '/spec/arr/-1', index],
    [{ op: 'add', path: '/spec/arr/1e0', value: 1 }, '/spec/arr/1e0', index],
    [{ op: 'add', path: '/spec/arr/300000000', value: 1 }, '/spec/arr/300000000', index],
    [{ op: 'add', path: '/spec/arr/length', value: 1 }, '/spec/arr/length', index],
    [{ op: 'copy', from: '/spec/a', path: '/spec/arr/9' }, '/spec/arr/9', index],
    [{ op: 'move', from: '/spec/arr/0', path: '/spec/arr/3' }, '/spec/arr/3', index],
    [{ op: 'move', from: '/spec/map', path: '/spec/map/inner/map' }, '/spec/map/inner/map', own],
    [{ op: 'move', from: '', path: '/spec/x' }, '/spec/x', own],
    [{ op: 'test', path: '/spec/a', value: 'other' }, '/spec/a', failed],
    [{ op: 'test', path: '', value: {} }, '', failed],
    [{ op: 'test', path: '/spec/arr', value: [1, 2] }, '/spec/arr', failed],
    [{ op: 'remove', path: 'spec/a' }, 'spec/a', '"path" must start with "/" or be empty'],
    [
      { op: 'remove', path: '/a~2b' },
      '/a~2b',
      '"path" must write "~" as ~0 and "/" in a name as ~1',
    ],
    [{ op: 'copy', from: 'a', path: '/spec/x' }, 'a', '"from" must start with "/" or be empty'],
  ]
  for (const [operation, pointer, what] of vectors) {
    const message = `operation 1 at ${pointer || 'its root'}: ${what}`
    t.same(
      problemsOf([TEST, operation, TEST]),
      [{ reason: 'InvalidPatch', annotation: PATCH, message, pointer, operation: 1 }],
      JSON.stringify(operation),
    )
  }
})

t.test('reports every operation that it cannot read, up to a number', async (t) => {
  const operations = [...Array(3).fill({}), TEST, ...Array(100).fill({ op: 'remove' })]
  const problems = problemsOf(operations)
  t.equal(problems.length, 20)
  t.same(
    problems.slice(0, 4).map(({ operation }) => operation),
    [0, 1, 2, 4],
  )
  const names = Array.from({ length: 100 }, (_, index) => [`member${index}`, index])
  const metadata = { ...BASELINE.metadata, ...Object.fromEntries(names) }
  t.equal(problemsOf([{ op: 'replace', path: '/metadata', value: metadata }]).length, 20)
})

t.test('shortens a long pointer in the message, not in the problem', async (t) => {
  const path = `/${'x'.repeat(10_000)}`
  const [problem] = problemsOf([{ op: 'remove', path }])
  t.equal(problem?.pointer, path)
  t.ok((problem?.message.length ?? 0) < 300)
})

t.test('refuses names that reach a prototype', async (t) => {
  const vectors: string[] = [
    '[{"op":"add","path":"/__proto__/allowed","value":true}]',
    '[{"op":"add","path":"/spec/__proto__","value":{"x":1}}]',
    '[{"op":"remove","path":"/__proto__/toString"}]',
    '[{"op":"add","path":"/constructor/prototype/x","value":1}]',
    '[{"op":"copy","from":"/constructor","path":"/spec/x"}]',
    '[{"op":"add","path":"/spec/x","value":{"__proto__":{"allowed":true}}}]',
    '[{"op":"add","path":"/spec/x","value":[{"constructor":{"prototype":{"isAdmin":1}}}]}]',
    '[{"op":"add","path":"/metadata/labels/prototype","value":"x"}]',
  ]
  for (const text of vectors) {
    t.match(problemsOf(text), [{ operation: 0, message: /__proto__|constructor|prototype/ }], text)
  }
  t.same(Object.keys(Object.prototype), [])
  t.type({}.toString, 'function')
})

t.test('stops a copy bomb before it grows', async (t) => {
  const bomb = Array(40).fill({ op: 'copy', from: '/spec/arr', path: '/spec/arr/-' })
  const [problem, ...others] = problemsOf(bomb)
  t.same(others, [])
  t.match(problem, {
    message:
      /^operation \d+ at \/spec\/arr\/-: the object and all .* must not have more than 20000 values: put less$/,
    pointer: '/spec/arr/-',
  })
  t.ok((problem?.operation ?? 0) < 20)
})

t.test('counts what was put and removed again', async (t) => {
  const big = { op: 'add', path: '/spec/big', value: 'x'.repeat(50_000) }
  const loops: [name: string, operations: unknown[]][] = [
    [
      'copy',
      [
        { op: 'copy', from: '/spec/big', path: '/spec/x' },
        { op: 'remove', path: '/spec/x' },
      ],
    ],
    ['replace', [{ op: 'copy', from: '/spec/big', path: '/spec/x' }]],
    [
      'move',
      [
        { op: 'move', from: '/spec/big', path: '/spec/x' },
        { op: 'move', from: '/spec/x', path: '/spec/big' },
      ],
    ],
  ]
  for (const [name, operations] of loops) {
    const problems = problemsOf([big, ...Array(100).fill(operations).flat()])
    t.match(problems, [{ message: /must fit in 1 MiB/ }], name)
    t.ok((problems[0]?.operation ?? 999) < 50, name)
  }
})

t.test('takes a result of just under 1 MiB, and none above', async (t) => {
  const path = '/spec/x'
  const size = JSON.stringify(BASELINE).length
  const fitting = 1024 * 1024 - size - '["x",""]'.length - 60_000
  const object = { ...BASELINE, data: 'x'.repeat(fitting - ',"data":""'.length) }
  const patch = (length: number) => JSON.stringify([{ op: 'add', path, value: 'y'.repeat(length) }])
  t.ok(applyPatch(object, patch(60_000)).ok)
  t.notOk(applyPatch(object, patch(60_001)).ok)
})

t.test('bounds how deep anything nests', async (t) => {
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  const deepen = [
    { op: 'add', path: '/spec/x', value: nested(31) },
    { op: 'copy', from: '/spec/x', path: `/spec/x${'/0'.repeat(30)}/0` },
  ]
  t.same(problemsOf(deepen), [], '2 + 31 + 31 levels')
  const further = { op: 'copy', from: '/spec/arr', path: `/spec/x${'/0'.repeat(61)}/0` }
  t.match(problemsOf([...deepen, further]), [
    { operation: 2, message: /nothing may nest deeper than 64 levels: flatten it$/ },
  ])
})

t.test('never prints a value', async (t) => {
  const texts = [
    '[{"op":"test","path":"/spec/a","value":"secret-value-2"}]',
    '[{"op":"add","path":"/spec/arr/9","value":"secret-value-2"}]',
    '[{"op":"add","path":"/spec/x","value":"secret-value-2",}]',
    '["secret-value-2',
    '[{"op":"secret-value-2","path":"/spec"}]',
    '[{"op":"copy","from":"/spec/a","path":"/metadata/name"}]',
  ]
  for (const text of texts) {
    t.notMatch(JSON.stringify(problemsOf(text)), /secret-value/, text)
    t.not(problemsOf(text).length, 0)
  }
})

const pointers = fc.oneof(
  fc.constantFrom(
    '',
    '/spec',
    '/spec/a',
    '/spec/arr',
    '/spec/arr/-',
    '/spec/arr/1',
    '/spec/map/inner',
    '/spec/nothing',
    '/metadata',
    '/metadata/name',
    '/metadata/labels',
    '/metadata/labels/tier',
    '/kind',
    '/status',
    '/metadata/labels/platform.kubevirt.io~1managed-by',
    '/metadata/annotations',
    '/spec/__proto__',
  ),
  fc.string().map((name) => `/spec/${name}`),
  fc.string(),
)
const values = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(BASELINE, BASELINE.metadata, { hasOwnProperty: 1 }, { tier: 'x' }),
)
const operations = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointers, value: values }),
  fc.record({ op: fc.constant('remove'), path: pointers }),
  fc.record({ op: fc.constantFrom('copy', 'move'), path: pointers, from: pointers }),
)
const patches = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(operations, { maxLength: 8 }).map((list) => JSON.stringify(list)),
  },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
)

t.test('never throws, never touches the baseline, never changes what object it is', async () => {
  const before = JSON.stringify(BASELINE)
  fc.assert(
    fc.property(patches, (text) => {
      const result = applyPatch(BASELINE, text)
      if (!result.ok) return result.error.length > 0 && result.error.length <= 20
      const { apiVersion, kind, metadata, spec, status } = result.value
      return (
        apiVersion === BASELINE.apiVersion &&
        kind === BASELINE.kind &&
        metadata.name === BASELINE.metadata.name &&
        metadata.namespace === BASELINE.metadata.namespace &&
        metadata.labels?.[MANAGED_BY] === 'virt-platform-autopilot' &&
        status === undefined &&
        isMap(spec) &&
        JSON.stringify(BASELINE) === before
      )
    }),
    { numRuns: runs(150) },
  )
})

t.test('gives the same result for the same patch, sharing nothing with it', async (t) => {
  const text = JSON.stringify([{ op: 'copy', from: '/spec/map', path: '/spec/x' }])
  const [first, second] = [applyPatch(BASELINE, text), applyPatch(BASELINE, text)]
  t.same(first, second)
  if (first.ok && second.ok) {
    t.not(first.value.spec, second.value.spec)
    t.not(first.value.metadata, BASELINE.metadata)
  }
})
