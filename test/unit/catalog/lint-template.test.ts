import t from 'tap'
import { loadCatalog } from '../../../src/shared/baseline/catalog/load-catalog.ts'
import { lintTemplate } from '../../../src/shared/baseline/lint/lint-template.ts'
import { entry, HEAD, mistakesIn, mistakesInTemplate } from './linted.ts'

const NAMED = { group: 'x.io', versions: ['v1'], kind: 'Thing', resource: 'things', name: 'one' }
const FILE = 'active/one.yaml.ejs'
const LINES = HEAD.split('\n').length

type Members = Readonly<Record<string, unknown>>

/** A template after the head, on line 5, and all that is wrong with it. */
type Case = readonly [what: string, text: string, mistakes: readonly string[], members?: Members]

const at = (message: string, line = LINES) => `${FILE}:${line}: ${message}`

const cases: Readonly<Record<string, readonly Case[]>> = {
  'reads of what a template is given': [
    ['a fact', 'a: <%= facts.hardware.gpuPresent %>', []],
    ['a fact in brackets', "a: <%= facts['topology'][`provider`] %>", []],
    ['a fact that may be none', 'a: <%= facts?.hco?.apiVersion %>', []],
    ['what is within a value', "a: <%= facts.hco.apiVersion.endsWith('/v1') %>", []],
    ['a name that only rendering tells', "a: <%= ['a'].map((x) => facts.hardware[x]) %>", []],
    [
      'a fact that is none',
      'a: <%= facts.nodes.length %>',
      [at('facts has no "nodes", only hco, hardware, topology, images')],
    ],
    [
      'a detector that is none, in a branch that nothing reaches',
      "<% if (false) { %>\na: <%= facts.hardware['gpus'] %>\n<% } %>",
      [
        at(
          'facts.hardware has no "gpus", only pciDevicesPresent, numaNodesPresent, gpuPresent, vfioCapable, usbDevicesPresent',
          LINES + 1,
        ),
      ],
    ],
    [
      'a shape that is none',
      'a: <%= facts.topology.small %>',
      [
        at(
          'facts.topology has no "small", only compact, singleNode, schedulableMasters, hostedControlPlane, foreignKubeletConfig, foreignMasterKubeletConfig, provider',
        ),
      ],
    ],
    [
      'more of the HyperConverged than is given',
      'a: <%= facts.hco.status %>',
      [at('facts.hco has no "status", only apiVersion, namespace, annotations, spec')],
    ],
    [
      'more of the object than is given',
      'a: <%= object.labels %>',
      [at('object has no "labels", only apiVersion, kind, name, namespace')],
    ],
    [
      'a namespace that the object has not',
      'a: <%= object.namespace %>',
      [at('object.namespace is not set: the object of the asset has no namespace')],
    ],
    [
      'the namespace that it has',
      'a: <%= object.namespace %>',
      [],
      { object: { ...NAMED, namespace: 'x' } },
    ],
    [
      'by another name',
      '<% const { hardware: { gpuPresent, gpus }, hco } = facts; const spec = hco.spec %>\na: <%= hco.state %>',
      [
        at(
          'facts.hardware has no "gpus", only pciDevicesPresent, numaNodesPresent, gpuPresent, vfioCapable, usbDevicesPresent',
        ),
        at('facts.hco has no "state", only apiVersion, namespace, annotations, spec', LINES + 1),
      ],
    ],
    [
      'by a name that stands for two things',
      '<% const f = (x) => { const y = x.a; return y }; const g = () => { const y = facts.hco; return y } %>\na: <%= f({}) + g().b %>',
      [],
    ],
  ],
  'annotations and images, which may not be set': [
    [
      'read outright',
      "a: <%= facts.hco.annotations['vm-size'].trim() %>",
      [
        at(
          'facts.hco.annotations["vm-size"] may not be set: read it with optional(facts.hco.annotations, \'/vm-size\', …), or give asset one the condition { type: annotation, key: vm-size }',
        ),
      ],
    ],
    [
      'read outright, by a pattern',
      "<% const { size = 'small' } = facts.hco.annotations %>\na: <%= size %>",
      [
        at(
          "facts.hco.annotations.size may not be set: read it with optional(facts.hco.annotations, '/size', …), or give asset one the condition { type: annotation, key: size }",
        ),
      ],
    ],
    ['read as what may be absent', "a: <%= optional(facts.hco.annotations, '/size', 's') %>", []],
    ['read as a whole', 'a: <%= Object.keys(facts.hco.annotations).length %>', []],
    [
      'read where a condition asks for them',
      'a: <%= facts.hco.annotations.size %>',
      [],
      { conditions: [{ type: 'annotation', key: 'size', value: 's' }] },
    ],
    [
      'read where a section asks for them',
      '<% if (sections.big) { %>\na: <%= facts.hco.annotations.size %>\n<% } %>',
      [],
      {
        sections: [
          {
            name: 'big',
            description: 'a reason',
            install: 'opt-in',
            conditions: [{ type: 'annotation', key: 'size' }],
          },
        ],
      },
    ],
    [
      'read where a condition asks for their absence',
      'a: <%= facts.hco.annotations.size %>',
      [
        at(
          "facts.hco.annotations.size may not be set: read it with optional(facts.hco.annotations, '/size', …), or give asset one the condition { type: annotation, key: size }",
        ),
      ],
      { conditions: [{ type: 'annotation', key: 'size', not: true }] },
    ],
    [
      'an image read outright',
      "a: <%= facts.images['metrics-exporter'] %>",
      [
        at(
          'facts.images["metrics-exporter"] may not be set: read it with optional(facts.images, \'/metrics-exporter\', …), or give asset one the condition { type: image, key: metrics-exporter }',
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
      [at('"size" must start with "/" or be empty')],
    ],
  ],
  'fields of the HyperConverged': [
    [
      'that the entry lists',
      "a: <%= optional(facts.hco.spec, '/limits/total', 5) + facts.hco.spec.limits.node %>",
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
      'whose names begin alike',
      `a: <%= ["x"].map((f) => optional(facts.hco.spec, \`/limits/\${f}\`, optional(facts.hco.spec, "/li" + f, 1))) %>`,
      [],
      { hcoFields: ['/limits/total'] },
    ],
    [
      'that only rendering tells',
      'a: <%= ["/x"].map((f) => optional(facts.hco.spec, f, 1)) %>',
      [],
      { hcoFields: ['/limits/total'] },
    ],
    [
      'that the entry does not list',
      "a: <%= optional(facts.hco.spec, '/limits/node', 5) %>\nb: <%= facts.hco.spec.rest['a~b'] %>\nc: <%= optional(facts.hco.spec, '/limits/total', 5) %>",
      [
        at(
          'facts.hco.spec.limits.node is never given: asset one lists no pointer to it under hcoFields',
        ),
        at(
          'facts.hco.spec.rest["a~b"] is never given: asset one lists no pointer to it under hcoFields',
          LINES + 1,
        ),
      ],
      { hcoFields: ['/limits/total'] },
    ],
  ],
  'what the entry lists': [
    [
      'and the template reads, too',
      "<% if (fields.perses && sections['a-b']) { %>\na: <%= enums.modes.join() + file('active/x.txt') %>\n<% } %>",
      [],
      {
        fields: { perses: '/spec/perses' },
        enums: { modes: '/spec/mode' },
        files: ['active/x.txt'],
        sections: [{ name: 'a-b', description: 'a reason', install: 'always' }],
      },
    ],
    [
      'and names that only rendering tells',
      `<% const f = (x) => [enums[x], fields[x], sections[x], file(\`active/x/\${x}\`), file("active/y/" + x)] %>\na: <%= f("a").length %>`,
      [],
      {
        fields: { perses: '/spec/perses' },
        enums: { modes: '/spec/mode' },
        files: ['active/x/a.txt', 'active/y/a.txt'],
        sections: [{ name: 'a-b', description: 'a reason', install: 'always' }],
      },
    ],
    [
      'as a whole',
      'a: <%= ["active/x.txt"].map(file).length + Object.keys(fields).length + "a" in enums %>\nb: <%= JSON.stringify({ sections }) + JSON.stringify(facts.hco) %>',
      [],
      {
        fields: { perses: '/spec/perses' },
        enums: { modes: '/spec/mode' },
        files: ['active/x.txt'],
        hcoFields: ['/limits/total'],
        sections: [{ name: 'a-b', description: 'a reason', install: 'always' }],
      },
    ],
    [
      'and what it does not',
      "a: <%= enums.modes %><%= fields.perses %><%= sections['a-b'] %><%= file('active/x.txt') %>",
      [
        at('asset one lists no "modes" under enums: add it there'),
        at('asset one lists no "perses" under fields: add it there'),
        at('asset one lists no "a-b" under sections: add it there'),
        at('asset one lists no "active/x.txt" under files: add it there'),
      ],
    ],
    [
      'and the template never reads',
      '<% const { limits, ...rest } = facts.hco.annotations; const all = facts.hco %>\na: <%= rest.b %>',
      [
        at(
          "facts.hco.annotations.limits may not be set: read it with optional(facts.hco.annotations, '/limits', …), or give asset one the condition { type: annotation, key: limits }",
        ),
        "catalog.yaml:1: asset one: /files/0 is never read by the template: read it with file('active/y'), or take it away",
        'catalog.yaml:1: asset one: /enums/modes is never read by the template: read it as enums.modes, or take it away',
        'catalog.yaml:1: asset one: /fields/perses is never read by the template: read it as fields.perses, or take it away',
        "catalog.yaml:1: asset one: /sections/0 is never read by the template: ask for it with sections['a-b'], or take it away",
        "catalog.yaml:1: asset one: /hcoFields/0 is never read by the template: read it with optional(facts.hco.spec, '/limits/total', …), or take it away",
      ],
      {
        fields: { perses: '/spec/perses' },
        enums: { modes: '/spec/mode' },
        files: ['active/y'],
        hcoFields: ['/limits/total'],
        sections: [{ name: 'a-b', description: 'a reason', install: 'always' }],
      },
    ],
  ],
  'what is the same for the same facts': [
    [
      'the language itself, and names of its own',
      '<% const sizes = [1, 2].map((size, index) => Math.max(size, index)); function sum(...all) { try { return all.reduce((a, b) => a + b) } catch (error) { throw new Error(String(error)) } }\nclass Sizes {} %>\na: <%= sum(...sizes) + JSON.stringify(new Sizes()) + typeof undefined // a comment %>',
      [],
    ],
    [
      'labels and members that are called alike',
      '<% const all = { process: 1, Date() { return this.process } }; fetch: for (const x of [1]) { if (all.process) continue fetch; break fetch } %>\na: <%= all.Date() %>',
      [],
    ],
    [
      'and what is not',
      'a: <%= Date.now() + Math.random() + process.pid %>\n<%# Date %>\nb: <%= [import("x"), require("y"), globalThis.z, fetch("u"), include("v")].length %>',
      [
        ...['Date', 'Math.random', 'process'].map((name) => [name, LINES] as const),
        ...['import', 'require', 'globalThis', 'fetch', 'include'].map(
          (name) => [name, LINES + 2] as const,
        ),
      ].map(([name, line]) =>
        at(
          `${name} is not for templates, whose output depends on facts, object, pool, enums, fields, sections, file, base64, optional, toYaml alone`,
          line,
        ),
      ),
    ],
    [
      'a name of its own that is taken',
      '<% const f = (file) => file; if (f) { const { facts: [object = 1] } = { facts: [] } } %>\na: <%= f("x") %>',
      [
        at('the name file is what every template is given: choose another'),
        at('the name object is what every template is given: choose another'),
      ],
    ],
    [
      'code that is deeper than can be read',
      `a: <%= ${'['.repeat(3_000)}${']'.repeat(3_000)}.length %>`,
      [at('its code cannot be checked: Not enough stack space to parse input')],
    ],
  ],
  'one document': [
    [
      'with dashes within a text',
      'a: |\n  ---\n  ...\n  %YAML\nb: "--- %"\n# ---\n#\ta tab, which nobody prints',
      [],
    ],
    [
      'a second',
      '---\na: 1\n...\n',
      [
        at('a template is one document, without "---": another object is an asset of its own'),
        at(
          'a template is one document, without "...": another object is an asset of its own',
          LINES + 2,
        ),
      ],
    ],
    ['a directive', '%YAML 1.1\na: 1', [at('a template has no YAML directive such as "%YAML"')]],
    [
      'a tab',
      'a:\n\tb: 1',
      [
        at(
          'a tab, which YAML does not indent by: write spaces, or put a text that needs tabs in a file',
          LINES + 1,
        ),
      ],
    ],
  ],
  'what others say of the object': [
    [
      'that is within it',
      'spec:\n  metadata:\n    name: x\n    ownerReferences: []\n  status: a\n  kind: B\n  template: {metadata: {name: x}}',
      [],
    ],
    [
      'that is not its own',
      '  labels:\n    name: x\n    kind: y\n    app.platform.kubevirt.io/x: z\ndata:\n  platform.kubevirt.io/mode: unmanaged',
      [],
    ],
    [
      'that the engine or the API server adds',
      '  managedFields: []\n  "ownerReferences": []\n  labels:\n    platform.kubevirt.io/managed-by: virt-platform-autopilot\n  annotations: { "platform.kubevirt.io/mode": unmanaged }\n  finalizers: []\nstatus: {}',
      [
        at('metadata.managedFields is the API server’s own: leave it out', LINES),
        at(
          'metadata.ownerReferences would end the object with another: the catalog says when it ends: leave it out',
          LINES + 1,
        ),
        at('every object gets the label platform.kubevirt.io/managed-by: leave it out', LINES + 3),
        at(
          'platform.kubevirt.io/mode is for people to say something to the autopilot: leave it out',
          LINES + 4,
        ),
        at(
          'metadata.finalizers would hold the object up for ever when it ends: nobody is there to remove it: leave it out',
          LINES + 5,
        ),
        at('status is what the controller of the object says: leave it out', LINES + 6),
      ],
    ],
  ],
  'literals that should be facts': [
    [
      'none of which this is',
      [
        'a: openshift-cnv-addon',
        'b: /opt/openshift-cnv/x',
        'name: kubevirt-hyperconverged',
        'namespace: <%= facts.hco.namespace %>',
        'app.kubernetes.io/name: virt-platform-autopilot',
        '# image: quay.io/x/y:v1',
        'c: node-role.kubernetes.io/infra:NoSchedule',
        'd: https://example.com/x:8080',
        'e: sha256',
        "f: <%= 'node-role.kubernetes.io/' + pool %>",
        'g: node-role.kubernetes.io/worker-rt',
        'h: /usr/share/example.d/worker',
        'i: worker',
        'machineconfiguration.openshift.io/role: <%= pool %>',
      ].join('\n'),
      [],
      { disruption: 'reboot', pool: 'worker' },
    ],
    [
      'the namespace of the HyperConverged',
      'a: system:serviceaccount:openshift-cnv:x\nb: { namespace: "kubevirt-hyperconverged" }',
      [LINES, LINES + 1].map((line) =>
        at('the namespace of the HyperConverged is written out: print facts.hco.namespace', line),
      ),
    ],
    [
      'our own namespace',
      'a:\n  - namespace: virt-platform-autopilot',
      [
        at(
          'our own namespace is written out: give the object the namespace $autopilot, and print object.namespace',
          LINES + 1,
        ),
      ],
    ],
    [
      'an image',
      `a: quay.io/x/y:v1.2\nb: localhost/z@sha256:${'0a'.repeat(32)}\nc: "registry.example.com:5000/x/y:latest"`,
      [0, 1, 2].map((offset) =>
        at(
          'an image is written out: print facts.images[…], and make it a condition, { type: image, key: … }',
          LINES + offset,
        ),
      ),
    ],
    [
      'the pool',
      'a: node-role.kubernetes.io/infra.a\nb:\n  pools.operator.machineconfiguration.openshift.io/infra.a: ""\n  machineconfiguration.openshift.io/role: infra.a\n  "machineconfiguration.openshift.io/role": "infra.a"',
      [0, 2, 3, 4].map((offset) =>
        at(
          `the pool infra.a is written out: print <%= pool %>, within a longer text <%= \`…/\${pool}\` %>`,
          LINES + offset,
        ),
      ),
      { disruption: 'reboot', pool: 'infra.a' },
    ],
    ['a pool that the entry has not', 'a: node-role.kubernetes.io/worker', []],
  ],
}

for (const [subject, ofSubject] of Object.entries(cases)) {
  for (const [what, text, mistakes, members] of ofSubject) {
    t.test(`${subject}: ${what}`, async (t) => {
      t.strictSame(mistakesInTemplate(`${HEAD}${text}\n`, members), mistakes)
    })
  }
}

const identities: readonly (readonly [head: string, mistakes: readonly string[]])[] = [
  [
    'apiVersion: x.io/v1\n"kind": Thing # a comment\nmetadata:\n    name: "one"\n    namespace: x\n    labels:\n      name: y\n',
    [
      at('apiVersion is written out: print what the catalog says, <%= object.apiVersion %>', 1),
      at('kind is written out: print what the catalog says, <%= object.kind %>', 2),
      at('metadata.name is written out: print what the catalog says, <%= object.name %>', 4),
      at(
        'metadata.namespace is written out: print what the catalog says, <%= object.namespace %>',
        5,
      ),
    ],
  ],
  [
    'metadata: { labels: { name: y }, name: one, namespace: <%= object.namespace %> }\n',
    [at('metadata.name is written out: print what the catalog says, <%= object.name %>', 1)],
  ],
  ['metadata: { name: <%= object.name %>\n  , namespace: x }\n', []],
  ['apiVersion: x.<%= object.name %>\nmetadata: {}\nname: a\n', []],
]

for (const [head, mistakes] of identities) {
  t.test(`the identity as in ${JSON.stringify(head)}`, async (t) => {
    const object = { ...NAMED, namespace: 'x' }
    t.strictSame(mistakesInTemplate(head, { object }), mistakes)
  })
}

t.test('twins have one mistake in the template that they share', async (t) => {
  const twin = entry({ name: 'two', object: { ...NAMED, name: 'two' } })
  const files = { [FILE]: `${HEAD}---\n` }
  t.same(mistakesIn({ assets: [entry(), twin] }, files), [
    at('a template is one document, without "---": another object is an asset of its own'),
  ])
})

t.test('mistakes in a template of another folder name the file there', async (t) => {
  const read = (name: string) =>
    name === 'catalog.yaml' ? JSON.stringify({ assets: [entry()] }) : `${HEAD}---\n`
  const folders = [{ title: '/etc/own/catalog.yaml', read, lint: lintTemplate }]
  t.throws(() => loadCatalog({ folders, namespace: 'autopilot' }), {
    message: /^\/etc\/own\/active\/one\.yaml\.ejs:5: a template is one document/,
  })
})
