import t from 'tap'
import { type Finding, FORMATS } from '../../../../src/cli/graph/offline/check.ts'
import { graph, MODULE, SAMPLES, transformText } from './graph-command.ts'

const inline = (input: object, metadata?: object) =>
  transformText({ cueRef: { type: 'inline', ref: MODULE }, input }, metadata)

t.test('check says of each Transform what becomes of it, a line for each cause', async (t) => {
  const { code, stdout, stderr } = graph(['check', SAMPLES])
  t.equal(code, 1)
  const file = `${SAMPLES}/webservice-violates.yaml:2: Transform default/leaky: `
  const lines = stdout.trimEnd().split('\n')
  t.equal(lines.length, 4)
  t.match(lines, [
    `${file}refused (PolicyViolated): spec.input.env.DATABASE_PASSWORD: a value that`,
    `${file}refused (PolicyViolated): graph.nodes[0].object.spec.template.spec.containers[0].image: `,
    `${file}warning: spec.input.replicas: one replica: `,
    `${SAMPLES}/webservice.yaml:2: Transform default/shop: accepted (Rendered)`,
  ])
  t.match(stderr, /Transforms: 2, of them refused: 1\n/)
})

t.test(
  'a Transform that the API server would not take is refused before it is rendered',
  async (t) => {
    const folder = t.testdir({
      'a.yaml': inline({ text: 'hi' }),
      'b.yaml': transformText(
        { cueRef: { type: 'oci', ref: 'x' }, inputs: {} },
        { name: 'b', namespace: 'web' },
      ),
      'note.txt': 'no manifest',
    })
    const { code, stdout } = graph(['check', folder, '-o', 'json'])
    t.equal(code, 1)
    t.match(JSON.parse(stdout).findings, [
      { object: 'Transform default/hello', verdict: 'accepted', line: 1, causes: [] },
      {
        object: 'Transform web/b',
        verdict: 'refused',
        reason: 'Invalid',
        causes: [
          { field: 'spec.input', message: 'is required' },
          { field: 'spec.inputs', message: /did you mean input\?/ },
          { field: 'spec.cueRef.type', message: /it is one of embedded, inline, configmap/ },
        ],
      },
    ])
  },
)

t.test('a module that is in the cluster is not rendered, and that is said', async (t) => {
  const input = transformText({ cueRef: { type: 'configmap', ref: 'web' }, input: {} })
  t.match(graph(['check', '-'], { input }), {
    code: 0,
    stdout:
      /accepted \(NotRendered\)\n.*: warning: its module is in the ConfigMap web, which is in none of the files/,
  })
})

t.test('a file that cannot be read is no answer, nor is one without Transforms', async (t) => {
  const folder = t.testdir({ 'a.yaml': inline({ text: 'hi' }), 'b.yaml': 'a: [' })
  const { code, stdout } = graph(['check', folder])
  t.equal(code, 2)
  t.match(stdout, /a\.yaml:1: Transform default\/hello: accepted/)
  t.match(stdout, /b\.yaml:\d+: unknown \(Unreadable\): cannot read /)
  t.match(graph(['check', '-'], { input: '' }), {
    code: 2,
    stderr: /Transforms: 0, of them refused: 0/,
  })
})

t.test('nothing in a finding begins another line, or acts on the terminal', async (t) => {
  const finding: Finding = {
    file: 'a\nb.yaml',
    line: 1,
    object: 'Transform a/b',
    verdict: 'refused',
    reason: 'InputInvalid',
    causes: [{ field: 'spec.input.x', message: '\u001b[2J\nforged' }],
    warnings: ['one\ntwo'],
    violations: [],
  }
  t.same(FORMATS.text([finding]).split('\n'), [
    'a\\u000ab.yaml:1: Transform a/b: refused (InputInvalid): spec.input.x: \\u001b[2J\\u000aforged',
    'a\\u000ab.yaml:1: Transform a/b: warning: one\\u000atwo',
    '',
  ])
})
