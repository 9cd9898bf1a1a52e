import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { graph, MODULE, SAMPLES, transformText } from './graph-command.ts'

const SHIPPED = join(SAMPLES, '../modules/webservice')
const inline = (input: object, more: object = {}) =>
  transformText({ cueRef: { type: 'inline', ref: MODULE }, input, ...more })

t.test('render prints the objects of a Transform, each in its namespace', async (t) => {
  const sample = join(SAMPLES, 'webservice.yaml')
  const { code, stdout, stderr } = graph(['render', sample, '-n', 'shop'])
  t.same([code, stderr], [0, ''])
  t.same(stdout.match(/^# .*$/gm), ['# deployment', '# service'])
  t.match(
    parseAllDocuments(stdout).map((document) => document.toJS()),
    [
      { kind: 'Deployment', metadata: { name: 'shop', namespace: 'shop' } },
      { kind: 'Service', metadata: { name: 'shop', namespace: 'shop' } },
    ],
  )
})

t.test('render -o json has the nodes and what is violated', async (t) => {
  const { code, stdout } = graph([
    'render',
    join(SAMPLES, 'webservice-violates.yaml'),
    '-o',
    'json',
  ])
  t.equal(code, 1)
  t.match(JSON.parse(stdout), {
    fault: {
      reason: 'PolicyViolated',
      causes: [{ field: 'spec.input.env.DATABASE_PASSWORD' }, {}],
    },
    violations: [{ severity: 'Warning' }, { severity: 'Error' }, { name: 'image-registry' }],
    nodes: [],
  })
})

t.test('an input that does not fit is refused, a line for each field', async (t) => {
  const cueRef = { type: 'embedded', ref: 'webservice' }
  const input = transformText({ cueRef, input: { image: 'nginx:1.29', replicas: -1, port: 0 } })
  const { code, stdout, stderr } = graph(['render', '-'], { input })
  t.same([code, stdout], [1, ''])
  const fields = stderr.match(/spec\.input\.\w+: /g)
  t.same(fields?.sort(), ['spec.input.port: ', 'spec.input.replicas: '])
})

t.test(
  'render takes the module of a folder, and that of a ConfigMap beside the Transform',
  async (t) => {
    const folder = t.testdir({ module: { 'm.cue': MODULE } })
    const byName = transformText({
      cueRef: { type: 'configmap', ref: 'greeting' },
      input: { text: 'hi' },
    })
    const unknown = graph(['render', '-'], { input: byName })
    t.equal(unknown.code, 2)
    t.match(unknown.stderr, /its module is in the ConfigMap greeting.*--module FOLDER/)
    const fromFolder = graph(['render', '-', '--module', join(folder, 'module')], { input: byName })
    t.match(fromFolder, { code: 0, stdout: /text: hi\n/ })
    const configMap = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'greeting' },
      data: { 'm.cue': MODULE },
    })
    const both = join(folder, 'both.yaml')
    writeFileSync(both, `${configMap}\n---\n${byName}`)
    t.same(graph(['render', both]).stdout, fromFolder.stdout)
  },
)

t.test('another policy package judges instead of the shipped one', async (t) => {
  const policies = `package policies
input: {...}
graph: {...}
policies: [if input.text == "never" {name: "polite", severity: "Error", path: "spec.input.text", message: "say yes"}]
overridable: ["polite"]
`
  const folder = t.testdir({ 'p.cue': policies })
  const render = (input: string) => graph(['render', '-', '--policies', folder], { input })
  t.match(render(inline({ text: 'never' })), {
    code: 1,
    stderr: /spec\.input\.text: say yes \(policy polite\)/,
  })
  const overridden = [{ name: 'polite', severity: 'Warning' }]
  t.match(render(inline({ text: 'never' }, { policies: overridden })), {
    code: 0,
    stderr: /say yes/,
  })
})

t.test('what cannot be rendered at all is told, and is no verdict', async (t) => {
  const text = inline({ text: 'hi' })
  const cases: readonly (readonly [args: readonly string[], options: object, stderr: RegExp])[] = [
    [['/nowhere.yaml'], {}, /cannot read \/nowhere\.yaml/],
    [['-'], { input: `${text}---\n${text}` }, /there are 2 Transforms in standard input/],
    [['-'], { input: 'apiVersion: v1\nkind: A\nmetadata: {name: a}' }, /there is no Transform in/],
    [['-'], { input: text, env: {} }, /there is no cue-evaluator: .*CUE_EVALUATOR/],
    [
      ['-', '--module', '/nowhere'],
      { input: text },
      /no such file or directory, scandir '\/nowhere'/,
    ],
    [
      ['-', '--cue-evaluator', '/bin/false'],
      { input: text },
      /cannot be used: it ended with exit code 1/,
    ],
  ]
  for (const [args, options, stderr] of cases) {
    const said = graph(['render', ...args], options)
    t.same([said.code, said.stdout], [2, ''])
    t.match(said.stderr, stderr)
  }
})

t.test('the shipped module renders from its folder as it does by its name', async (t) => {
  const input = readFileSync(join(SAMPLES, 'webservice.yaml'), 'utf8')
  const { stdout } = graph(['render', '-', '--module', SHIPPED], { input })
  t.equal(stdout, graph(['render', '-'], { input }).stdout)
})
