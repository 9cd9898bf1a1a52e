import fc from 'fast-check'
import t from 'tap'
import {
  compileTemplate,
  RenderError,
  type TemplateLocals,
} from '../../../src/shared/engine/render.ts'

const NAME = 'assets/x.yaml.ejs'

const LOCALS: TemplateLocals = {
  facts: {
    hco: {
      spec: {
        quota: 5,
        ratio: 0.5,
        on: true,
        note: 'say "hi"\nspec:\n  evil: true',
        nothing: null,
      },
    },
    nodes: [
      { name: 'n1', labels: { 'a/b': 'x' } },
      { name: 'n2', labels: {} },
    ],
  },
  object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'x' },
  pool: 'worker',
  enums: { profile: ['New', 'Old'] },
  fields: { perses: false },
  sections: { numa: true },
  file: (name) => {
    if (name === 'swap.sh') return '#!/bin/sh\necho "swäp"\n'
    throw new Error(`no file ${name}`)
  },
}

const HEADER = `apiVersion: v1
kind: ConfigMap
metadata:
  name: x
  namespace: ns
`

const render = (text: string, locals = LOCALS) => compileTemplate({ name: NAME, text })(locals)

const dataOf = (text: string, locals = LOCALS) => render(`${HEADER}data:${text}\n`, locals)?.data

const mistakeIn = (text: string, locals = LOCALS) => {
  try {
    return render(text, locals)?.kind ?? 'nothing'
  } catch (error) {
    return error instanceof RenderError && error.name === 'RenderError' ? error.message : error
  }
}

t.test('renders one object', async (t) => {
  const text = `<%# why %>
apiVersion: <%= object.apiVersion %>
kind: <%= object.kind %>
metadata:
  name: <%= object.name %>
  namespace: <%= object.namespace %>
<%_ if (facts.hco.spec.on) { -%>
data:
  <%_ for (const { name } of facts.nodes) { -%>
  <%= name %>: "yes"
  <%_ } -%>
<%_ } -%>
`
  t.strictSame(render(text), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', namespace: 'ns' },
    data: { n1: 'yes', n2: 'yes' },
  })
})

t.test('renders an object without a namespace', async (t) => {
  const object = { apiVersion: 'v1', kind: 'Namespace', name: 'x' }
  const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n'
  t.match(render(text, { ...LOCALS, object }), { kind: 'Namespace' })
  const namespaced = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: ns}\n'
  const mistake = `${NAME}: its output is v1 Namespace ns x, but the catalog says v1 Namespace x`
  t.equal(mistakeIn(namespaced, { ...LOCALS, object }), mistake)
})

t.test('renders nothing where nothing is printed', async (t) => {
  const texts = [
    '',
    ' \n\t\n',
    '# only a comment\n',
    '<%_ if (!facts.hco.spec.on) { -%>\na: 1\n<%_ } -%>\n',
  ]
  for (const text of texts) t.equal(render(text), undefined, JSON.stringify(text))
})

