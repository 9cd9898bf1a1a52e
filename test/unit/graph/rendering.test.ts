import t from 'tap'
import { faultMessage, isStalled } from '../../../src/shared/graph/fault.ts'
import { type RenderingInput, renderingOf } from '../../../src/shared/graph/rendering.ts'
import type { Outcome, Rendered, Violation } from '../../../src/shared/modules/evaluation.ts'

const node = (id: string, { kind = 'ConfigMap', ...metadata }: Record<string, string> = {}) => ({
  id,
  object: { apiVersion: 'v1', kind, metadata: { name: id, ...metadata } },
})
const rendered = (rest: Partial<Rendered> = {}): Outcome => ({
  kind: 'Rendered',
  nodes: [node('one')],
  violations: [],
  overridable: [],
  ...rest,
})
const render = (outcome: Outcome, spec: RenderingInput['spec'] = {}) =>
  renderingOf({
    spec,
    namespace: 'shop',
    outcome,
    isClusterScoped: (_apiVersion, kind) => kind === 'Namespace',
  })
const violation = (rest: Partial<Violation> = {}): Violation => ({
  name: 'limits',
  severity: 'Error',
  path: 'graph.nodes[0]',
  message: 'says no limits',
  source: 'platform',
  ...rest,
})

t.test(
  'objects without a namespace get the Transform’s, and lose theirs where they are in none',
  (t) => {
    const { nodes } = render(
      rendered({
        nodes: [
          node('here'),
          node('there', { namespace: 'other' }),
          node('all', { kind: 'Namespace' }),
          node('placed', { kind: 'Namespace', namespace: 'other' }),
        ],
      }),
    )
    t.same(
      nodes?.map(({ object }) => object.metadata.namespace),
      ['shop', 'other', undefined, undefined],
    )
    t.end()
  },
)

t.test('a graph that is none says which node is wrong', (t) => {
  const { nodes, fault } = render(
    rendered({
      nodes: [
        { ...node('a'), dependsOn: ['b'] },
        { ...node('b'), dependsOn: ['a'] },
      ],
    }),
  )
  t.equal(nodes, undefined)
  t.equal(fault?.reason, 'GraphInvalid')
  t.match(fault && faultMessage(fault), /a → b → a/)
  t.end()
})

t.test('violations', (t) => {
  const limits = violation()
  const rows: readonly {
    readonly what: string
    readonly violations: readonly Violation[]
    readonly overridable?: readonly string[]
    readonly policies?: RenderingInput['spec']['policies']
    readonly message?: RegExp
  }[] = [
    {
      what: 'of severity Error deny',
      violations: [limits],
      message: /says no limits \(policy limits\)/,
    },
    { what: 'of severity Warning do not', violations: [violation({ severity: 'Warning' })] },
    {
      what: 'are lowered where the platform lets them be',
      violations: [limits],
      overridable: ['limits'],
      policies: [{ name: 'limits', severity: 'Warning' }],
    },
    {
      what: 'are not lowered where it does not',
      violations: [limits],
      overridable: ['other'],
      policies: [{ name: 'limits', severity: 'Warning' }],
      message: /the platform does not let limits be overridden: only other/,
    },
    {
      what: 'of a module are its own matter',
      violations: [violation({ source: 'module' })],
      overridable: ['limits'],
      policies: [{ name: 'limits', severity: 'Info' }],
      message: /says no limits/,
    },
  ]
  for (const { what, violations, overridable = [], policies, message } of rows) {
    const spec = policies ? { policies } : {}
    const { fault, nodes, violations: told } = render(rendered({ violations, overridable }), spec)
    t.equal(told.length, 1, what)
    if (message) t.match(fault && faultMessage(fault), message, what)
    else t.equal(nodes?.length, 1, what)
  }
  t.end()
})

t.test('what came of an evaluation', (t) => {
  const rows: readonly (readonly [Outcome, string, RegExp, boolean])[] = [
    [
      {
        kind: 'Refused',
        errors: [
          {
            code: 'input',
            path: 'spec.input.replicas',
            message: 'invalid value 0',
            position: 'm.cue:1:2',
          },
        ],
      },
      'InputInvalid',
      /^spec\.input\.replicas: invalid value 0 \(module m\.cue:1:2\)$/,
      true,
    ],
    [
      { kind: 'Refused', errors: [{ code: 'load', path: '', message: 'expected label' }] },
      'ModuleInvalid',
      /^expected label$/,
      true,
    ],
    [{ kind: 'TimedOut', deadlineMs: 500 }, 'EvaluationTooCostly', /more than 0\.5 s/, true],
    [
      { kind: 'TooMuch', what: 'memory' },
      'EvaluationTooCostly',
      /takes more memory than it may have/,
      true,
    ],
    [{ kind: 'Busy' }, 'EvaluatorUnavailable', /trying again/, false],
    [
      { kind: 'EvaluatorUnavailable', message: 'no program' },
      'EvaluatorUnavailable',
      /no program; what was applied before stays/,
      false,
    ],
  ]
  for (const [outcome, reason, message, stalled] of rows) {
    const { fault } = render(outcome)
    t.equal(fault?.reason, reason)
    t.match(fault && faultMessage(fault), message)
    t.equal(fault && isStalled(fault), stalled, reason)
  }
  t.end()
})

t.test('of many causes some are told, and how many there are besides', (t) => {
  const errors = Array.from({ length: 9 }, (_, index) => ({
    code: 'input' as const,
    path: `spec.input.a${index}`,
    message: 'wrong',
  }))
  const { fault } = render({ kind: 'Refused', errors })
  t.match(fault && faultMessage(fault), /spec\.input\.a4: wrong; and 4 more$/)
  t.end()
})
