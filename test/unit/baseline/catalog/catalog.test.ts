import { Ajv } from 'ajv'
import t from 'tap'
import {
  type Asset,
  apiVersionOf,
  isAlwaysDenied,
  isHyperConverged,
  isSensitive,
  kindKey,
  namespaceOf,
  servedVersion,
} from '../../../../src/shared/baseline/catalog/catalog.ts'
import { CatalogError } from '../../../../src/shared/baseline/catalog/catalog-error.ts'
import { catalogSchema } from '../../../../src/shared/baseline/catalog/catalog-schema.ts'
import { loadCatalog } from '../../../../src/shared/baseline/catalog/load-catalog.ts'
import { assetNamed, catalog, readAsset } from '../facts.ts'

const ONE = `assets:
  - name: one
    group: some
    description: a reason
    template: active/one.yaml.ejs
    object:
      { group: x.io, versions: [v1], kind: Thing, resource: things, name: one }
    install: always
    order: 7
`
const TWO = `  - name: two
    group: some
    description: another reason
    template: active/two.yaml.ejs
    object:
      { group: x.io, versions: [v1], kind: Thing, resource: things, name: two }
    install: always
    order: 7
`

const TOMBSTONE = `tombstones:
  - name: gone
    group: some
    description: nobody needs it any more
    object:
      { group: x.io, versions: [v1], kind: Thing, resource: things, name: old }
`

const load = (text: string, files: Readonly<Record<string, string>> = {}) => {
  const read = (name: string) => {
    const known: Readonly<Record<string, string>> = {
      'catalog.yaml': text,
      'active/one.yaml.ejs': 'spec: {}\n',
      'active/two.yaml.ejs': 'spec: {}\n',
      ...files,
    }
    const content = known[name]
    if (content === undefined) throw new Error(`there is no file ${name}`)
    return content
  }
  return loadCatalog({ folders: [{ title: 'catalog.yaml', read }], namespace: 'autopilot' })
}

const mistakesIn = (text: string, files?: Readonly<Record<string, string>>) => {
  try {
    return load(text, files).map(({ name }) => `loaded ${name}`)
  } catch (error) {
    return error instanceof CatalogError && error.name === 'CatalogError'
      ? error.message.split('\n')
      : [`threw ${error}`]
  }
}

t.test('loads an entry with the defaults of what it leaves out', async (t) => {
  const [asset, ...others] = load(ONE)
  t.same(others, [])
  const { render, file, ...entry } = asset ?? assetNamed('metallb')
  t.strictSame(entry, {
    name: 'one',
    group: 'some',
    description: 'a reason',
    maturity: 'stable',
    template: 'active/one.yaml.ejs',
    files: [],
    object: { group: 'x.io', versions: ['v1'], kind: 'Thing', resource: 'things', name: 'one' },
    install: 'always',
    order: 7,
    conditions: [],
    sections: [],
    create: true,
    prune: false,
    isTombstone: false,
    hcoFields: [],
    enums: {},
    fields: {},
    disruption: 'none',
    sensitive: false,
    links: [],
  })
  t.type(render, 'function')
  t.type(file, 'function')
})

t.test('sorts by order, then by name', async (t) => {
  const namesOf = (text: string) => load(text).map(({ name }) => name)
  const entry = (name: string, text: string) =>
    text.replaceAll('two', name).replace(`active/${name}`, 'active/two')
  t.same(namesOf(`${ONE}${TWO}${entry('alpha', TWO)}`), ['alpha', 'one', 'two'])
  t.same(namesOf(`${ONE}${TWO.replace('order: 7', 'order: 1')}`), ['two', 'one'])
})

t.test('an asset reads the files that it lists, and no others', async (t) => {
  const text = `${ONE}    files: [active/a.conf]\n`
  const [asset] = load(text, { 'active/a.conf': 'A=1', 'active/b.conf': 'B=1' })
  t.equal(asset?.file('active/a.conf'), 'A=1')
  t.throws(
    () => asset?.file('active/b.conf'),
    new Error('the asset lists no file "active/b.conf" under "files"'),
  )
})