t.test('prints every scalar as itself', async (t) => {
  const vectors: [text: string, value: unknown][] = [
    ['<%= facts.hco.spec.quota %>', 5],
    ['<%= facts.hco.spec.ratio %>', 0.5],
    ['<%= facts.hco.spec.on %>', true],
    ['<%= facts.hco.spec.note %>', 'say "hi"\nspec:\n  evil: true'],
    ['<%= "a && <b>" %>', 'a && <b>'],
    ['<%= "0644" %>', '0644'],
    ['<%= "" %>', ''],
    ['<%= facts.nodes.length %>', 2],
    ['<%= facts.nodes.map(({ name }) => name).join() %>', 'n1,n2'],
    ['<%= facts.nodes[0].labels["a/b"] %>', 'x'],
    ['<%= enums.profile.find((value) => value !== "New") %>', 'Old'],
    ['<%= facts.hco === facts.hco %>', true],
    ['<%= [...facts.nodes].length %>', 2],
    ['<%= JSON.stringify(facts.nodes[1]) %>', '{"name":"n2","labels":{}}'],
    ['<%= Object.keys(facts.hco).join() %>', 'spec'],
    ['<%= base64("swäp €") %>', 'c3fDpHAg4oKs'],
    ['<%= base64(file("swap.sh")) %>', 'IyEvYmluL3NoCmVjaG8gInN3w6RwIgo='],
    ['<%= optional(facts, "/hco/spec/quota", 1) %>', 5],
    ['<%= optional(facts, "/hco/spec/missing", "none") %>', 'none'],
    ['<%= optional(facts, "/hco/spec/nothing", "none") %>', 'none'],
    ['<%= optional(facts, "/hco/spec/toString", "none") %>', 'none'],
    ['<%= optional(facts, "/hco/spec/quota/deeper", "none") %>', 'none'],
    ['<%= optional(facts, "/nodes/1/name", "none") %>', 'n2'],
    ['<%= optional(facts, "/nodes/2/name", "none") %>', 'none'],
    ['<%= optional(undefined, "/x", "none") %>', 'none'],
  ]
  for (const [text, value] of vectors) t.strictSame(dataOf(` {v: ${text}}`), { v: value }, text)
})

t.test('prints any string so that it is read back', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (note) => {
      const data = dataOf('\n  v: <%= facts.note %>\n  w: 1', { ...LOCALS, facts: { note } })
      return JSON.stringify(data) === JSON.stringify({ v: note, w: 1 })
    }),
  )
})

t.test('writes any value as YAML so that it is read back', async () => {
  const strings = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'on',
      'y',
      'No',
      '0644',
      '0o17',
      '+07',
      '0_',
      '1e3',
      'null',
      '~',
      '',
      '2024-01-01',
      '1:30',
    ),
    fc.constantFrom(
      'a\nb',
      'a\n\n',
      '\n',
      ' a ',
      'a: b',
      '- a',
      '# a',
      '&a',
      '*a',
      '!a',
      '%a',
      '<<',
      '---',
    ),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(
        strings,
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
        fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        strings.filter((name) => name !== '__proto__'),
        tie('value'),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ),
  }))
  fc.assert(
    fc.property(fc.array(value), (v) => {
      const data = dataOf('\n  v:<%- toYaml(facts.v, 4) %>\n  w: 1', { ...LOCALS, facts: { v } })
      return JSON.stringify(data) === JSON.stringify({ v, w: 1 })
    }),
  )
})

t.test('writes block text on lines of its own', async (t) => {
  const facts = { map: { a: [1, { b: 'x\ny' }], c: {} }, list: [], text: 'on' }
  const vectors: [text: string, value: unknown][] = [
    ['<%- toYaml(facts.map, 2) %>', facts.map],
    ['\n  list:<%- toYaml(facts.list, 4) %>\n  x: 1', { list: [], x: 1 }],
    ['\n  text:<%- toYaml(facts.text, 4) %>', { text: 'on' }],
    ['<%- toYaml(facts, 1) %>', facts],
  ]
  for (const [text, value] of vectors) t.strictSame(dataOf(text, { ...LOCALS, facts }), value, text)
})

t.test('names the value that is not set, the file and the line', async (t) => {
  const vectors: [text: string, message: string][] = [
    ['\n\na: <%= facts.hco.spec.foo %>', ':3: value facts.hco.spec.foo is not set'],
    ['<% if (facts.foo) { %>x<% } %>', ':1: value facts.foo is not set'],
    ['a: <%= facts.nodes[2].name %>', ':1: value facts.nodes[2] is not set'],
    ['\n<%= facts.nodes[0].labels["a/c"] %>', ':2: value facts.nodes[0].labels["a/c"] is not set'],
    ['<%= facts.hco.toString() %>', ':1: value facts.hco.toString is not set'],
    ['<%= facts.hco.constructor %>', ':1: value facts.hco.constructor is not set'],
    ['<%= enums.mode[0] %>', ':1: value enums.mode is not set'],
    ['<%= object.uid %>', ':1: value object.uid is not set'],
    ['<%- toYaml(facts.hco.extra, 2) %>', ':1: value facts.hco.extra is not set'],
    [
      '<% for (const { nam } of facts.nodes) { %><% } %>',
      ':1: value facts.nodes[0].nam is not set',
    ],
    ['<%- facts.hco %>', ':1: value facts.hco is not a scalar'],
    ['<%- facts.nodes %>', ':1: value facts.nodes is not a scalar'],
    ['\n<%= optional(facts, "/hco", {}).foo %>', ':2: value facts.hco.foo is not set'],
  ]
  for (const [text, message] of vectors) t.equal(mistakeIn(text), `${NAME}${message}`, text)
  const facts = { unset: undefined }
  t.match(mistakeIn('<%= facts.unset %>', { ...LOCALS, facts }), /facts\.unset is not set/)
})

