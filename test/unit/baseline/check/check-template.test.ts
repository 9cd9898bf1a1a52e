import t from 'tap'
import { loadCatalog } from '../../../../src/shared/baseline/catalog/load-catalog.ts'
import { TOPOLOGY_FIELDS } from '../../../../src/shared/baseline/facts/facts.ts'
import { readAsset } from '../facts.ts'
import { entry, HEAD, mistakesIn, mistakesInTemplate } from './checked.ts'

const NAMED = { group: 'x.io', versions: ['v1'], kind: 'Thing', resource: 'things', name: 'one' }
const FILE = 'active/one.yaml.ejs'
const LINES = HEAD.split('\n').length

type Members = Readonly<Record<string, unknown>>

/** A template after the head, on line 5, and all that is wrong with it. */
type Case = readonly [what: string, text: string, mistakes: readonly string[], members?: Members]

const found = (message: string, when: string) => `${FILE}${message} (rendered ${when})`
const at = (message: string, line = LINES) => `${FILE}:${line}: ${message}`
const of = (message: string) => `${FILE}: ${message}`

const section = (conditions: readonly object[] = []) => ({
  sections: [{ name: 'big', description: 'a reason', install: 'always', conditions }],
})
const ALONE =
  'is not for templates, whose output depends on facts, object, pool, enums, fields, sections, file, base64, optional, toYaml alone'
const HARDWARE =
  'pciDevicesPresent, amd64PciDevicesOnWorkers, amd64PciDevicesOnMasters, numaNodesPresent, gpuPresent'

