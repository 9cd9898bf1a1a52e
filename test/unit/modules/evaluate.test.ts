import t from 'tap'
import { evaluate, evaluatorOf, faultsOf, moduleOf, nodeWith, PROGRAM } from './evaluations.ts'

const WEB = `package web

import "strings"

#Port: int & >0 & <=65535
#Input: {
	name!:    =~"^[a-z]+$"
	kind:     *"web" | "batch"
	replicas: int & >=1 | *2
	ports: [...#Port]
	env: [string]: string
}
input: #Input
context: {name: string, namespace: string}
graph: nodes: [{
	id: "a"
	object: {
		apiVersion: "v1"
		kind:       "A"
		metadata: name: context.name
		spec: {replicas: input.replicas, title: strings.ToUpper(input.name), env: input.env, kind: input.kind}
	}
}]
policies: [if input.replicas < 2 {name: "replicas", severity: "Warning", path: "spec.input.replicas", message: "few"}]
`

t.test('input and context are filled in, and defaults are of the schema', async (t) => {
  const input = { name: 'shop', env: { B: '1', A: '2' } }
  t.same(await evaluate(t, { module: moduleOf(WEB), input }), {
    kind: 'Rendered',
    nodes: [
      {
        id: 'a',
        object: {
          apiVersion: 'v1',
          kind: 'A',
          metadata: { name: 'shop' },
          spec: { replicas: 2, title: 'SHOP', env: { A: '2', B: '1' }, kind: 'web' },
        },
      },
    ],
    violations: [],
    overridable: [],
  })
})

t.test('each field that does not fit the schema is told once, with its place', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const faults = async (input: Record<string, unknown>) =>
    faultsOf(await evaluate({ module: moduleOf(WEB), input }))
  t.same(
    await faults({ name: 'A', kind: 'x', replicas: 0, ports: [80, 70_000], env: { 'a-b': 1 } }),
    [
      'input spec.input.env[a-b]: conflicting values 1 and string (mismatched types int and string) @ m.cue:11:17',
      'input spec.input.kind: conflicting values "batch" and "x"; conflicting values "web" and "x" @ m.cue:8:21',
      'input spec.input.name: invalid value "A" (out of bound =~"^[a-z]+$") @ m.cue:7:12',
      'input spec.input.ports[1]: invalid value 70000 (out of bound <=65535) @ m.cue:5:19',
      'input spec.input.replicas: invalid value 0 (out of bound >=1) @ m.cue:9:18',
    ],
  )
  t.same(await faults({}), ['input spec.input.name: field is required but not present @ m.cue:7:2'])
  t.same(await faults({ name: 'a', nope: 1 }), ['input spec.input.nope: field not allowed @ -'])
  t.same(await faults({ name: 'a', replicas: '2' }), [
    'input spec.input.replicas: conflicting values "2" and int (mismatched types string and int) @ m.cue:9:12',
  ])
})

t.test('what is wrong with a module is told with its place', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const faults = async (text: string) =>
    faultsOf(await evaluate({ module: moduleOf(text), input: { name: 'shop' } }))
  for (const [more, fault] of [
    ['a: {', "load : expected '}', found 'EOF' @ m.cue:25:6"],
    ['a: b', 'evaluate a: reference "b" not found @ m.cue:25:4'],
    ['a: 1\na: 2', 'evaluate a: conflicting values 2 and 1 @ m.cue:25:4'],
    [
      '_ok: true & input.replicas > 5',
      'evaluate _ok: conflicting values false and true @ m.cue:25:6',
    ],
    [
      'context: name: "x"',
      'evaluate context.name: conflicting values "shop" and "x" @ m.cue:25:16',
    ],
    [
      'a: strings.Repeat("x", -1)',
      'evaluate a: error in call to strings.Repeat: negative count @ m.cue:25:4',
    ],
  ] as const)
    t.same(await faults(`${WEB}${more}\n`), [fault], more)
  for (const [from, to, fault] of [
    ['graph:', 'graf:', 'evaluate : the package has no graph: nodes @ -'],
    ['#Input: {', '#Schema: {', 'evaluate input: reference "#Input" not found @ m.cue:13:8'],
    ['"A"', 'string', 'evaluate graph.nodes[0].object.kind: incomplete value string @ m.cue:19:15'],
    [
      '"A"',
      '""',
      'evaluate graph.nodes[0].object.kind: invalid value "" (out of bound !="") @ m.cue:19:15',
    ],
    ['id: ', 'it: ', 'evaluate graph.nodes[0].id: field is required but not present @ -'],
    ['nodes: [{', 'nodes: [...]\nother: [{', ''],
    [
      'nodes: [{',
      'nodes: [for x in input.list {x}]\nother: [{',
      'evaluate graph.nodes: undefined field: list @ m.cue:15:31',
    ],
    [
      'nodes: [{',
      'nodes: [if input.list != "" {}]\nother: [{',
      'evaluate graph.nodes: undefined field: list @ m.cue:15:25',
    ],
  ] as const)
    t.same(await faults(WEB.replace(from, to)), [fault || 'Rendered'], to)
  t.same(await faults('package m\n#Input: {...}\ngraph: nodes: {}'), [
    'evaluate graph.nodes: is no list @ m.cue:3:8',
  ])
  t.same(await faults('package m\n#Input: {}\n@if(a)\na: 1 @tag(a)\n'), [
    'load : the attribute @if has no place in a module @ m.cue:3:1',
    'load : the attribute @tag has no place in a module @ m.cue:4:6',
  ])
  t.same(await faults('package m\ngraph: nodes: []'), ['load : the package has no #Input @ -'])
})

