import t from 'tap'
import { ok } from '../../../../src/shared/engine/result.ts'
import type { Outcome } from '../../../../src/shared/modules/evaluation.ts'
import type { AdmissionResponse } from '../../../../src/webhook/server/review.ts'
import {
  type Asked,
  type DoorOptions,
  doorWith,
  graphWith,
  item,
  moduleOf,
  rendered,
  requestOf,
  transform,
} from './known.ts'

const ALLOWED: AdmissionResponse = { allowed: true }
const warned = (...warnings: readonly string[]): AdmissionResponse => ({ allowed: true, warnings })
const cause = (field: string, message: string, reason = 'FieldValueInvalid') => ({
  reason,
  field,
  message,
})
const invalid = (message: string, ...causes: readonly ReturnType<typeof cause>[]) => ({
  allowed: false,
  status: { code: 422, reason: 'BadRequest', message, details: { causes } },
})

const shop = transform('shop')
const before = transform('shop', { input: { was: 'otherwise' } })
const created: Asked = { object: shop }
const updated: Asked = { object: shop, oldObject: before }
const embedded = new Map([['webservice', moduleOf({ 'm.cue': 'package m' })]])
const named = (ref: string, type: 'embedded' | 'inline' | 'configmap' = 'embedded') =>
  transform('shop', { cueRef: { type, ref } })
const refused = (...errors: readonly [path: string, message: string][]): Outcome => ({
  kind: 'Refused',
  errors: errors.map(([path, message]) => ({
    code: 'input',
    path,
    message,
    position: 'input.cue:14:18',
  })),
})
const violation = (severity: 'Error' | 'Warning' | 'Info', message = 'one replica') => ({
  name: 'several-replicas',
  severity,
  path: 'spec.input.replicas',
  message,
  source: 'module' as const,
})
const many = <Made>(count: number, make: (index: number) => Made) =>
  Array.from({ length: count }, (_, index) => make(index))
const node = (id: string, dependsOn: readonly string[] = [], kind = 'ConfigMap', name = id) => ({
  id,
  dependsOn,
  object: { apiVersion: 'v1', kind, metadata: { name } },
})

