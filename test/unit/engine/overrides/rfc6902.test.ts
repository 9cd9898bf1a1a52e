import t from 'tap'
import { applyPatch } from '../../../../src/shared/baseline/planner.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { deepFreeze } from '../merge/schemas.ts'

interface Step {
  readonly op: string
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

const AT = '/spec/document'

const holding = (document: unknown): KubeObject =>
  deepFreeze({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name: 'one' },
    spec: { ...(document !== undefined && { document }) },
  })

/** The document after the patch, which is written as if the document were all there is. */
const after = (document: unknown, steps: readonly Step[]): unknown => {
  const within = steps.map(({ path, from, ...step }) => ({
    ...step,
    path: AT + path,
    ...(from !== undefined && { from: AT + from }),
  }))
  const result = applyPatch(holding(document), JSON.stringify(within))
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join())
  return (result.value.spec as { document?: unknown }).document
}

/** The index of the operation at which the patch fails; undefined where it does not. */
const failure = (document: unknown, steps: readonly Step[]): number | undefined => {
  try {
    after(document, steps)
    return undefined
  } catch (error) {
    return Number(/^operation (\d+)/.exec((error as Error).message)?.[1])
  }
}

const add = (path: string, value: unknown): Step => ({ op: 'add', path, value })
const remove = (path: string): Step => ({ op: 'remove', path })
const replace = (path: string, value: unknown): Step => ({ op: 'replace', path, value })
const move = (from: string, path: string): Step => ({ op: 'move', from, path })
const copy = (from: string, path: string): Step => ({ op: 'copy', from, path })
const test = (path: string, value: unknown): Step => ({ op: 'test', path, value })

type Vector = readonly [says: string, document: unknown, steps: readonly Step[], result: unknown]

