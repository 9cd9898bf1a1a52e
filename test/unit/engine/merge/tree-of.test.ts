import t from 'tap'
import {
  ATOMIC,
  DEDUCED,
  type MergeTree,
  memberTree,
} from '../../../../src/shared/engine/merge/merge-tree.ts'
import { type Schema, treeOf } from '../../../../src/shared/engine/merge/tree-of.ts'
import { crdTree } from './schemas.ts'

const text: Schema = { type: 'string' }
const ref = (name: string): Schema => ({ allOf: [{ $ref: `#/components/schemas/${name}` }] })

const definitions: Readonly<Record<string, Schema>> = {
  Port: {
    type: 'object',
    properties: {
      port: { type: 'integer' },
      protocol: { ...text, default: 'TCP' },
      name: { ...text, default: null },
    },
  },
  Selector: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { app: text } },
  Open: { type: 'object', properties: { a: text } },
  Node: { type: 'object', properties: { left: ref('Node'), value: text } },
  Alias: ref('Open'),
  'io.k8s.apimachinery.pkg.runtime.RawExtension': { type: 'object' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
}

const resolve = (name: string) => definitions[name.slice('#/components/schemas/'.length)]

const fieldTree = (schema: Schema): MergeTree | undefined =>
  memberTree(treeOf({ type: 'object', properties: { spec: schema } }, resolve), 'spec')

const mapOf = (fields: Readonly<Record<string, MergeTree>>, rest?: MergeTree): MergeTree => ({
  type: 'map',
  fields,
  ...(rest && { rest }),
})

const portKeys = {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol', 'name'],
}
const port = mapOf({ port: ATOMIC, protocol: ATOMIC, name: ATOMIC })

const reductions: readonly (readonly [behaviour: string, schema: Schema, tree: MergeTree])[] = [
  ['takes a scalar as one value', text, ATOMIC],
  ['takes an unknown type as one value', { type: 'file' }, ATOMIC],
  [
    'merges an object field by field',
    { type: 'object', properties: { a: text } },
    mapOf({ a: ATOMIC }),
  ],
  [
    'takes an atomic map as one value',
    { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
    ATOMIC,
  ],
  [
    'merges additional properties by name',
    { type: 'object', additionalProperties: text },
    mapOf({}, ATOMIC),
  ],
  [
    'deduces additional properties of any sort',
    { type: 'object', additionalProperties: true },
    DEDUCED,
  ],
  [
    'knows no member of a closed object',
    { type: 'object', additionalProperties: false },
    mapOf({}),
  ],
  ['deduces an object without properties', { type: 'object' }, DEDUCED],
  ['deduces where the schema is silent about the type', {}, DEDUCED],
  ['deduces an int-or-string', { 'x-kubernetes-int-or-string': true }, DEDUCED],
  [
    'deduces unknown fields where they are preserved, in nested objects too',
    {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'object', properties: { b: text } } },
    },
    mapOf({ a: mapOf({ b: ATOMIC }, DEDUCED) }, DEDUCED),
  ],
  [
    'stops preserving unknown fields at a reference',
    {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: ref('Open') },
    },
    mapOf({ a: mapOf({ a: ATOMIC }) }, DEDUCED),
  ],
  ['takes a list without a type as one value', { type: 'array', items: text }, ATOMIC],
  [
    'takes an atomic list as one value',
    { type: 'array', 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-patch-strategy': 'merge' },
    ATOMIC,
  ],
  [
    'takes a keyed list without keys as one value',
    { type: 'array', 'x-kubernetes-list-type': 'map' },
    ATOMIC,
  ],
  [
    'merges a set by value',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    { type: 'set' },
  ],
  [
    'merges a keyed list with the defaults of its keys, inlined',
    { type: 'array', ...portKeys, items: definitions.Port ?? {} },
    {
      type: 'list',
      keys: ['port', 'protocol', 'name'],
      defaults: { protocol: 'TCP' },
      items: port,
    },
  ],
  [
    'merges a keyed list with the defaults of its keys, referenced',
    { type: 'array', ...portKeys, items: ref('Port') },
    {
      type: 'list',
      keys: ['port', 'protocol', 'name'],
      defaults: { protocol: 'TCP' },
      items: port,
    },
  ],
  [
    'merges a keyed list of items that it knows nothing of',
    { type: 'array', ...portKeys },
    { type: 'list', keys: ['port', 'protocol', 'name'], defaults: {}, items: DEDUCED },
  ],
  [
    'merges a keyed list of items that cannot be resolved',
    { type: 'array', ...portKeys, items: ref('Gone') },
    { type: 'list', keys: ['port', 'protocol', 'name'], defaults: {}, items: ATOMIC },
  ],
  [
    'reads a merge key where there is no list type',
    {
      type: 'array',
      'x-kubernetes-patch-strategy': 'merge,retainKeys',
      'x-kubernetes-patch-merge-key': 'name',
      items: ref('Open'),
    },
    { type: 'list', keys: ['name'], defaults: {}, items: mapOf({ a: ATOMIC }) },
  ],
  [
    'takes a merged list without a key for a set',
    { type: 'array', 'x-kubernetes-patch-strategy': 'merge' },
    { type: 'set' },
  ],
  [
    'takes a list that a patch replaces as one value',
    { type: 'array', 'x-kubernetes-patch-strategy': 'replace' },
    ATOMIC,
  ],
  ['follows references, to references too', ref('Alias'), mapOf({ a: ATOMIC })],
  ['takes a bare reference', { $ref: '#/components/schemas/Open' }, mapOf({ a: ATOMIC })],
  ['does not take a choice for a reference', { allOf: [ref('Open'), ref('Port')] }, DEDUCED],
  ['takes what cannot be resolved as one value', ref('Gone'), ATOMIC],
  ['keeps what a type says of itself', ref('Selector'), ATOMIC],
  [
    'lets a reference make a type atomic',
    { ...ref('Open'), 'x-kubernetes-map-type': 'atomic' },
    ATOMIC,
  ],
  [
    'lets a reference make a type granular',
    { ...ref('Selector'), 'x-kubernetes-map-type': 'granular' },
    mapOf({ app: ATOMIC }),
  ],
  ['deduces a type inside itself', ref('Node'), mapOf({ left: DEDUCED, value: ATOMIC })],
  [
    'takes a raw extension as one value',
    ref('io.k8s.apimachinery.pkg.runtime.RawExtension'),
    ATOMIC,
  ],
  ['takes a quantity as one value', ref('io.k8s.apimachinery.pkg.api.resource.Quantity'), ATOMIC],
]

