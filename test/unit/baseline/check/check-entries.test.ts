import t from 'tap'
import type { Condition } from '../../../../src/shared/baseline/catalog/condition-schemas.ts'
import { entry, HEAD, mistakesIn } from './checked.ts'

const FILES = { 'active/one.yaml.ejs': HEAD }
const PLACED = { 'active/one.yaml.ejs': `${HEAD}  namespace: <%= object.namespace %>\n` }
const HCO = {
  group: 'hco.kubevirt.io',
  versions: ['v1'],
  kind: 'HyperConverged',
  resource: 'hyperconvergeds',
  namespace: '$hco',
  name: 'kubevirt-hyperconverged',
}
const section = (name: string, conditions: readonly Condition[] = []) => ({
  name,
  description: 'a reason',
  install: 'always',
  conditions,
})
const asking = (...names: readonly string[]) => ({
  'active/one.yaml.ejs': `${HEAD}<%# ${names} %>${names.map((name) => `<%_ sections['${name}'] -%>`).join('')}`,
})
const at = (message: string, name = 'asset one') => `catalog.yaml:1: ${name}${message}`

t.test('an asset that has nothing wrong is admitted', async (t) => {
  t.same(mistakesIn({ assets: [entry()] }, FILES), [])
})

t.test('order 0 is for the HyperConverged, and for nothing else', async (t) => {
  t.same(mistakesIn({ assets: [entry({ order: 0 })] }, FILES), [
    at(': /order is 0, which the HyperConverged has alone: write a greater number'),
  ])
  t.same(mistakesIn({ assets: [entry({ object: HCO })] }, PLACED), [
    at(': /order must be 0: the HyperConverged comes first, since facts are read from it'),
  ])
  t.same(mistakesIn({ assets: [entry({ object: HCO, order: 0 })] }, PLACED), [])
})

t.test('a section has a name of its own', async (t) => {
  const sections = [section('a'), section('b'), section('a')]
  t.same(mistakesIn({ assets: [entry({ sections })] }, asking('a', 'b')), [
    at(': /sections/2/name is "a" a second time: choose another'),
  ])
})

t.test('no condition is on an annotation that has a meaning of its own', async (t) => {
  for (const key of [
    'autopilot',
    'disabled-resources',
    'disruptive-changes',
    'enforcement',
    'approve',
    'patch',
    'ignore-fields',
    'mode',
    'reconcile-paused',
    'managed-by',
  ]) {
    const condition: Condition = { type: 'annotation', key }
    const asset = entry({ install: 'opt-in', conditions: [condition] })
    const told = `/key is "${key}", which has a meaning of its own: choose another name`
    t.same(mistakesIn({ assets: [asset] }, FILES), [at(`: /conditions/0${told}`)])
    const sections = [section('a', [{ ...condition, not: true }])]
    t.same(mistakesIn({ assets: [entry({ sections })] }, asking('a')), [
      at(`: /sections/0/conditions/0${told}`),
    ])
  }
})

t.test('no object is one of the product’s own', async (t) => {
  const own: readonly (readonly [group: string, kind: string, resource: string, name: string])[] = [
    ['', 'ConfigMap', 'configmaps', 'virt-platform-autopilot-state'],
    ['', 'Secret', 'secrets', 'virt-platform-autopilot-webhook-tls'],
    ['', 'ServiceAccount', 'serviceaccounts', 'virt-platform-autopilot-webhook'],
    ['coordination.k8s.io', 'Lease', 'leases', 'virt-platform-autopilot.kubevirt.io'],
    ['rbac.authorization.k8s.io', 'Role', 'roles', 'virt-platform-autopilot-reconciler'],
  ]
  const told = ' is the product’s own, which it keeps itself: take it away'
  const files = { 'active/one.yaml.ejs': `${HEAD}  namespace: <%= object.namespace %>\n` }
  for (const [group, kind, resource, name] of own) {
    const object = { group, versions: ['v1'], kind, resource, name, namespace: '$autopilot' }
    const there = { ...object, namespace: 'elsewhere' }
    const tombstone = { name: 'gone', group: 'some', description: 'nobody needs it any more' }
    t.same(mistakesIn({ assets: [entry({ object })] }, files), [at(`: /object${told}`)], name)
    t.same(mistakesIn({ assets: [entry({ object: there })] }, files), [], name)
    t.same(mistakesIn({ assets: [], tombstones: [{ ...tombstone, object }] }, files), [
      at(`: /object${told}`, 'tombstone gone'),
    ])
  }
  const object = {
    group: 'admissionregistration.k8s.io',
    versions: ['v1'],
    kind: 'MutatingWebhookConfiguration',
    resource: 'mutatingwebhookconfigurations',
    name: 'virt-platform-autopilot',
  }
  t.same(mistakesIn({ assets: [entry({ object })] }, FILES), [at(`: /object${told}`)])
})

t.test('an asset yields to an asset, not to a tombstone', async (t) => {
  const tombstone = {
    name: 'gone',
    group: 'some',
    description: 'nobody needs it any more',
    object: { ...entry().object, name: 'old' },
  }
  const assets = [entry({ yieldsTo: 'gone' })]
  t.same(mistakesIn({ assets, tombstones: [tombstone] }, FILES), [
    at(' yields to gone, which is no asset'),
  ])
})