const applied: readonly Vector[] = [
  // 4.1 add
  ['add: a new member', { a: 1 }, [add('/b', 2)], { a: 1, b: 2 }],
  ['add: an existing member is replaced', { a: 1 }, [add('/a', { b: 2 })], { a: { b: 2 } }],
  ['add: a member in a member', { a: { b: 1 } }, [add('/a/c', 2)], { a: { b: 1, c: 2 } }],
  ['add: null is a value', { a: 1 }, [add('/a', null)], { a: null }],
  [
    'add: false, 0 and "" are values',
    {},
    [add('/a', false), add('/b', 0), add('/c', '')],
    { a: false, b: 0, c: '' },
  ],
  ['add: the whole document', { a: 1 }, [add('', [1])], [1]],
  ['add: before the first item', [1, 2], [add('/0', 0)], [0, 1, 2]],
  ['add: between two items', [1, 3], [add('/1', 2)], [1, 2, 3]],
  ['add: at the length', [1], [add('/1', 2)], [1, 2]],
  ['add: at the end', [1], [add('/-', 2)], [1, 2]],
  ['add: a list at the end is one item', [1], [add('/-', [2, 3])], [1, [2, 3]]],
  ['add: to an empty list', [], [add('/0', 1), add('/-', 2)], [1, 2]],
  ['add: in a list in a list', [[1], []], [add('/1/-', 2)], [[1], [2]]],
  ['add: "-" is a name in a map', {}, [add('/-', 1)], { '-': 1 }],
  ['add: a number is a name in a map', {}, [add('/0', 1), add('/01', 2)], { 0: 1, '01': 2 }],
  ['add: the empty name', {}, [add('/', 1)], { '': 1 }],
  ['add: beneath the empty name', { '': {} }, [add('//', 1)], { '': { '': 1 } }],
  [
    'add: names with escapes',
    {},
    [add('/a~1b', 1), add('/c~0d', 2), add('/~01', 3)],
    { 'a/b': 1, 'c~d': 2, '~1': 3 },
  ],
  [
    'add: names like code',
    {},
    [add('/length', 1), add('/toString', 2)],
    { length: 1, toString: 2 },
  ],
  ['add: names in any script', {}, [add('/é 😀%25', 1)], { 'é 😀%25': 1 }],
  // 4.2 remove
  ['remove: a member', { a: 1, b: 2 }, [remove('/a')], { b: 2 }],
  ['remove: a null member', { a: null }, [remove('/a')], {}],
  ['remove: a container', { a: { b: [1] } }, [remove('/a')], {}],
  ['remove: the first item', [1, 2, 3], [remove('/0')], [2, 3]],
  ['remove: the last item', [1, 2, 3], [remove('/2')], [1, 2]],
  ['remove: the items above shift down', ['a', 'b', 'c'], [remove('/1'), remove('/1')], ['a']],
  ['remove: in a list in a map in a list', [{ a: [1, 2] }], [remove('/0/a/0')], [{ a: [2] }]],
  ['remove: the whole document', { a: 1 }, [remove('')], undefined],
  // 4.3 replace
  ['replace: a member', { a: 1, b: 2 }, [replace('/a', 3)], { a: 3, b: 2 }],
  ['replace: a value by one of another type', { a: [1] }, [replace('/a', 'x')], { a: 'x' }],
  ['replace: null', { a: null }, [replace('/a', 1)], { a: 1 }],
  ['replace: by null', { a: 1 }, [replace('/a', null)], { a: null }],
  ['replace: an item, the others stay', [1, 2, 3], [replace('/1', 'x')], [1, 'x', 3]],
  ['replace: the whole document', { a: 1 }, [replace('', 'text')], 'text'],
  ['replace: is a remove and an add', { a: 1 }, [remove('/a'), add('/a', 2)], { a: 2 }],
  // 4.4 move
  ['move: to another name', { a: 1 }, [move('/a', '/b')], { b: 1 }],
  [
    'move: into another map',
    { a: { x: 1 }, b: {} },
    [move('/a/x', '/b/y')],
    { a: {}, b: { y: 1 } },
  ],
  ['move: over a member', { a: 1, b: 2 }, [move('/a', '/b')], { b: 1 }],
  ['move: forward in a list', [1, 2, 3, 4], [move('/1', '/3')], [1, 3, 4, 2]],
  ['move: backward in a list', [1, 2, 3, 4], [move('/3', '/1')], [1, 4, 2, 3]],
  ['move: to the end of its list', [1, 2, 3], [move('/0', '/-')], [2, 3, 1]],
  ['move: out of a list', { l: [1, 2] }, [move('/l/0', '/a')], { l: [2], a: 1 }],
  ['move: onto itself', { a: { b: 1 } }, [move('/a', '/a')], { a: { b: 1 } }],
  ['move: onto its parent', { a: { b: 1 } }, [move('/a/b', '/a')], { a: 1 }],
  ['move: to a name that begins like its own', { a: 1 }, [move('/a', '/ab')], { ab: 1 }],
  ['move: null', { a: null }, [move('/a', '/b')], { b: null }],
  // 4.5 copy
  ['copy: to another name', { a: [1] }, [copy('/a', '/b')], { a: [1], b: [1] }],
  ['copy: over a member', { a: 1, b: 2 }, [copy('/a', '/b')], { a: 1, b: 1 }],
  ['copy: within a list', [1, 2], [copy('/1', '/0')], [2, 1, 2]],
  ['copy: onto itself in a list', [1, 2], [copy('/0', '/0')], [1, 1, 2]],
  ['copy: into itself', { a: { b: 1 } }, [copy('/a', '/a/c')], { a: { b: 1, c: { b: 1 } } }],
  ['copy: null', { a: null }, [copy('/a', '/b')], { a: null, b: null }],
  [
    'copy: is a value of its own',
    { a: { x: 1 } },
    [copy('/a', '/b'), replace('/b/x', 2)],
    { a: { x: 1 }, b: { x: 2 } },
  ],
  // 5
  ['an empty patch', { a: 1 }, [], { a: 1 }],
  [
    'one after the other',
    {},
    [add('/a', {}), add('/a/b', 1), test('/a', { b: 1 }), move('/a/b', '/c')],
    { a: {}, c: 1 },
  ],
]

for (const [says, document, steps, result] of applied) {
  t.test(says, async (t) => {
    t.strictSame(after(document, steps), result)
  })
}