t.test('prints nothing but scalars', async (t) => {
  const only = ':1: only strings, numbers and booleans can be printed, not '
  const vectors: [text: string, message: string][] = [
    ['<%= facts.hco %>', `${only}object`],
    ['<%= facts.nodes %>', `${only}object`],
    ['<%= undefined %>', `${only}undefined`],
    ['<%= facts.hco.spec.nothing %>', `${only}null`],
    ['<%= Number.NaN %>', `${only}number`],
    ['<%= 1 / 0 %>', `${only}number`],
    ['<%= 10n %>', `${only}bigint`],
    ['<%= file %>', `${only}function`],
    ['<%- toYaml(null, 2) %>', ':1: toYaml() takes a value'],
    ['<%- toYaml(undefined, 2) %>', ':1: toYaml() takes a value'],
    ['<%= base64(undefined) %>', ':1: base64() takes a string'],
  ]
  for (const [text, message] of vectors) t.equal(mistakeIn(text), `${NAME}${message}`, text)
})

t.test('reports mistakes in the template', async (t) => {
  const vectors: [text: string, message: string][] = [
    ['\n<%= nowhere %>', ':2: nowhere is not defined'],
    ['<% undeclared = 1 %>', ':1: undeclared is not defined'],
    ['<%= file("other.sh") %>', ':1: no file other.sh'],
    ['\n\n<%- include("/etc/passwd") %>', ':3: a template includes no other: use file()'],
    ['<%- include("x.ejs", {}) %>', ':1: a template includes no other: use file()'],
    ['<% throw new Error("a\\n\\nb") %>', ':1: a\n\nb'],
    ['<% throw "text" %>', ": Cannot create property 'path' on string 'text'"],
    ['<% throw { message: "odd" } %>', ':1: odd'],
    ['<% throw null %>', ": Cannot set properties of null (setting 'path')"],
    ['<% if ( %>', ": Unexpected token 'return'"],
    ['<% with (facts) { %><% } %>', ': Strict mode code may not include a with statement'],
    ['<%= 1', ': Could not find matching close tag for "<%=".'],
  ]
  for (const [text, message] of vectors) t.equal(mistakeIn(text), `${NAME}${message}`, text)
})

t.test('finds a syntax error when the template is compiled', async (t) => {
  t.throws(() => compileTemplate({ name: NAME, text: '<% } %>' }), RenderError)
})