const cases: Readonly<Record<string, readonly Case[]>> = {
  'reads of what a template is given': [
    ['a fact', 'a: <%= facts.hardware.gpuPresent %>', []],
    ['a fact in brackets', "a: <%= facts['topology'][`provider`] %>", []],
    ['what is within a value', "a: <%= facts.hco.apiVersion.endsWith('/v1') %>", []],
    [
      'a fact that is none',
      'a: <%= facts.nodes.length %>',
      [at('value facts.nodes is not set: facts has only hco, hardware, topology, images')],
    ],
    [
      'a detector that is none, where a section applies',
      "<% if (sections.big) { %>\na: <%= facts.hardware['gpus'] %>\n<% } %>",
      [
        found(
          `:${LINES + 1}: value facts.hardware.gpus is not set: facts.hardware has only ${HARDWARE}`,
          'where every fact holds',
        ),
      ],
      section(),
    ],
    [
      'a shape that is none, where a fact holds and another does not',
      '<% if (facts.hardware.gpuPresent && !facts.topology.compact) { %>\na: <%= facts.topology.small %>\n<% } %>',
      [
        found(
          `:${LINES + 1}: value facts.topology.small is not set: facts.topology has only ${TOPOLOGY_FIELDS.join(', ')}, provider, remediationNamespace`,
          'where gpuPresent holds alone',
        ),
      ],
    ],
    [
      'more of the object than is given',
      'a: <%= object.labels %>',
      [at('value object.labels is not set: object has only apiVersion, kind, name')],
    ],
    [
      'a namespace that the object has not',
      'a: <%= object.namespace %>',
      [at('value object.namespace is not set: the object of the asset has no namespace')],
    ],
    [
      'the namespace that it has',
      '  namespace: <%= object.namespace %>',
      [],
      { object: { ...NAMED, namespace: 'x' } },
    ],
    ['what nobody has declared', 'a: <%= gpus %>', [at('gpus is not defined')]],
    [
      'another version of the object',
      "a: <%= object.apiVersion === 'x.io/v1' || facts.old %>",
      [
        found(
          `:${LINES}: value facts.old is not set: facts has only hco, hardware, topology, images`,
          'where no fact holds',
        ),
      ],
      { object: { ...NAMED, versions: ['v1', 'v1beta1'] } },
    ],
  ],
  'annotations and images, which may not be set': [
    [
      'read outright',
      "a: <%= facts.hco.annotations['vm-size'].trim() %>",
      [
        at(
          'value facts.hco.annotations["vm-size"] is not set: read it with optional(facts.hco.annotations, \'/vm-size\', …), or give asset one the condition { type: annotation, key: vm-size }',
        ),
      ],
    ],
    ['read as what may be absent', "a: <%= optional(facts.hco.annotations, '/size', 's') %>", []],
    ['read as a whole', 'a: <%= Object.keys(facts.hco.annotations).length %>', []],
    [
      'read where a condition asks for them',
      'a: <%= facts.hco.annotations.size + facts.hco.annotations.ids.slice(4) %>',
      [],
      {
        conditions: [
          { type: 'annotation', key: 'size', value: 's' },
          { type: 'annotation', key: 'ids', format: 'device-ids' },
        ],
      },
    ],
    [
      'read where a section asks for them',
      '<% if (sections.big) { %>\na: <%= facts.hco.annotations.size %>\n<% } %>',
      [],
      section([{ type: 'annotation', key: 'size' }]),
    ],
    [
      'read where a condition asks for their absence',
      'a: <%= facts.hco.annotations.size %>',
      [
        at(
          "value facts.hco.annotations.size is not set: read it with optional(facts.hco.annotations, '/size', …), or give asset one the condition { type: annotation, key: size }",
        ),
      ],
      { conditions: [{ type: 'annotation', key: 'size', not: true }] },
    ],
    [
      'an image read outright',
      'a: <%= facts.images.probe %>',
      [
        at(
          "value facts.images.probe is not set: read it with optional(facts.images, '/probe', …), or give asset one the condition { type: image, key: probe }",
        ),
      ],
    ],
    [
      'an image that a condition asks for',
      'a: <%= facts.images.probe %>',
      [],
      { conditions: [{ type: 'image', key: 'probe' }] },
    ],
    [
      'through a pointer that is none',
      "a: <%= optional(facts.hco.annotations, 'size', 's') %>",
      [at('optional(): "size" must start with "/" or be empty')],
    ],
  ],
  'what conditions say': [
    [
      'holds in every sample',
      "<% if (!facts.hardware.gpuPresent || facts.topology.compact || facts.topology.provider !== 'aws') throw new Error('no') %>\na: <%= enums.modes[0] + fields.size %>",
      [],
      {
        enums: { modes: '/spec/mode' },
        fields: { size: '/spec/size' },
        conditions: [
          { type: 'hardware-detection', detector: 'gpuPresent' },
          { type: 'topology', field: 'compact', not: true },
          { type: 'topology', field: 'provider', value: 'aws' },
          { type: 'topology', field: 'provider', value: 'gcp', not: true },
          {
            type: 'crd',
            group: 'x.io',
            kind: 'Thing',
            offers: { field: '/spec/mode', anyOf: ['a'] },
          },
          { type: 'crd', group: 'x.io', kind: 'Thing', offers: { field: '/spec/size' } },
        ],
      },
    ],
    [
      'of a section, which may not apply',
      'a: <%= facts.hco.annotations.size %>',
      [
        found(
          `:${LINES}: value facts.hco.annotations.size is not set: read it with optional(facts.hco.annotations, '/size', …), or give asset one the condition { type: annotation, key: size }`,
          'where no fact holds',
        ),
      ],
      section([{ type: 'annotation', key: 'size' }]),
    ],
  ],
  'fields of the HyperConverged': [
    [
      'that the entry lists',
      "a: <%= optional(facts.hco.spec, '/limits/total', 5) + optional(facts.hco.spec, '/limits', 1) %>",
      [],
      { hcoFields: ['/limits'] },
    ],
    [
      'of which the entry lists a part',
      "a: <%= JSON.stringify(optional(facts.hco.spec, '/limits', {})) %>",
      [],
      { hcoFields: ['/limits/total'] },
    ],
    [
      'that the entry does not list',
      "a: <%= optional(facts.hco.spec, '/limits/node', 5) %>\nc: <%= optional(facts.hco.spec, '/limits/total', 5) %>\nd: <%= optional(facts.hco.spec, '/a~1b', 5) %>",
      [
        `${FILE}: facts.hco.spec["a/b"] is never given: asset one lists no pointer to it under hcoFields`,
        `${FILE}: facts.hco.spec.limits.node is never given: asset one lists no pointer to it under hcoFields`,
      ],
      { hcoFields: ['/limits/total'] },
    ],
    [
      'read outright',
      'a: <%= facts.hco.spec.limits.node %>',
      [
        found(
          `:${LINES}: value facts.hco.spec.limits is not set: read it with optional(facts.hco.spec, '/…', …), and list a pointer to it under hcoFields`,
          'where no fact holds',
        ),
        found(
          `:${LINES}: value facts.hco.spec.limits.node is not set: read it with optional(facts.hco.spec, '/…', …), and list a pointer to it under hcoFields`,
          'where every fact holds',
        ),
      ],
      { hcoFields: ['/limits/node'] },
    ],
  ],
  'what the entry lists': [
    [
      'and the template reads, too',
      "<% if (fields.perses && sections['big']) { %>\na: <%= enums.modes.join() + file('active/x.txt') %>\n<% } %>",
      [],
      {
        fields: { perses: '/spec/perses' },
        enums: { modes: '/spec/mode' },
        files: ['active/x.txt'],
        ...section(),
      },
    ],
    [
      'and what it does not',
      'a: <%= enums.modes %>',
      [at('value enums.modes is not set: asset one lists no "modes" under enums: add it there')],
    ],
    [
      'and a file that it does not',
      "a: <%= file('active/x.txt') %>",
      [at('the asset lists no file "active/x.txt" under "files"')],
    ],
  ],
  'what is the same for the same facts': [
    [
      'the language itself, and names of its own',
      '<% const sizes = [1, 2].map((size, index) => Math.max(size, index)); function sum(...all) { try { return all.reduce((a, b) => a + b) } catch (error) { throw new Error(String(error)) } }\nclass Sizes {} %>\na: <%= sum(...sizes) + JSON.stringify(new Sizes()) + typeof undefined // a comment %>',
      [],
    ],
    ...[
      ['Date', 'Date.now()'],
      ['Date', 'new Date().getTime()'],
      ['Date', 'Date()'],
      ['Math.random', 'Math.random()'],
      ['process', 'process.pid'],
      ['globalThis', 'globalThis.z'],
      ['require', 'require("y")'],
      ['fetch', 'fetch("u")'],
    ].map(([name, code]): Case => [`not ${code}`, `a: <%= ${code} %>`, [at(`${name} ${ALONE}`)]]),
    [
      'not another template',
      'a: <%= include("v") %>',
      [at('a template includes no other: use file()')],
    ],
  ],
  'one document': [
    ['with dashes within a text', 'a: |\n  ---\n  ...\n  %YAML\nb: "--- %"\n# ---', []],
    ['a second', '---\na: 1\n', [of('line 5 of its output: a second document')]],
    ['a tab', 'a:\n\tb: 1', [of('line 6 of its output: Tabs are not allowed as indentation')]],
  ],
  'what others say of the object': [
    [
      'that is within it',
      'spec:\n  metadata:\n    name: x\n    ownerReferences: []\n  status: a\n  kind: B\n  template: {metadata: {name: x}}',
      [],
    ],
    [
      'that is not its own',
      '  labels:\n    name: x\n    app.platform.kubevirt.io/x: z\ndata:\n  platform.kubevirt.io/mode: unmanaged',
      [],
    ],
    [
      'that the engine or the API server adds',
      '  managedFields: []\n  "ownerReferences": []\n  labels:\n    platform.kubevirt.io/managed-by: virt-platform-autopilot\n  annotations: { "platform.kubevirt.io/mode": unmanaged }\n  finalizers: []\nstatus: {}',
      [
        of('status is what the controller of the object says: leave it out'),
        of('metadata.managedFields is the API server’s own: leave it out'),
        of(
          'metadata.ownerReferences would end the object with another: the catalog says when it ends: leave it out',
        ),
        of(
          'metadata.finalizers would hold the object up for ever when it ends: nobody is there to remove it: leave it out',
        ),
        of('every object gets the label platform.kubevirt.io/managed-by: leave it out'),
        of(
          'platform.kubevirt.io/mode is for people to say something to the autopilot: leave it out',
        ),
      ],
    ],
    [
      'that is too large to be stored',
      "a: <%= 'x'.repeat(1024 * 1024) %>",
      [of('its output has 1048648 characters, and may have 1048576')],
    ],
  ],
}

