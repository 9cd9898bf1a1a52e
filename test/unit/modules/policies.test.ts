import t from 'tap'
import { evaluate, evaluatorOf, faultsOf, moduleOf, nodeWith, PROGRAM } from './evaluations.ts'

const REPLICAS = `policies: [
	if input.replicas < 2 {name: "replicas", severity: "Warning", path: "spec.input.replicas", message: "few"},
]`
const module = nodeWith('spec: replicas: input.replicas', REPLICAS)

const PLATFORM = moduleOf(`package platform
input: {...}
context: {...}
graph: nodes: [...]
policies: [for at, node in graph.nodes if node.object.spec.replicas > 3 {
	name:     "quota"
	severity: "Error"
	path:     "graph.nodes[\\(at)].object.spec.replicas"
	message:  "\\(input.replicas) replicas in \\(context.namespace)"
}]
overridable: ["replicas"]
`)

t.test('what stands in the list of the module, or of the platform, is violated', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const violationsWith = async (replicas: number) => {
    const outcome = await evaluate({ module, input: { replicas }, policies: PLATFORM })
    return outcome.kind === 'Rendered' ? [outcome.violations, outcome.overridable] : outcome
  }
  t.same(await violationsWith(2), [[], ['replicas']])
  const few = { name: 'replicas', severity: 'Warning', path: 'spec.input.replicas', message: 'few' }
  t.same(await violationsWith(1), [[{ ...few, source: 'module' }], ['replicas']])
  const quota = {
    name: 'quota',
    severity: 'Error',
    path: 'graph.nodes[0].object.spec.replicas',
    message: '4 replicas in web',
    source: 'platform',
  }
  t.same(await violationsWith(4), [[quota], ['replicas']])
})

t.test('a policy that cannot be decided does not pass for one that is kept', async (t) => {
  const undecided = nodeWith('', REPLICAS)
  t.same(faultsOf(await evaluate(t, { module: undecided })), [
    'evaluate policies: undefined field: replicas @ m.cue:3:11',
  ])
  t.same(faultsOf(await evaluate(t, { module: nodeWith(''), policies: PLATFORM })), [
    'policy policies: undefined field: spec @ m.cue:5:55',
  ])
})

t.test('policies that are wrong are the fault of whoever wrote them', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  for (const [text, fault] of [
    ['policies: {}', 'policy policies: is no list @ m.cue:2:1'],
    [
      'policies: [{name: "a", severity: "Fatal", message: "b"}]',
      /^policy policies\[0\].severity: conflicting values "Error" and "Fatal"; /,
    ],
    [
      'policies: [{name: "a", severity: "Error"}]',
      'policy policies[0].message: field is required but not present @ -',
    ],
    [
      'overridable: [1]',
      'policy overridable[0]: cannot use value 1 (type int) as string @ m.cue:2:15',
    ],
    ['policies: [', /^policy : expected '\]'/],
    ['input: 5', /^policy input: conflicting values/],
  ] as const) {
    const policies = moduleOf(`package platform\n${text}\n`)
    t.match(faultsOf(await evaluate({ module: nodeWith(''), policies })), [fault], text)
  }
})
