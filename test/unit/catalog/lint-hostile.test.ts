import fc from 'fast-check'
import t from 'tap'
import type { AssetEntry } from '../../../src/shared/baseline/catalog/catalog.ts'
import { lintTemplate } from '../../../src/shared/baseline/lint/lint-template.ts'
import { readTemplate } from '../../../src/shared/baseline/lint/template.ts'
import { compileTemplate } from '../../../src/shared/engine/render.ts'
import { growth } from '../growth.ts'
import { entry } from './linted.ts'

const asset = {
  ...entry({ pool: 'worker' }),
  files: ['active/a'],
  conditions: [],
  sections: [{ name: 'big', description: 'a reason', install: 'always', conditions: [] }],
  hcoFields: ['/a/b'],
  enums: { modes: '/spec/mode' },
  fields: {},
} as unknown as AssetEntry

const titled = { entry: asset, title: 'x', titleOf: (path: readonly string[]) => path.join('/') }
const lint = (text: string) => lintTemplate(titled, { file: 'x.ejs', text })

/** What templates are made of, and what could be taken for it. */
const PARTS = [
  ...['<%', '<%=', '<%-', '<%_', '<%#', '<%%', '%%>', '%>', '-%>', '_%>', '\n', '\r\n', '\t', ' '],
  ...['facts', 'object', 'file', 'optional', 'sections', '.hco', '.spec', '?.', "['a']", '`/a/${'],
  ...['const ', '{', '}', '(', ')', '[', ']', '=', '=>', ',', ';', '+', ':', '...', '/', '//', '#'],
  ...[
    '"',
    "'",
    '`',
    '\\',
    'x',
    '1',
    '---',
    '%YAML',
    'metadata:',
    'name: y',
    'namespace: ',
    'image',
  ],
  ...['openshift-cnv', 'quay.io/x:1', '@sha256:', 'a.io/worker', 'platform.kubevirt.io/mode:'],
  ...['function f', 'class C', 'import(', 'new.target', '#p', 'for (const y of ', 'case 1:', 'l: '],
]

t.test('no text makes the linter throw', async (t) => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...PARTS), { maxLength: 60 }).map((parts) => parts.join('')),
    fc
      .array(fc.constantFrom(...PARTS), { maxLength: 30 })
      .map((parts) => `<% ${parts.join(' ')} %>\n<%= facts.hco %>`),
  )
  fc.assert(
    fc.property(texts, (text) => {
      for (const line of lint(text)) {
        if (!/^(x\.ejs:\d+: |(files|enums|sections|hcoFields)\/\w+ )\S/.test(line))
          throw new Error(`not a mistake with its place: ${line}`)
      }
    }),
    { numRuns: 3_000 },
  )
  t.pass('3,000 texts')
})

const CODE = [
  ...['const a = 1', 'let b', 'if (x) {', '} else {', '}', 'for (const y of z) {', 'x;', ' // c'],
  ...['/* d', '*/', '`', '"%"', 'switch (x) {', 'case 1:', 'return', 'f(', ')', '=> {', '() => {'],
  ...[
    '[',
    ']',
    ',',
    '...x',
    'a, b',
    'function g() {',
    'class A {',
    'l:',
    'async () => await x',
    '',
  ],
]
const tag = fc
  .tuple(
    fc.constantFrom('<%', '<%=', '<%-', '<%_', '<%#'),
    fc.array(fc.constantFrom(...CODE), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('%>', '-%>', '_%>'),
  )
  .map(([open, code, close]) => `${open}${code.join(' ')}${close}`)

const isCompiled = (text: string) => {
  try {
    compileTemplate({ name: 'x.ejs', text })
    return true
  } catch {
    return false
  }
}

t.test('whatever can be compiled can be looked at', async (t) => {
  const parts = fc.oneof(tag, fc.constantFrom('\n', 'text', '<%%', '%%>', '  ', '%>'))
  let compiled = 0
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (template) => {
      const text = template.join('')
      if (!isCompiled(text)) return true
      compiled++
      return readTemplate(text).unread.length === 0
    }),
    { numRuns: 5_000 },
  )
  t.ok(compiled > 500, `${compiled} compiled`)
})

/** Texts that grow, each in a way that something could take for ever with. */
const shapes: Readonly<Record<string, (size: number) => string>> = {
  'lines of text': (size) => 'a: b c\n'.repeat(size),
  'one line': (size) => 'a.b-c/d '.repeat(size),
  'one word': (size) => 'a.b'.repeat(size),
  'one path': (size) => `a.io${'/b'.repeat(size)}`,
  spaces: (size) => `a:${' '.repeat(size)}x`,
  'lines of spaces': (size) => '       \n'.repeat(size),
  hashes: (size) => ' #'.repeat(size),
  braces: (size) => `metadata: ${'{a: [b, '.repeat(size)}`,
  'closed braces': (size) => `metadata: ${'{a: {} '.repeat(size)}`,
  'members of metadata': (size) => `metadata:\n${'  name: x\n'.repeat(size)}`,
  tags: (size) => '<%= object.name %>\n'.repeat(size),
  'tags without an end': (size) => '<%'.repeat(size),
  semicolons: (size) => `<%= 1${' ;'.repeat(size)} %>`,
  'a long chain': (size) => `<%= facts${'.hco'.repeat(size)} %>`,
  'a long sum': (size) => `<% const a = ${'x\n,'.repeat(size)}1 %>`,
  constants: (size) =>
    `<% ${Array.from({ length: size }, (_, n) => `const a${n} = ${n === 0 ? 'facts' : `a${n - 1}.hco`};`).join('\n')} %>`,
  'a wide pattern': (size) =>
    `<% const { ${Array.from({ length: size }, (_, n) => `a${n}`).join(', ')} } = facts %>`,
  'a long list': (size) => `<%= [${'facts.hco, '.repeat(size)}] %>`,
}

for (const [what, textOf] of Object.entries(shapes)) {
  t.test(`is linear in ${what}`, async (t) => {
    const ratio = growth(8_000, (size) => {
      const text = textOf(size)
      return () => lint(text)
    })
    t.ok(ratio < 3, `eight times as long takes ${(ratio * 8).toFixed(1)} times as much`)
  })
}