const verdicts: readonly (readonly [
  says: string,
  asked: Asked,
  door: DoorOptions,
  reason: string,
  response: AdmissionResponse,
])[] = [
  ['one that renders', created, {}, 'Rendered', ALLOWED],
  [
    'an update of other things than the spec',
    {
      object: transform('shop', {}, { finalizers: [] }),
      oldObject: transform('shop', {}, { finalizers: ['pequod.io/graph'] }),
    },
    { outcome: refused(['spec.input', 'no']) },
    'Unchanged',
    ALLOWED,
  ],
  [
    'one that is going',
    {
      object: transform('shop', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      oldObject: before,
    },
    { outcome: refused(['spec.input', 'no']) },
    'Ending',
    ALLOWED,
  ],
  [
    'one that is suspended',
    { object: transform('shop', { suspend: true }) },
    { outcome: refused(['spec.input', 'no']) },
    'Suspended',
    ALLOWED,
  ],
  [
    'one whose module is to be fetched',
    { object: named('modules', 'configmap') },
    { outcome: refused(['spec.input', 'no']) },
    'ModuleElsewhere',
    ALLOWED,
  ],
  [
    'a module that there is not',
    { object: named('webservce') },
    { embedded },
    'ModuleNotFound',
    invalid(
      'Transform shop/shop: spec.cueRef.ref: there is no module webservce; the modules are webservice',
      cause('spec.cueRef.ref', 'there is no module webservce; the modules are webservice'),
    ),
  ],
  [
    'a module that is none',
    created,
    {
      outcome: {
        kind: 'Refused',
        errors: [{ code: 'load', path: '', message: 'expected }', position: 'module.cue:1:9' }],
      },
    },
    'ModuleInvalid',
    invalid(
      'Transform shop/shop: expected } (module module.cue:1:9)',
      cause('', 'expected } (module module.cue:1:9)'),
    ),
  ],
  [
    'an input that does not fit',
    updated,
    { outcome: refused(['spec.input.replicas', 'invalid value 0 (out of bound >=1)']) },
    'InputInvalid',
    invalid(
      'Transform shop/shop: spec.input.replicas: invalid value 0 (out of bound >=1) (module input.cue:14:18)',
      cause('spec.input.replicas', 'invalid value 0 (out of bound >=1) (module input.cue:14:18)'),
    ),
  ],
  [
    'an input with many faults',
    updated,
    { outcome: refused(...many(7, (at): [string, string] => [`spec.input.a${at}`, 'no'])) },
    'InputInvalid',
    invalid(
      [
        'Transform shop/shop has 7 faults:',
        ...many(5, (at) => `spec.input.a${at}: no (module input.cue:14:18)`),
        'and 2 more',
      ].join('\n'),
      ...many(7, (at) => cause(`spec.input.a${at}`, 'no (module input.cue:14:18)')),
    ),
  ],
  [
    'a violation of severity Error',
    updated,
    { outcome: rendered(['a'], { violations: [violation('Error'), violation('Warning')] }) },
    'PolicyViolated',
    invalid(
      'Transform shop/shop: spec.input.replicas: one replica (policy several-replicas)',
      cause('spec.input.replicas', 'one replica (policy several-replicas)'),
    ),
  ],
  [
    'violations of other severities',
    updated,
    { outcome: rendered(['a'], { violations: [violation('Info'), violation('Warning')] }) },
    'Rendered',
    warned('Transform shop/shop: spec.input.replicas: one replica (policy several-replicas)'),
  ],
  [
    'many violations',
    updated,
    {
      outcome: rendered(['a'], {
        violations: many(7, (at) => violation('Warning', `it is ${at}`)),
      }),
    },
    'Rendered',
    warned(
      ...many(
        5,
        (at) => `Transform shop/shop: spec.input.replicas: it is ${at} (policy several-replicas)`,
      ),
      'and 2 more',
    ),
  ],
  [
    'a cycle',
    updated,
    { outcome: rendered([], { nodes: [node('a', ['b']), node('b', ['a'])] }) },
    'GraphInvalid',
    invalid(
      'Transform shop/shop: graph/nodes/0/dependsOn: is a cycle: a → b → a',
      cause('graph/nodes/0/dependsOn', 'is a cycle: a → b → a'),
    ),
  ],
  [
    'an id that no node has',
    updated,
    { outcome: rendered([], { nodes: [node('database'), node('web', ['databse'])] }) },
    'GraphInvalid',
    invalid(
      'Transform shop/shop: graph/nodes/1/dependsOn/0: no node has the id "databse": did you mean database?',
      cause('graph/nodes/1/dependsOn/0', 'no node has the id "databse": did you mean database?'),
    ),
  ],
  [
    'two nodes of one object',
    updated,
    {
      outcome: rendered([], {
        nodes: [node('a', [], 'ConfigMap', 'same'), node('b', [], 'ConfigMap', 'same')],
      }),
    },
    'GraphInvalid',
    invalid(
      'Transform shop/shop: graph/nodes/1/object: ConfigMap shop/same is the object of node a too: one object has one node',
      cause(
        'graph/nodes/1/object',
        'ConfigMap shop/same is the object of node a too: one object has one node',
      ),
    ),
  ],
  [
    'an evaluation without end',
    updated,
    { outcome: { kind: 'TimedOut', deadlineMs: 500 } },
    'NotPreviewed',
    warned(
      'Transform shop/shop: nothing was previewed, since its evaluation takes more than 0.5 s. The reconciler decides: see its condition Ready.',
    ),
  ],
  [
    'an evaluation that grows',
    updated,
    { outcome: { kind: 'TooMuch', what: 'memory' } },
    'NotPreviewed',
    warned(
      'Transform shop/shop: nothing was previewed, since its evaluation makes too much memory. The reconciler decides: see its condition Ready.',
    ),
  ],
  [
    'an evaluator that is busy',
    updated,
    { outcome: { kind: 'Busy' } },
    'NotPreviewed',
    warned(
      'Transform shop/shop: nothing was previewed, since others are being evaluated. The reconciler decides: see its condition Ready.',
    ),
  ],
  [
    'an evaluator that there is not',
    updated,
    { outcome: { kind: 'EvaluatorUnavailable', message: 'the CUE evaluator cannot be used: no' } },
    'NotPreviewed',
    warned(
      'Transform shop/shop: nothing was previewed, since the CUE evaluator cannot be used: no. The reconciler decides: see its condition Ready.',
    ),
  ],
  [
    'one that is too large to be looked at',
    { ...updated, oversized: ['object', 'oldObject'] },
    { outcome: refused(['spec.input', 'no']) },
    'NotPreviewed',
    warned(
      'Transform shop/shop: nothing was previewed, since it has too many values to be looked at. The reconciler decides: see its condition Ready.',
    ),
  ],
  [
    'an object that leaves the graph',
    updated,
    { graphs: [graphWith('shop', [item('a'), item('b')])] },
    'Rendered',
    warned('Transform shop/shop: one object leaves its graph and is deleted: ConfigMap shop/b.'),
  ],
  [
    'many objects that leave the graph, dependents first',
    updated,
    {
      graphs: [
        graphWith('shop', [
          item('a'),
          ...many(7, (at) => item(`b${at}`, at > 0 ? { dependsOn: [`b${at - 1}`] } : {})),
        ]),
      ],
    },
    'Rendered',
    warned(
      'Transform shop/shop: 7 objects leave its graph and are deleted: ConfigMap shop/b6, ConfigMap shop/b5, ConfigMap shop/b4, ConfigMap shop/b3, ConfigMap shop/b2, and 2 more.',
    ),
  ],
  [
    'data that leaves the graph, and stays',
    updated,
    { graphs: [graphWith('shop', [item('data', { kind: 'PersistentVolumeClaim' })])] },
    'Rendered',
    ALLOWED,
  ],
  [
    'the graph of an earlier Transform of the name',
    { object: transform('shop', {}, { uid: 'another' }), oldObject: before },
    { graphs: [graphWith('shop', [item('a'), item('b')])] },
    'Rendered',
    ALLOWED,
  ],
  [
    'an object that is another Transform’s',
    created,
    { graphs: [graphWith('market', [item('a')])] },
    'Owned',
    {
      allowed: false,
      status: {
        code: 403,
        message:
          'Transform shop/shop would take what is another’s:\nConfigMap shop/a (node a) belongs to Transform shop/market\nName another object, or have the other Transform let it go first.',
        details: {
          causes: [
            cause(
              'graph.nodes[a].object',
              'ConfigMap shop/a (node a) belongs to Transform shop/market',
              'FieldValueForbidden',
            ),
          ],
        },
      },
    },
  ],
  ...[
    ['is its own, too', [graphWith('market', [item('a')]), graphWith('shop', [item('a')])]],
    [
      'another one never had',
      [
        graphWith(
          'market',
          [{ ...item('a', { state: 'Failed' }), uid: undefined }].map(
            ({ uid: _uid, ...rest }) => rest,
          ),
        ),
      ],
    ],
    [
      'another one lets go',
      [graphWith('market', [item('a', { removedAt: '2026-01-01T00:00:00Z' })])],
    ],
    [
      'was another one’s, which is going',
      [graphWith('market', [item('a')], { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ],
  ].map(([says, graphs]): (typeof verdicts)[number] => [
    `an object that ${says}`,
    created,
    { graphs: graphs as NonNullable<DoorOptions['graphs']> },
    'Rendered',
    ALLOWED,
  ]),
  [
    'objects of a kind that is not known yet: nobody knows what they are called',
    updated,
    {
      outcome: rendered([], { nodes: [node('a', [], 'Novelty')] }),
      graphs: [graphWith('shop', [item('b')])],
    },
    'Rendered',
    ALLOWED,
  ],
]

t.test('judges a Transform, and says why', async (t) => {
  for (const [says, asked, options, reason, response] of verdicts) {
    const { handler, counted } = doorWith(options)
    t.strictSame(await handler(requestOf(asked)), response, says)
    const { operation } = requestOf(asked)
    const verdict = response.allowed ? 'allowed' : 'denied'
    t.strictSame(counted, [{ kind: 'Transform', operation, verdict, reason }], says)
  }
})

t.test('asks for kinds that are not known', async (t) => {
  const outcome = rendered([], { nodes: [node('a', [], 'Novelty')] })
  const { handler, wanted } = doorWith({ outcome })
  await handler(requestOf(created))
  t.strictSame(wanted, ['Novelty'])
})

t.test('gives the evaluator the time that its author has', async (t) => {
  const seen: unknown[] = []
  const policies = moduleOf({ 'p.cue': 'package p' })
  const { handler } = doorWith({
    policies: () => ok(policies),
    evaluator: {
      evaluate: async (...all) => {
        seen.push(all)
        return rendered(['a'])
      },
    },
  })
  await handler(requestOf({ object: transform('shop', { input: { a: 1 } }) }))
  t.match(seen, [
    [
      { input: { a: 1 }, context: { name: 'shop', namespace: 'shop' }, policies },
      { deadlineMs: 500, waitMs: 250, turnOf: 'shop' },
    ],
  ])
})

t.test('no message and no cause is longer than anybody reads', async (t) => {
  const errors = many(40, (at): [string, string] => [`spec.input.${at}`, 'x'.repeat(9_000)])
  const answer = await doorWith({ outcome: refused(...errors) }).handler(requestOf(created))
  const { message = '', details } = answer.status ?? {}
  t.ok(message.length < 2_048)
  t.equal(details?.causes.length, 20)
  t.ok(details?.causes.every((one) => one.message.length <= 512))
})

t.test('tells a refusal once, and nothing of a dry run', async (t) => {
  const { handler, logged, counted } = doorWith({ outcome: refused(['spec.input.a', 'no']) })
  await handler(requestOf({ ...created, dryRun: true }))
  t.strictSame([logged, counted], [[], []])
  await handler(requestOf(created))
  await handler(requestOf({ ...created, uid: 'another' }))
  t.equal(counted.length, 2)
  t.strictSame(logged, [
    {
      uid: 'c0ffee',
      kind: 'Transform',
      namespace: 'shop',
      name: 'shop',
      operation: 'CREATE',
      verdict: 'denied',
      reason: 'InputInvalid',
      user: 'alice',
    },
  ])
})

t.test('answers at once where nothing has to be evaluated', (t) => {
  const { handler } = doorWith()
  t.notOk(handler(requestOf({ object: shop, oldObject: shop })) instanceof Promise)
  t.ok(handler(requestOf(created)) instanceof Promise)
  t.end()
})

t.test('lets what is not ours pass, and refuses what is no Transform', async (t) => {
  const { handler, counted } = doorWith({ outcome: refused(['spec.input', 'no']) })
  const pod = { group: '', version: 'v1', kind: 'Pod' }
  const other = { group: 'platform.pequod.io', version: 'v1alpha1', kind: 'Other' }
  const passing: readonly Asked[] = [
    { ...created, kind: pod },
    { ...created, kind: other },
    { ...created, subResource: 'status' },
    { ...created, operation: 'CONNECT' },
  ]
  for (const asked of passing) t.strictSame(await handler(requestOf(asked)), ALLOWED)
  t.strictSame(counted, [])
  const forged: readonly object[] = [
    { spec: {} },
    { spec: { cueRef: { type: 'inline', ref: 1 }, input: {} } },
    { spec: { cueRef: { type: 'inline', ref: 'package m' }, input: [] } },
    { spec: { cueRef: { type: 'inline', ref: 'package m' }, input: {}, policies: [null] } },
    { spec: null },
    { metadata: { name: 'another', namespace: 'shop' } },
  ]
  for (const more of forged) {
    const object = { ...shop, ...more }
    t.throws(() => handler({ ...requestOf(created), object }), { name: 'Refused' })
  }
})