const conditions = (...lines: readonly string[]) =>
  `${ONE}    conditions:\n${lines.map((line) => `      - ${line}\n`).join('')}`

const broken: readonly (readonly [what: string, text: string, ...mistakes: string[]])[] = [
  [
    'that is no YAML',
    'assets:\n  - name: [',
    'catalog.yaml:2: Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['with a member twice', `${ONE}    order: 8\n`, 'catalog.yaml:10: Map keys must be unique'],
  [
    'with a tag that nobody knows',
    `${ONE}    pool: !secret x\n`,
    'catalog.yaml:10: Unresolved tag: !secret',
  ],
  ['that is empty', '', 'catalog.yaml: the catalog must be object'],
  ['that is a list', '[]', 'catalog.yaml:1: the catalog must be object'],
  ['without a list of assets', 'assets: hello', 'catalog.yaml:1: /assets must be array'],
  [
    'with more than assets',
    `${ONE}extra: 1\n`,
    'catalog.yaml:10: the catalog has the unknown member "extra"',
  ],
  [
    'with an asset without a name',
    ONE.replace('name: one\n', 'order: 1\n').replace('    order: 7\n', ''),
    "catalog.yaml:2: asset number 0 must have required property 'name'",
  ],
  [
    'with an asset that is a text',
    'assets:\n  - one',
    'catalog.yaml:2: asset number 0 must be object',
  ],
  [
    'with an alias',
    'assets:\n  - &a one\n  - *a',
    'catalog.yaml:2: asset number 0 must be object',
    'catalog.yaml:3: asset number 1 must be object',
  ],
  [
    'with an unknown member',
    `${ONE}    colour: red\n`,
    'catalog.yaml:10: asset one has the unknown member "colour"',
  ],
  [
    'without a member that is needed',
    ONE.replace('    install: always\n', ''),
    "catalog.yaml:2: asset one must have required property 'install'",
  ],
  [
    'with a kind that is none',
    ONE.replace('Thing', 'thing'),
    'catalog.yaml:7: asset one: /object/kind must match pattern "^[A-Z][A-Za-z0-9]*$"',
  ],
  [
    'with a word that is not one of those',
    ONE.replace('always', 'sometimes'),
    'catalog.yaml:8: asset one: /install must be one of always, opt-in',
  ],
  [
    'that reboots no pool',
    `${ONE}    disruption: reboot\n`,
    "catalog.yaml:2: asset one must have required property 'pool'",
  ],
  [
    'with a pool that nothing reboots',
    `${ONE}    pool: worker\n`,
    'catalog.yaml:2: asset one must not have a pool, since it reboots nothing',
  ],
  [
    'with an opt-in without conditions',
    ONE.replace('always', 'opt-in'),
    "catalog.yaml:2: asset one must have required property 'conditions'",
  ],
  [
    'with an opt-in that nobody can ask for',
    conditions('{ type: annotation, key: x, not: true }').replace('always', 'opt-in'),
    'catalog.yaml:11: asset one: /conditions must hold an annotation or feature-gate condition without "not", since the asset is opt-in',
  ],
  [
    'with a condition of no type',
    conditions('{ key: x }'),
    'catalog.yaml:11: asset one: /conditions/0 is a condition of no known type',
  ],
  [
    'with a condition of an unknown type',
    conditions('{ type: moon }'),
    'catalog.yaml:11: asset one: /conditions/0 is a condition of no known type',
  ],
  [
    'with a condition of a type that is no word',
    conditions('{ type: [a] }'),
    'catalog.yaml:11: asset one: /conditions/0 is a condition of no known type',
  ],
  [
    'with half a condition',
    conditions('{ type: image, key: x }', '{ type: crd, group: x.io }'),
    "catalog.yaml:12: asset one: /conditions/1 must have required property 'kind'",
  ],
  [
    'with a condition on unknown hardware',
    conditions('{ type: hardware-detection, detector: flux }'),
    'catalog.yaml:11: asset one: /conditions/0/detector must be one of pciDevicesPresent, amd64PciDevicesOnWorkers, amd64PciDevicesOnMasters, numaNodesPresent, gpuPresent',
  ],
  [
    'with a condition that says too much',
    conditions('{ type: image, key: x, colour: red }'),
    'catalog.yaml:11: asset one: /conditions/0 has the unknown member "colour"',
  ],
  [
    'with a template outside its folder',
    ONE.replace('active/one', 'active/../one'),
    'catalog.yaml:5: asset one: /template must not lead out of the folder',
  ],
  [
    'with a file outside its folder',
    `${ONE}    files: [active/../../x]\n`,
    'catalog.yaml:10: asset one: /files/0 must not lead out of the folder',
  ],
  [
    'with a condition that wants two things of an annotation',
    conditions('{ type: annotation, key: x, value: y, format: device-ids }'),
    'catalog.yaml:11: asset one: /conditions/0 must not state a format, and a value or a feature gate besides',
  ],
  [
    'with mistakes in a section',
    `${ONE}    sections:\n      - { name: a, description: x, install: always, colour: red, conditions: [{ type: image, kei: x }] }\n`,
    'catalog.yaml:11: asset one: /sections/0 has the unknown member "colour"',
    'catalog.yaml:11: asset one: /sections/0/description must match pattern "^[a-z0-9].*[^.\\s]$"',
    "catalog.yaml:11: asset one: /sections/0/conditions/0 must have required property 'key'",
    'catalog.yaml:11: asset one: /sections/0/conditions/0 has the unknown member "kei"',
  ],
  [
    'with a name for an enum that no template could read',
    `${ONE}    enums: { Bad-name: /spec }\n`,
    'catalog.yaml:10: asset one: /enums has the member "Bad-name", which must match pattern "^[a-z][A-Za-z0-9]*$"',
  ],
  [
    'with an enum at no pointer',
    `${ONE}    enums: { good: spec }\n`,
    'catalog.yaml:10: asset one: /enums/good must match pattern "^(/([^/~]|~[01])*)+$"',
  ],
  [
    'with a template that is not there',
    ONE.replace('active/one', 'active/lost'),
    'catalog.yaml:2: asset one: there is no file active/lost.yaml.ejs',
  ],
  [
    'with a file that is not there',
    `${ONE}    files: [active/lost]\n`,
    'catalog.yaml:2: asset one: there is no file active/lost',
  ],
  [
    'with two assets of one name',
    `${ONE}${TWO.replace('name: two\n', 'name: one\n')}`,
    'catalog.yaml:10: asset one is not the first of this name: choose another',
  ],
  [
    'with two assets of one object',
    `${ONE}${TWO.replace('name: two }', 'name: one }')}`,
    'catalog.yaml:10: asset two is about the same object as one, which comes before it: take one of them away',
  ],
  [
    'with an object that it keeps and deletes',
    `${ONE}${TOMBSTONE.replace('name: old }', 'name: one }')}`,
    'catalog.yaml:11: tombstone gone is about the same object as one, which comes before it: take one of them away',
  ],
  [
    'with an object that it keeps and deletes in what may be one namespace',
    `${ONE.replace('name: one }', 'name: one, namespace: $hco }')}${TOMBSTONE.replace('name: old }', 'name: one, namespace: else }')}`,
    'catalog.yaml:11: tombstone gone is about the same object as one, which comes before it: take one of them away',
  ],
  [
    'with a tombstone that has a template, and no pool for its reboot',
    `${ONE}${TOMBSTONE}    template: active/one.yaml.ejs\n    disruption: reboot\n`,
    "catalog.yaml:11: tombstone gone must have required property 'pool'",
    'catalog.yaml:16: tombstone gone has the unknown member "template"',
  ],
  [
    'with several mistakes',
    `${ONE.replace('Thing', 'thing').replace('always', 'never')}${TWO.replace('order: 7', 'order: -1')}`,
    'catalog.yaml:7: asset one: /object/kind must match pattern "^[A-Z][A-Za-z0-9]*$"',
    'catalog.yaml:8: asset one: /install must be one of always, opt-in',
    'catalog.yaml:17: asset two: /order must be >= 0',
  ],
]

for (const [what, text, ...mistakes] of broken) {
  t.test(`refuses a catalog ${what}`, async (t) => {
    t.strictSame(mistakesIn(text), mistakes)
  })
}

t.test('refuses a template that cannot be compiled, beside every other mistake', async (t) => {
  const text = `${ONE}${TWO.replace('active/two', 'active/lost')}`
  t.strictSame(mistakesIn(text, { 'active/one.yaml.ejs': 'spec: <%= ' }), [
    'catalog.yaml:2: asset one: active/one.yaml.ejs: Could not find matching close tag for "<%=".',
    'catalog.yaml:10: asset two: there is no file active/lost.yaml.ejs',
  ])
})

t.test('refuses folders without a catalog, all of them at once', async (t) => {
  const read = (name: string) => {
    throw new Error(`there is no file ${name}`)
  }
  const folders = ['a', 'b'].map((folder) => ({ title: `${folder}/catalog.yaml`, read }))
  t.throws(() => loadCatalog({ folders, namespace: 'autopilot' }), {
    name: 'CatalogError',
    message:
      'a/catalog.yaml: there is no file catalog.yaml\nb/catalog.yaml: there is no file catalog.yaml',
  })
})

t.test('a tombstone comes first, and renders nothing', async (t) => {
  const [gone, one, ...others] = load(`${ONE}${TOMBSTONE}`)
  t.match(gone, { name: 'gone', isTombstone: true, order: -1, disruption: 'none' })
  t.same(gone?.files, [])
  t.match(one, { name: 'one' })
  t.same(others, [])
  const locals = { facts: {}, pool: undefined, enums: {}, fields: {}, sections: {}, file: () => '' }
  const object = { apiVersion: 'x.io/v1', kind: 'Thing', name: 'old' }
  t.equal(gone?.render({ ...locals, object }), undefined)
  t.throws(() => gone?.file('a'), { message: 'a tombstone has no file "a"' })
})

t.test('of one order, the names decide', async (t) => {
  const entry = (name: string) =>
    TWO.replaceAll('two', name).replace(`active/${name}`, 'active/two')
  const head = ONE.slice(0, ONE.indexOf('\n') + 1)
  const text = `${head}${['b', 'c', 'a'].map(entry).join('')}`
  t.same(mistakesIn(text), ['loaded a', 'loaded b', 'loaded c'])
})

t.test('admits objects that differ in the namespace alone', async (t) => {
  const other = TWO.replace('name: two }', 'name: one, namespace: else }')
  t.same(mistakesIn(`${ONE}${other}`), ['loaded one', 'loaded two'])
})

t.test('the catalog of the product begins with the HyperConverged', async (t) => {
  t.same(
    catalog.filter(isHyperConverged).map(({ name, order }) => [name, order]),
    [['hco-golden-config', 0]],
  )
  t.equal(catalog[0]?.name, 'hco-golden-config')
})

t.test('each asset of the product says how far it has come and what it follows', async (t) => {
  const text = readAsset('catalog.yaml')
  const entries = text
    .split('\n  - name: ')
    .slice(1)
    .filter((entry) => / +template:/.test(entry))
  t.equal(entries.length, catalog.length)
  for (const entry of entries) t.match(entry, /\n {4}maturity: (alpha|beta|stable)\n/)
  for (const { name, links } of catalog) t.not(links.length, 0, name)
})

t.test('what reboots nodes or grants access takes no patch', async (t) => {
  const isGranting = ({ object }: Asset) =>
    ['MachineConfig', 'KubeletConfig', 'ClusterRole'].includes(object.kind)
  t.same(catalog.filter(isSensitive), catalog.filter(isGranting))
  t.ok(catalog.filter(({ disruption }) => disruption !== 'none').every(isSensitive))
})

const object = (group: string, kind: string): Pick<Asset, 'object' | 'sensitive'> => ({
  object: { ...assetNamed('metallb').object, group, kind },
  sensitive: false,
})

const kinds: readonly (readonly [group: string, kind: string, isSensitive: boolean])[] = [
  ['machineconfiguration.openshift.io', 'MachineConfig', true],
  ['machineconfiguration.openshift.io', 'KubeletConfig', true],
  ['machineconfiguration.openshift.io', 'MachineConfigPool', false],
  ['rbac.authorization.k8s.io', 'ClusterRole', true],
  ['rbac.authorization.k8s.io', 'ClusterRoleBinding', true],
  ['rbac.authorization.k8s.io', 'Role', true],
  ['rbac.authorization.k8s.io', 'RoleBinding', true],
  ['', 'ServiceAccount', true],
  ['', 'Service', false],
  ['security.openshift.io', 'SecurityContextConstraints', true],
  ['admissionregistration.k8s.io', 'ValidatingWebhookConfiguration', true],
  ['admissionregistration.k8s.io', 'MutatingWebhookConfiguration', true],
  ['admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', true],
  ['admissionregistration.k8s.io', 'ValidatingAdmissionPolicyBinding', true],
  ['admissionregistration.k8s.io', 'MutatingAdmissionPolicy', true],
  ['admissionregistration.k8s.io', 'MutatingAdmissionPolicyBinding', true],
  ['example.com', 'MachineConfig', false],
  ['example.com', 'ServiceAccount', false],
]

for (const [group, kind, isGrant] of kinds) {
  t.test(`${kindKey({ group, kind })} is ${isGrant ? '' : 'not '}sensitive`, async (t) => {
    t.equal(isSensitive(object(group, kind)), isGrant)
    t.ok(
      isSensitive({ ...object(group, kind), sensitive: true }),
      'and always where the catalog says so',
    )
  })
}

t.test('what is sensitive or disruptive is always denied', async (t) => {
  const metallb = assetNamed('metallb')
  t.notOk(isAlwaysDenied(metallb))
  t.ok(isAlwaysDenied({ ...metallb, sensitive: true }))
  t.ok(isAlwaysDenied({ ...metallb, disruption: 'reboot', pool: 'worker' }))
})

t.test('only a HyperConverged of the right group is one', async (t) => {
  t.ok(isHyperConverged(object('hco.kubevirt.io', 'HyperConverged')))
  t.notOk(isHyperConverged(object('example.com', 'HyperConverged')))
  t.notOk(isHyperConverged(object('hco.kubevirt.io', 'Other')))
})

t.test('knows the namespace and the version of an object', async (t) => {
  t.equal(namespaceOf(assetNamed('hco-golden-config'), 'cnv'), 'cnv')
  t.equal(namespaceOf(assetNamed('metallb'), 'cnv'), 'metallb-system')
  t.equal(namespaceOf(assetNamed('swap-enable'), 'cnv'), undefined)
  const hco = assetNamed('hco-golden-config')
  const served = (...versions: string[]) => ({ 'hco.kubevirt.io/HyperConverged': versions })
  t.equal(servedVersion(hco, served('v1beta1', 'v1')), 'v1')
  t.equal(servedVersion(hco, served('v1beta1')), 'v1beta1')
  t.equal(servedVersion(hco, served('v1alpha1')), undefined)
  t.equal(servedVersion(hco, {}), undefined)
  t.equal(apiVersionOf('metallb.io', 'v1beta1'), 'metallb.io/v1beta1')
  t.equal(apiVersionOf('', 'v1'), 'v1')
})

t.test('the schema of the catalog is itself one', async (t) => {
  const ajv = new Ajv({ strict: false })
  t.ok(ajv.validateSchema(catalogSchema), ajv.errorsText())
  t.notOk(ajv.validateSchema({ ...catalogSchema, type: 'thing' }))
})
