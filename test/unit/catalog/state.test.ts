import t from 'tap'
import { detectHardware, holdHardware } from '../../../src/shared/catalog/hardware.ts'
import { parseState, type State, stateData } from '../../../src/shared/catalog/state.ts'
import { AUTOPILOT } from '../../../src/shared/engine/annotations.ts'
import { factsWith } from './facts.ts'

const state: State = {
  facts: factsWith({
    hco: { annotations: { 'enable-loadaware': 'true' }, spec: { featureGates: { a: true } } },
    images: { 'virt-launcher': 'quay.io/x' },
  }),
  hardware: {
    ...holdHardware(undefined, detectHardware([]), 0),
    gpuPresent: { value: true, falseSince: 1_700_000_000_000 },
  },
  settings: { [AUTOPILOT]: 'true' },
  baselines: { metallb: 'abc' },
  applied: { 'swap-enable': 'def' },
}

t.test('reads back what it wrote', async (t) => {
  const data = stateData(state)
  t.same(Object.keys(data), [
    'facts.json',
    'hardware.json',
    'settings.json',
    'baselines.json',
    'applied.json',
  ])
  t.strictSame(parseState(data), state)
})

t.test('takes no notice of what else the ConfigMap holds', async (t) => {
  t.strictSame(parseState({ ...stateData(state), 'more.json': '{"a": 1}' }), state)
})

const data = stateData(state)
const part = (name: string, value: unknown) => ({
  ...data,
  [`${name}.json`]: JSON.stringify(value),
})
const withFact = (name: string, value: unknown) => part('facts', { ...state.facts, [name]: value })

const garbage: readonly (readonly [what: string, data: unknown])[] = [
  ['no data', undefined],
  ['null', null],
  ['a text', '{}'],
  ['a list', []],
  ['an empty map', {}],
  ['data without one part', { ...data, 'applied.json': undefined }],
  ['a part that is no JSON', { ...data, 'facts.json': '{' }],
  ['a part that is no text', { ...data, 'facts.json': { hco: {} } }],
  ['facts that are null', part('facts', null)],
  ['facts that are a list', part('facts', [])],
  ['facts without the HyperConverged', withFact('hco', undefined)],
  [
    'a HyperConverged without a namespace',
    withFact('hco', { ...state.facts.hco, namespace: undefined }),
  ],
  [
    'a HyperConverged with a number for an annotation',
    withFact('hco', { ...state.facts.hco, annotations: { a: 1 } }),
  ],
  ['a HyperConverged without a spec', withFact('hco', { ...state.facts.hco, spec: undefined })],
  ['facts without hardware', withFact('hardware', undefined)],
  ['facts without a topology', withFact('topology', undefined)],
  ['served versions that are no list', withFact('served', { '/Node': 'v1' })],
  ['enums that are no lists', withFact('enums', { metallb: { profiles: 'a' } })],
  ['enums that are no maps', withFact('enums', { metallb: 'a' })],
  ['an image that is no text', withFact('images', { a: null })],
  ['facts without pools', withFact('pools', undefined)],
  ['sticky hardware that is a flag', part('hardware', { gpuPresent: true })],
  ['a setting that is no text', part('settings', { [AUTOPILOT]: true })],
  ['a digest that is no text', part('baselines', { metallb: 1 })],
  ['an applied digest that is no text', part('applied', { metallb: null })],
]

for (const [what, value] of garbage) {
  t.test(`takes ${what} for no state at all`, async (t) => {
    t.equal(parseState(value), undefined)
  })
}