const equal: readonly (readonly [says: string, left: unknown, right: unknown])[] = [
  ['strings', 'a\u0000é😀', 'a\u0000é😀'],
  ['the empty string', '', ''],
  ['numbers', -1.5, -1.5],
  ['zeros', 0, -0],
  ['literals', [true, false, null], [true, false, null]],
  ['maps, whatever their order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ['lists', [1, [2, { a: [] }]], [1, [2, { a: [] }]]],
  ['empty containers', [{}, []], [{}, []]],
  [
    'names that code has too',
    { hasOwnProperty: 1, toString: 2 },
    { hasOwnProperty: 1, toString: 2 },
  ],
]
const unequal: readonly (readonly [says: string, left: unknown, right: unknown])[] = [
  ['a string and its number', '10', 10],
  ['strings in another normal form', 'é', 'e\u0301'],
  ['strings in another case', 'a', 'A'],
  ['null and false', null, false],
  ['null and nothing', null, {}],
  ['0 and false', 0, false],
  ['0 and ""', 0, ''],
  ['an empty list and an empty map', [], {}],
  ['a list and a map with its indices', ['a'], { 0: 'a' }],
  ['lists in another order', [1, 2], [2, 1]],
  ['a list and its beginning', [1, 2], [1]],
  ['a map and one with more', { a: 1 }, { a: 1, b: 2 }],
  ['a map and one with another name', { a: 1 }, { b: 1 }],
  ['a null member and none', { a: null, b: 1 }, { b: 1, c: null }],
  ['an own name and an inherited one', { toString: 1 }, { valueOf: 1 }],
  ['deep in', [[[{ a: 1 }]]], [[[{ a: 2 }]]]],
]

t.test('test: agrees of what is equal, at the root and beneath', async (t) => {
  for (const [says, left, right] of equal) {
    t.equal(failure(left, [test('', right)]), undefined, says)
    t.equal(failure({ l: [left] }, [test('/l/0', right)]), undefined, says)
  }
})

t.test('test: disagrees of what is not', async (t) => {
  for (const [says, left, right] of unequal) {
    t.equal(failure(left, [test('', right)]), 0, says)
    t.equal(failure(right, [test('', left)]), 0, `${says}, the other way round`)
  }
})

t.test('test: reads numbers as numbers, however they are written', async (t) => {
  const texts = ['1', '1.0', '1e0', '10E-1', '0.01e2']
  for (const text of texts) {
    const patch = `[{"op":"test","path":"${AT}","value":${text}}]`
    t.ok(applyPatch(holding(1), patch).ok, text)
  }
  for (const text of ['01', '+1', '.5', '1.', '0x1', 'Infinity', '-']) {
    const patch = `[{"op":"test","path":"${AT}","value":${text}}]`
    t.notOk(applyPatch(holding(1), patch).ok, text)
  }
})

const failing: readonly (readonly [says: string, document: unknown, steps: readonly Step[]])[] = [
  ['add: a parent that is not there', { a: 1 }, [add('/b/c', 1)]],
  ['add: beneath a scalar', { a: 'text' }, [add('/a/b', 1)]],
  ['add: beneath null', { a: null }, [add('/a/b', 1)]],
  ['add: above the length', [1], [add('/2', 1)]],
  ['add: a negative index', [1], [add('/-1', 1)]],
  ['add: an index with a leading zero', [1, 2], [add('/01', 1)]],
  ['add: an index of zeros', [1], [add('/00', 1)]],
  ['add: an index with a sign', [1, 2], [add('/+1', 1)]],
  ['add: a fraction', [1, 2], [add('/1.0', 1)]],
  ['add: an exponent', [1, 2], [add('/1e0', 1)]],
  ['add: a blank beside the index', [1, 2], [add('/1 ', 1)]],
  ['add: digits of another script', [1, 2], [add('/١', 1)]],
  ['add: the empty index', [1], [add('/', 1)]],
  ['add: a name in a list', [1], [add('/length', 1)]],
  ['add: an item beneath the end', [[1]], [add('/-/0', 1)]],
  ['remove: what is not there', { a: 1 }, [remove('/b')]],
  ['remove: what is inherited', {}, [remove('/toString')]],
  ['remove: the item at the length', [1], [remove('/1')]],
  ['remove: the end', [1], [remove('/-')]],
  ['remove: the same twice', { a: 1 }, [remove('/a'), remove('/a')]],
  ['remove: a character', 'text', [remove('/0')]],
  ['replace: what is not there', { a: 1 }, [replace('/b', 1)]],
  ['replace: the end', [1], [replace('/-', 1)]],
  ['replace: the item at the length', [1], [replace('/1', 1)]],
  ['replace: an index with a leading zero', [1, 2], [replace('/01', 1)]],
  ['replace: the length', [1], [replace('/length', 0)]],
  ['move: what is not there', { a: 1 }, [move('/b', '/c')]],
  ['move: into itself', { a: { b: {} } }, [move('/a', '/a/b/c')]],
  ['move: into itself, though it has no such member', { a: 1 }, [move('/a', '/a/b')]],
  ['move: above the length that is left', [1, 2], [move('/0', '/2')]],
  ['move: to where no parent is', { a: 1 }, [move('/a', '/b/c')]],
  ['move: beneath what it leaves', { a: { b: 1 } }, [move('', '/a')]],
  ['copy: what is not there', { a: 1 }, [copy('/b', '/c')]],
  ['copy: the end', [1], [copy('/-', '/0')]],
  ['copy: to where no parent is', { a: 1 }, [copy('/a', '/b/c')]],
  ['test: what is not there', { a: 1 }, [test('/b', null)]],
  ['test: what is inherited', {}, [test('/toString', null)]],
  ['test: beneath a scalar', { a: 1 }, [test('/a/b', 1)]],
]

for (const [says, document, steps] of failing) {
  t.test(`fails, ${says}`, async (t) => {
    t.equal(failure(document, steps), steps.length - 1)
  })
}

t.test('a patch that fails changes nothing at all', async (t) => {
  const baseline = holding({ a: { b: 1 }, l: [1, 2] })
  const before = JSON.stringify(baseline)
  const steps = [
    ...['/a/b', '/l/0'].map((path) => ({ op: 'replace', path: AT + path, value: 9 })),
    { op: 'move', from: `${AT}/a`, path: `${AT}/l/-` },
    { op: 'test', path: AT, value: 'other' },
  ]
  t.match(applyPatch(baseline, JSON.stringify(steps)), { ok: false, error: [{ operation: 3 }] })
  t.equal(JSON.stringify(baseline), before)
})

t.test('the members of an operation may have any order', async (t) => {
  const [first, second] = [
    `[{"op":"add","path":"${AT}","value":1}]`,
    `[{"value":1,"path":"${AT}","op":"add"}]`,
  ].map((text) => applyPatch(holding({}), text))
  t.ok(first?.ok)
  t.strictSame(first, second)
})

t.test('is stricter than the standard where leniency hides a mistake', async (t) => {
  const texts: readonly (readonly [says: string, text: string])[] = [
    ['a member that means nothing', `[{"op":"remove","path":"${AT}","x":1}]`],
    ['a value that means nothing', `[{"op":"remove","path":"${AT}","value":1}]`],
    ['a member that is there twice', `[{"op":"add","op":"remove","path":"${AT}"}]`],
    ['an operation alone', `{"op":"remove","path":"${AT}"}`],
  ]
  for (const [says, text] of texts) t.notOk(applyPatch(holding({}), text).ok, says)
})

t.test('an operation without what it needs is none', async (t) => {
  const path = AT
  const steps: readonly (readonly [says: string, step: unknown])[] = [
    ['no op', { path, value: 1 }],
    ['another op', { op: 'merge', path, value: 1 }],
    ['an op in capitals', { op: 'ADD', path, value: 1 }],
    ['an op that is no text', { op: null, path, value: 1 }],
    ['no path', { op: 'add', value: 1 }],
    ['a path that is no text', { op: 'add', path: 0, value: 1 }],
    ['a path that is no pointer', { op: 'add', path: 'spec', value: 1 }],
    ['a path in a URI', { op: 'add', path: '#/spec/document', value: 1 }],
    ['a path with a bad escape', { op: 'add', path: `${AT}/~2`, value: 1 }],
    ['a path that ends in an escape', { op: 'add', path: `${AT}/~`, value: 1 }],
    ['add without value', { op: 'add', path }],
    ['replace without value', { op: 'replace', path }],
    ['test without value', { op: 'test', path }],
    ['move without from', { op: 'move', path }],
    ['copy without from', { op: 'copy', path }],
    ['a from that is no pointer', { op: 'copy', from: 'spec', path }],
    ['no map', ['remove', path]],
  ]
  for (const [says, step] of steps) {
    const result = applyPatch(holding({}), JSON.stringify([step]))
    t.match(result, { ok: false, error: [{ reason: 'InvalidPatch', operation: 0 }] }, says)
  }
})
