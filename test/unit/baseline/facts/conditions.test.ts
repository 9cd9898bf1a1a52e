import t from 'tap'
import type { Condition } from '../../../../src/shared/baseline/catalog/condition-schemas.ts'
import {
  describeCondition,
  holds,
  isOptIn,
} from '../../../../src/shared/baseline/facts/conditions.ts'
import {
  DETECTORS,
  type Facts,
  TOPOLOGY_FIELDS,
} from '../../../../src/shared/baseline/facts/facts.ts'
import { type Changes, factsWith, readAsset } from '../facts.ts'

const crd = (versions?: readonly string[]): Condition => ({
  type: 'crd',
  group: 'x.io',
  kind: 'Thing',
  ...(versions && { versions }),
})
const served = (...versions: readonly string[]): Changes => ({ served: { 'x.io/Thing': versions } })
const annotated = (annotations: Readonly<Record<string, string>>): Changes => ({
  hco: { annotations },
})
const spec = (value: Facts['hco']['spec']): Changes => ({ hco: { spec: value } })
const unconfigured = (pointer: string): Condition => ({ type: 'hco-field-unconfigured', pointer })
const onPlatform = (value: string): Condition => ({ type: 'topology', field: 'provider', value })
const gate: Condition = { type: 'feature-gate', name: 'CPUManager' }
const eitherWay: Condition = { type: 'annotation', key: 'enable-x', gate: 'CPUManager' }

const vectors: readonly (readonly [what: string, Condition, Changes, isHeld: boolean])[] = [
  ['an API that is served', crd(), served('v1'), true],
  ['an API that is not served', crd(), served(), false],
  ['an API that nobody looked for', crd(), {}, false],
  ['an API served in a wanted version', crd(['v2', 'v1']), served('v1', 'v1beta1'), true],
  ['an API served in other versions', crd(['v2']), served('v1'), false],
  [
    'an annotation that says true',
    { type: 'annotation', key: 'enable-x' },
    annotated({ 'enable-x': 'true' }),
    true,
  ],
  [
    'an annotation that says something else',
    { type: 'annotation', key: 'enable-x' },
    annotated({ 'enable-x': 'yes' }),
    false,
  ],
  ['an annotation that is not there', { type: 'annotation', key: 'enable-x' }, {}, false],
  [
    'an annotation with the wanted value',
    { type: 'annotation', key: 'size', value: 'big' },
    annotated({ size: 'big' }),
    true,
  ],
  [
    'an annotation with another value',
    { type: 'annotation', key: 'size', value: 'big' },
    annotated({ size: 'true' }),
    false,
  ],
  [
    'hardware that is there',
    { type: 'hardware-detection', detector: 'gpuPresent' },
    { hardware: { gpuPresent: true } },
    true,
  ],
  ['hardware that is not there', { type: 'hardware-detection', detector: 'gpuPresent' }, {}, false],
  ['a shape', { type: 'topology', field: 'compact' }, { topology: { compact: true } }, true],
  ['another shape', { type: 'topology', field: 'compact' }, {}, false],
  ['the wanted platform', onPlatform('vsphere'), { topology: { provider: 'vsphere' } }, true],
  ['another platform', onPlatform('vsphere'), {}, false],
  ['a platform of which nothing says', onPlatform('none'), { topology: { provider: '' } }, false],
  ['the absence of a shape', { type: 'topology', field: 'compact', value: false }, {}, true],
  [
    'a feature gate that v1 enables',
    gate,
    spec({ featureGates: [{ name: 'CPUManager', state: 'Enabled' }] }),
    true,
  ],
  [
    'a feature gate that v1 names alone',
    gate,
    spec({ featureGates: [{ name: 'CPUManager' }] }),
    true,
  ],
  [
    'a feature gate that v1 disables',
    gate,
    spec({ featureGates: [{ name: 'CPUManager', state: 'Disabled' }] }),
    false,
  ],
  [
    'a feature gate that v1 does not name',
    gate,
    spec({ featureGates: [{ name: 'Other' }, 'CPUManager'] }),
    false,
  ],
  [
    'a feature gate that v1beta1 turns on',
    gate,
    spec({ featureGates: { CPUManager: true } }),
    true,
  ],
  [
    'a feature gate that v1beta1 turns off',
    gate,
    spec({ featureGates: { CPUManager: false } }),
    false,
  ],
  ['a feature gate where there are none', gate, {}, false],
  ['an annotation, or else a gate', eitherWay, annotated({ 'enable-x': 'true' }), true],
  [
    'an annotation whose gate says it instead',
    eitherWay,
    spec({ featureGates: [{ name: 'CPUManager' }] }),
    true,
  ],
  [
    'an annotation that takes the word of its gate back',
    eitherWay,
    {
      hco: {
        annotations: { 'enable-x': 'false' },
        spec: { featureGates: [{ name: 'CPUManager' }] },
      },
    },
    false,
  ],
  ['neither an annotation nor its gate', eitherWay, {}, false],
  [
    'an image that is known',
    { type: 'image', key: 'virt-launcher' },
    { images: { 'virt-launcher': 'quay.io/x' } },
    true,
  ],
  [
    'an image that is empty',
    { type: 'image', key: 'virt-launcher' },
    { images: { 'virt-launcher': '' } },
    false,
  ],
  ['an image that is not known', { type: 'image', key: 'constructor' }, {}, false],
  ['a field that is left alone', unconfigured('/a/b'), spec({ a: {} }), true],
  ['a field that is null', unconfigured('/a'), spec({ a: null }), true],
  ['a field that is an empty map', unconfigured('/a'), spec({ a: {} }), true],
  ['a field that is set', unconfigured('/a/b'), spec({ a: { b: 1 } }), false],
  ['a field that is set to false', unconfigured('/a'), spec({ a: false }), false],
  ['a field that is an empty list', unconfigured('/a'), spec({ a: [] }), false],
]