for (const [subject, ofSubject] of Object.entries(cases)) {
  for (const [what, text, mistakes, members] of ofSubject) {
    t.test(`${subject}: ${what}`, async (t) => {
      const lines = mistakes.map((mistake) => `catalog.yaml:1: asset one: ${mistake}`)
      t.strictSame(mistakesInTemplate(`${HEAD}${text}\n`, members), lines)
    })
  }
}

const IS = 'apiVersion: x.io/v1\nkind: Thing\nmetadata: { name: one, namespace: x }\n'
const identities: readonly (readonly [
  what: string,
  object: Members,
  mistakes: readonly string[],
])[] = [
  ['the catalog’s', { ...NAMED, namespace: 'x' }, []],
  [
    'the catalog’s in one version of two',
    { ...NAMED, versions: ['v1', 'v2'], namespace: 'x' },
    [
      found(
        ': its output is x.io/v1 Thing x one, but the catalog says x.io/v2 Thing x one',
        'where no fact holds',
      ),
    ],
  ],
  ...['$hco', '$autopilot'].map((namespace): (typeof identities)[number] => [
    `in a namespace that is another elsewhere (${namespace})`,
    { ...NAMED, namespace },
    [
      of(
        `its output is x.io/v1 Thing x one, but the catalog says x.io/v1 Thing sample-of-${namespace.slice(1)} one`,
      ),
    ],
  ]),
  [
    'a twin’s',
    { ...NAMED, name: 'two', namespace: 'x' },
    [of('its output is x.io/v1 Thing x one, but the catalog says x.io/v1 Thing x two')],
  ],
]