t.test('takes nothing but strict YAML', async (t) => {
  const line = (number: number) => `: line ${number} of its output: `
  const differently =
    ' is read differently by other YAML readers: quote it, or write a decimal number'
  const vectors: [text: string, message: string][] = [
    ['a: 1\nb: 2\na: 3', `${line(3)}Map keys must be unique`],
    ['a: !custom 1', `${line(1)}Unresolved tag: !custom`],
    ['a: !!binary aGk=', `${line(1)}Unresolved tag: tag:yaml.org,2002:binary`],
    ['a: !!timestamp 2024-01-01', `${line(1)}Unresolved tag: tag:yaml.org,2002:timestamp`],
    ['a: 1\n---\nb: 1', `${line(2)}a second document`],
    ['%YAML 1.1\n---\na: 2024-01-01', ': a %YAML directive'],
    ['a: &x 1\nb: *x', `${line(2)}an alias: write the value itself`],
    ['a:\n\t- 1', `${line(2)}Tabs are not allowed as indentation`],
    ['a: "open', `${line(1)}Missing closing "quote`],
    ['1: a', `${line(1)}a name is a string: quote it`],
    ['true: a', `${line(1)}a name is a string: quote it`],
    [': a', `${line(1)}a name is a string: quote it`],
    ['{a: 1}: b', `${line(1)}a name is a string: quote it`],
    ['a:\n  b: .nan', `${line(2)}a number that JSON cannot hold exactly`],
    ['a: [-.inf]', `${line(1)}a number that JSON cannot hold exactly`],
    ['a: 9007199254740993', `${line(1)}a number that JSON cannot hold exactly`],
    ...[
      'y',
      'N',
      'yes',
      'No',
      'YES',
      'on',
      'Off',
      'OFF',
      '0644',
      '-07',
      '0o644',
      '00',
      '0_1',
    ].flatMap((source): [string, string][] => [
      [`a:\n  b: ${source}`, `${line(2)}${source}${differently}`],
      [`a: [1,\n ${source}]`, `${line(2)}${source}${differently}`],
      [`a:\n  ${source}: 1`, `${line(2)}${source}${differently}`],
    ]),
  ]
  for (const [text, message] of vectors) t.match(mistakeIn(text), `${NAME}${message}`, text)
})

t.test('takes what is quoted, and plain words that only look similar', async (t) => {
  const text =
    '\n  a: "yes"\n  b: \'0644\'\n  c: |\n    on\n  d: yess\n  e: 0.5\n  f: 0\n  "y": 10:30'
  const data = { a: 'yes', b: '0644', c: 'on\n', d: 'yess', e: 0.5, f: 0, y: '10:30' }
  t.strictSame(dataOf(text), data)
})

t.test('takes no other object than the one that the catalog says', async (t) => {
  const says = 'but the catalog says v1 ConfigMap ns x'
  const not = ': its output is not a Kubernetes object'
  const vectors: [from: string, to: string, message: string][] = [
    ['name: x', 'name: z', `: its output is v1 ConfigMap ns z, ${says}`],
    ['namespace: ns', 'namespace: other', `: its output is v1 ConfigMap other x, ${says}`],
    ['namespace: ns', 'labels: {}', `: its output is v1 ConfigMap x, ${says}`],
    ['ConfigMap', 'Secret', `: its output is v1 Secret ns x, ${says}`],
    ['v1', 'v2', `: its output is v2 ConfigMap ns x, ${says}`],
    ['name: x', 'generateName: x', not],
    ['name: x', 'name: 5', not],
    ['kind: ConfigMap\n', '', not],
  ]
  for (const [from, to, message] of vectors) {
    t.equal(mistakeIn(HEADER.replace(from, to)), `${NAME}${message}`, to)
  }
  for (const text of ['- a', '"text"', '5', 'null', '---\n']) {
    t.equal(mistakeIn(text), `${NAME}${not}`, text)
  }
})

t.test('changes nothing that it is given, frozen or not', async (t) => {
  const facts = Object.freeze({ list: Object.freeze([Object.freeze({ a: 1 })]) })
  const text = ' {v: <%= facts.list[0].a %>, w: <%= (facts.list[0] = 5) %>}'
  t.strictSame(dataOf(text, { ...LOCALS, facts }), { v: 1, w: 5 })
  t.strictSame(dataOf(text, { ...LOCALS, facts }), { v: 1, w: 5 }, 'each render starts anew')
  t.strictSame(facts, { list: [{ a: 1 }] })
})

t.test('throws nothing but a RenderError, whatever the template', async () => {
  const pieces = fc.constantFrom(
    '<%= ',
    '<%- ',
    '<% ',
    ' %>',
    ' -%>',
    'facts',
    '.hco',
    '.spec',
    '[0]',
    '(',
    ')',
    '\n',
    'a: ',
    '- ',
    '{',
    '}',
    '"',
    HEADER,
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const mistake = mistakeIn(parts.join(''))
      return typeof mistake === 'string'
    }),
  )
})