for (const [what, condition, changes, isHeld] of vectors) {
  t.test(`${condition.type} ${isHeld ? 'holds' : 'does not hold'} for ${what}`, async (t) => {
    const facts = factsWith(changes)
    t.equal(holds(condition, facts), isHeld)
    t.equal(holds({ ...condition, not: true }, facts), !isHeld, 'and not the other way round')
    t.equal(holds({ ...condition, not: false }, facts), isHeld)
  })
}

const unknown: readonly (readonly [Condition, message: string])[] = [
  [{ type: 'hardware-detection', detector: 'gpuPresent' }, 'the fact gpuPresent is not known'],
  [{ type: 'topology', field: 'compact' }, 'the fact compact is not known'],
  [onPlatform('none'), 'the fact provider is not known'],
  [unconfigured('a'), 'hco-field-unconfigured: "a" must start with "/" or be empty'],
]

for (const [condition, message] of unknown) {
  t.test(`${condition.type} that cannot be judged throws, also when turned around`, async (t) => {
    const facts = { ...factsWith(), hardware: {}, topology: {} } as unknown as Facts
    t.throws(() => holds(condition, facts), new Error(message))
    t.throws(() => holds({ ...condition, not: true }, facts), new Error(message))
  })
}

const described: readonly (readonly [Condition, text: string])[] = [
  [crd(), 'the API x.io/Thing is served'],
  [
    { type: 'annotation', key: 'enable-x' },
    'the HyperConverged is annotated platform.kubevirt.io/enable-x=true',
  ],
  [
    { type: 'annotation', key: 'x', value: 'y' },
    'the HyperConverged is annotated platform.kubevirt.io/x=y',
  ],
  [{ type: 'hardware-detection', detector: 'gpuPresent' }, 'gpuPresent on some node'],
  [{ type: 'topology', field: 'compact' }, 'the topology is compact=true'],
  [{ type: 'topology', field: 'compact', value: false }, 'the topology is compact=false'],
  [onPlatform('vsphere'), 'the topology is provider=vsphere'],
  [gate, "the HyperConverged's feature gate CPUManager is on"],
  [
    eitherWay,
    'the HyperConverged is annotated platform.kubevirt.io/enable-x=true, or has the feature gate CPUManager on',
  ],
  [{ type: 'image', key: 'virt-launcher' }, 'the image virt-launcher is known'],
  [unconfigured('/a'), 'the HyperConverged does not set /a'],
  [{ ...gate, not: true }, "not (the HyperConverged's feature gate CPUManager is on)"],
]

for (const [condition, text] of described) {
  t.test(`says "${text}"`, async (t) => {
    t.equal(describeCondition(condition), text)
  })
}

t.test('only an annotation or a feature gate that must be there is an opt-in', async (t) => {
  t.ok(isOptIn(gate))
  t.ok(isOptIn({ type: 'annotation', key: 'enable-x', not: false }))
  t.notOk(isOptIn({ type: 'annotation', key: 'enable-x', not: true }))
  t.notOk(isOptIn(crd()))
})

t.test('the schema of the catalog admits exactly the facts that there are', async (t) => {
  const { definitions } = JSON.parse(readAsset('catalog.schema.json'))
  t.strictSame(definitions['hardware-detection'].properties.detector.enum, [...DETECTORS])
  t.strictSame(definitions.topology.properties.field.enum, [...TOPOLOGY_FIELDS, 'provider'])
})