t.test('an asset needs an asset that needs no other', async (t) => {
  t.same(mistakesIn({ assets: [entry({ needs: 'nobody' })] }, FILES), [
    at(' needs nobody, which is no asset'),
  ])
  t.same(mistakesIn({ assets: [entry({ needs: 'one' })] }, FILES), [
    at(' needs one, which needs another itself, or yields to one: name that'),
  ])
})

t.test('an asset yields to one that is not there wherever it could be itself', async (t) => {
  const compact: Condition = { type: 'topology', field: 'compact' }
  const asked: Condition = { type: 'annotation', key: 'a' }
  const thing = (name: string) => ({ ...entry().object, name })
  const other = { ...thing('two'), kind: 'Other', resource: 'others' }
  const cases: readonly (readonly [mine: object, its: object, isWrong: boolean])[] = [
    [{}, {}, true],
    [{ conditions: [compact] }, {}, true],
    [{ conditions: [compact, asked] }, { conditions: [compact] }, true],
    [{ conditions: [asked] }, { install: 'opt-in', conditions: [asked] }, true],
    [{}, { install: 'opt-in', conditions: [asked] }, false],
    [{}, { conditions: [compact] }, false],
    [{ conditions: [compact] }, { conditions: [{ ...compact, not: true }] }, false],
    [{}, { object: other }, false],
    [{ conditions: [{ type: 'crd', group: 'x.io', kind: 'Other' }] }, { object: other }, false],
    [
      { conditions: [{ type: 'crd', group: 'x.io', kind: 'Other', versions: ['v1'] }] },
      { object: other },
      true,
    ],
  ]
  for (const [mine, its, isWrong] of cases) {
    const assets = [
      entry({ yieldsTo: 'two', ...mine }),
      entry({ name: 'two', object: thing('two'), ...its }),
    ]
    const told = at(
      ' yields to two, which is active wherever this one could be: give two a condition that one has not, or take one away',
    )
    t.same(mistakesIn({ assets }, FILES), isWrong ? [told] : [], JSON.stringify([mine, its]))
  }
})

t.test('an asset yields to none that yields itself', async (t) => {
  const assets = [
    entry({ yieldsTo: 'two' }),
    entry({ name: 'two', object: { ...entry().object, name: 'two' }, yieldsTo: 'one' }),
  ]
  t.same(mistakesIn({ assets }, FILES), [
    at(' yields to two, which yields to another itself'),
    at(' yields to one, which yields to another itself', 'asset two'),
  ])
})

const annotation: Condition = { type: 'annotation', key: 'a' }
const gate: Condition = { type: 'feature-gate', name: 'G' }
const image: Condition = { type: 'image', key: 'i' }
const shape: Condition = { type: 'topology', field: 'compact' }
const not = (condition: Condition): Condition => ({ ...condition, not: true })

const together: readonly (readonly [a: Condition, b: Condition])[] = [
  [annotation, annotation],
  [annotation, not({ ...annotation, value: 'x' })],
  [not(annotation), not(annotation)],
  [{ ...annotation, gate: 'G' }, not(annotation)],
  [gate, not(image)],
  [gate, not({ type: 'feature-gate', name: 'H' })],
]

for (const [a, b] of together) {
  t.test(`${JSON.stringify(a)} and ${JSON.stringify(b)} can hold together`, async (t) => {
    t.same(mistakesIn({ assets: [entry({ conditions: [a, b] })] }, FILES), [])
    t.same(mistakesIn({ assets: [entry({ conditions: [b, a] })] }, FILES), [])
  })
}

t.test('a fact of the topology that is to have two values is told', async (t) => {
  const on = (value: string) => ({ type: 'topology', field: 'provider', value }) as const
  const never = (...conditions: Parameters<typeof not>[0][]) =>
    mistakesIn({ assets: [entry({ conditions })] }, FILES)
  t.match(never(on('aws'), on('vsphere'))[0], /: \/conditions\/1 never holds together with /)
  t.match(
    never(shape, { ...shape, value: false })[0],
    /: \/conditions\/1 never holds together with /,
  )
  t.same(never(not(on('aws')), not(on('vsphere'))), [], 'others are left')
  t.same(never(on('aws'), { ...shape, value: false }), [])
})

t.test('conditions that never hold together are told with both their places', async (t) => {
  const sections = [
    section('a', [not(shape)]),
    section('b', [gate, image, not(gate)]),
    section('c', [gate]),
  ]
  const assets = [entry({ conditions: [shape, gate, not(shape)], sections })]
  const against = (other: string, mine: string, its: string) =>
    ` never holds together with ${other}: "${mine}" against "${its}"; take one of them away`
  const on = 'the topology is compact=true'
  const gateOn = "the HyperConverged's feature gate G is on"
  t.same(mistakesIn({ assets }, asking('a', 'b', 'c')), [
    at(`: /conditions/2${against('/conditions/0', `not (${on})`, on)}`),
    at(`: /sections/0/conditions/0${against('/conditions/0', `not (${on})`, on)}`),
    at(`: /sections/1/conditions/2${against('/conditions/1', `not (${gateOn})`, gateOn)}`),
  ])
})