for (const [behaviour, schema, tree] of reductions) {
  t.test(behaviour, async (t) => {
    t.strictSame(fieldTree(schema), tree)
  })
}

t.test('gives an embedded resource the metadata of every object', async (t) => {
  const embedded = fieldTree({ type: 'object', 'x-kubernetes-embedded-resource': true })
  const labels = [embedded, treeOf({ type: 'object' }, resolve)].map((tree) =>
    memberTree(memberTree(tree ?? ATOMIC, 'metadata') ?? ATOMIC, 'labels'),
  )
  t.strictSame(labels, [mapOf({}, ATOMIC), mapOf({}, ATOMIC)])
  t.equal(memberTree(embedded ?? ATOMIC, 'kind'), ATOMIC)
  t.equal(memberTree(embedded ?? ATOMIC, 'spec'), undefined)
})

t.test('reads a kind behind a reference, and one that cannot be resolved', async (t) => {
  t.equal(memberTree(treeOf(ref('Open'), resolve), 'a'), ATOMIC)
  t.equal(memberTree(treeOf(ref('Gone'), resolve), 'kind'), ATOMIC)
})

t.test('puts no inherited member into a tree', async (t) => {
  t.equal(memberTree(mapOf({}), 'constructor'), undefined)
  t.equal(memberTree(ATOMIC, 'constructor'), undefined)
})

const at = (tree: MergeTree, ...names: readonly string[]) =>
  names.reduce<MergeTree | undefined>((parent, name) => parent && memberTree(parent, name), tree)

t.test('reads the CRDs of the catalog', async (t) => {
  const hco = crdTree('kubevirt/hyperconvergeds.hco.kubevirt.io.yaml', 'v1')
  const kubelet = crdTree('openshift/kubeletconfigs.machineconfiguration.openshift.io.yaml', 'v1')
  const nhc = crdTree('remediation/nodehealthchecks.remediation.medik8s.io.yaml', 'v1alpha1')
  t.equal(at(hco, 'spec', 'virtualization')?.type, 'map')
  t.equal(at(hco, 'spec', 'noSuchField'), undefined)
  t.equal(at(kubelet, 'spec', 'kubeletConfig', 'evictionHard')?.type, 'deduced')
  t.equal(at(kubelet, 'spec', 'machineConfigPoolSelector')?.type, 'atomic')
  t.match(at(nhc, 'spec', 'unhealthyConditions'), { type: 'list', keys: ['type', 'status'] })
  for (const tree of [hco, kubelet, nhc]) {
    t.strictSame(JSON.parse(JSON.stringify(tree)), tree, 'plain data')
  }
})