t.test('nothing outside of the files can be named', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const MINE = 'it may import its own packages alone'
  for (const [text, fault] of [
    ['import "tool/exec"', '"tool/exec" may not be imported @ m.cue:2:8'],
    ['import f "tool/file:file"', '"tool/file:file" may not be imported @ m.cue:2:8'],
    ['import "tool/http"', '"tool/http" may not be imported @ m.cue:2:8'],
    ['import "tool/os"', '"tool/os" may not be imported @ m.cue:2:8'],
    [
      'import "example.com/x"',
      `import failed: "example.com/x" is not of this module: ${MINE} @ m.cue:2:8`,
    ],
    ['a: string @tag(a)', 'the attribute @tag has no place in a module @ m.cue:2:11'],
    ['@if(a)', 'the attribute @if has no place in a module @ m.cue:2:1'],
    [
      'a: _ @embed(file="/etc/passwd",type=text)',
      'the attribute @embed has no place in a module @ m.cue:2:6',
    ],
    ['@extern(embed)', 'the attribute @extern has no place in a module @ m.cue:2:1'],
  ] as const)
    t.same(
      faultsOf(await evaluate({ module: moduleOf(`package m\n${text}\n#Input: {}\n`) })),
      [`load : ${fault}`],
      text,
    )
  const manifest = 'module: "example.com/m"\nlanguage: version: "v0.17.0"\n'
  const depending = `${manifest}deps: "example.com/x@v0": v: "v0.1.0"\n`
  const files = { 'm.cue': 'package m\n', 'cue.mod/module.cue': depending }
  t.same(faultsOf(await evaluate({ module: moduleOf(files) })), [
    'load : cue.mod/module.cue: a module has no dependencies here @ -',
  ])
})

t.test('a package may import others of its module, wherever in the files that is', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM })
  const files = {
    'a/cue.mod/module.cue': 'module: "example.com/m"\nlanguage: version: "v0.17.0"\n',
    'a/web/web.cue': `package web
import "example.com/m/names"
#Input: {}
graph: nodes: [{id: names.id, object: {apiVersion: "v1", kind: "A", metadata: name: above}}]`,
    'a/above.cue': 'package web\nabove: "above"',
    'a/names/names.cue': 'package names\nid: "named"',
    'a/web/web_tool.cue': 'package web\nimport "tool/exec"\ncommand: exec.Run',
    'b/broken.cue': 'package {',
  }
  const outcome = await evaluate({ module: moduleOf(files, 'a/web') })
  t.match(outcome, { nodes: [{ id: 'named', object: { metadata: { name: 'above' } } }] })
  const cycle = { ...files, 'a/names/names.cue': 'package names\nimport "example.com/m/names"' }
  t.match(faultsOf(await evaluate({ module: moduleOf(cycle, 'a/web') })), [/import cycle/])
  t.match(faultsOf(await evaluate({ module: moduleOf(files, 'c') })), [/no CUE package .*in c/])
})

t.test('a text needs to name no package', async (t) => {
  const text = '#Input: {}\ngraph: nodes: []'
  t.match(await evaluate(t, { module: moduleOf(text) }), { kind: 'Rendered', nodes: [] })
})

t.test('equal input gives equal bytes, however its maps are ordered', async (t) => {
  const { evaluate } = evaluatorOf(t, { program: PROGRAM, memoryBytes: 1 })
  const module = nodeWith('spec: {all: [for k, v in input.m {"\\(k)=\\(v)"}]}')
  const one = await evaluate({ module, input: { m: { b: 1, a: 2, c: 3 } } })
  const other = await evaluate({ module, input: { m: { c: 3, b: 1, a: 2 } } })
  t.match(one, { nodes: [{ object: { spec: { all: ['a=2', 'b=1', 'c=3'] } } }] })
  t.equal(JSON.stringify(one), JSON.stringify(other))
  const wrong = moduleOf(WEB)
  const input = { name: 'A', kind: 'x', replicas: 0, ports: [0, 70_000], env: { A: 1, B: 2 } }
  const answers = [1, 2, 3].map(() => evaluate({ module: wrong, input }))
  t.equal(new Set((await Promise.all(answers)).map((answer) => JSON.stringify(answer))).size, 1)
})