for (const [what, object, mistakes] of identities) {
  t.test(`an identity that is written out, and is ${what}`, async (t) => {
    const lines = mistakes.map((mistake) => `catalog.yaml:1: asset one: ${mistake}`)
    t.strictSame(mistakesInTemplate(IS, { object }), lines)
  })
}

t.test('mistakes in a template of another folder name the folder', async (t) => {
  const read = (name: string) =>
    name === 'catalog.yaml' ? JSON.stringify({ assets: [entry()] }) : `${HEAD}---\na: 1`
  const folders = [{ title: '/etc/own/catalog.yaml', read, isChecked: true }]
  t.throws(() => loadCatalog({ folders, namespace: 'autopilot' }), {
    message:
      /^\/etc\/own\/catalog\.yaml:1: asset one: active\/one\.yaml\.ejs: line 5 of its output: a second document/,
  })
})

t.test('each of several assets is told of its own mistakes', async (t) => {
  const twin = entry({ name: 'two', object: { ...NAMED, name: 'two' } })
  const told = of('line 5 of its output: a second document')
  t.same(mistakesIn({ assets: [entry(), twin] }, { [FILE]: `${HEAD}---\na: 1\n` }), [
    `catalog.yaml:1: asset one: ${told}`,
    `catalog.yaml:1: asset two: ${told}`,
  ])
})

t.test('the catalog of the product has no mistakes', async (t) => {
  const folders = [{ title: 'catalog.yaml', read: readAsset, isChecked: true }]
  t.ok(loadCatalog({ folders, namespace: 'virt-platform-autopilot' }).length > 20)
})
