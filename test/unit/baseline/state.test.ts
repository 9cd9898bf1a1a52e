import t from 'tap'
import { AUTOPILOT, DISABLED_RESOURCES } from '../../../src/shared/baseline/annotations.ts'
import { detectHardware, holdHardware } from '../../../src/shared/baseline/facts/hardware.ts'
import {
  knownSettings,
  parseState,
  recall,
  type State,
  stateData,
  tellsOfAbsence,
  UNKNOWN,
} from '../../../src/shared/baseline/state.ts'
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
  sections: ['kubelet-perf-settings/numa'],
  settings: { [AUTOPILOT]: 'true' },
  neverValid: [DISABLED_RESOURCES],
  otherAutopilot: 'idle',
  disruptiveChanges: 'hold',
  activation: 'observe',
  baselines: { metallb: 'abc' },
  applied: { 'swap-enable': 'def' },
  approval: { digest: 'fed', count: 2, changes: { 'pci-passthrough': 'abc' } },
  unregistered: { MutatingWebhookConfiguration: 1_700_000_000_000 },
  hasHyperConverged: false,
  registered: { ValidatingWebhookConfiguration: 'u-1' },
}

t.test('reads back what it wrote', async (t) => {
  const data = stateData(state)
  t.same(Object.keys(data), [
    'facts.json',
    'hardware.json',
    'sections.json',
    'settings.json',
    'neverValid.json',
    'otherAutopilot.json',
    'disruptiveChanges.json',
    'activation.json',
    'applied.json',
    'approval.json',
    'unregistered.json',
    'hasHyperConverged.json',
    'registered.json',
    'baselines.json',
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
  [
    'pools that take the configuration of one that is no list',
    withFact('heirs', { worker: 'infra' }),
  ],
  ['sticky hardware that is a flag', part('hardware', { gpuPresent: true })],
  ['a setting that is no text', part('settings', { [AUTOPILOT]: true })],
  ['a setting that is no name', part('neverValid', [1])],
  ['settings that are no list', part('neverValid', { [AUTOPILOT]: 'observe' })],
  ['another autopilot that does what none does', part('otherAutopilot', 'asleep')],
  ['an activation that no flag has', part('activation', 'off')],
  ['a digest that is no text', part('baselines', { metallb: 1 })],
  ['an applied digest that is no text', part('applied', { metallb: null })],
  ['an approval of nothing', part('approval', { digest: 'a', count: 1 })],
  ['an approval whose digest is no text', part('approval', { digest: 1, count: 1, changes: {} })],
  ['an approval that is not counted', part('approval', { changes: {} })],
  ['a presence that is neither true nor false', part('hasHyperConverged', 'no')],
  ['a time that is no number', part('unregistered', { a: 'yesterday' })],
  ['an owner that is no text', part('registered', { a: true })],
]

for (const [what, value] of garbage) {
  t.test(`takes ${what} for no state at all`, async (t) => {
    t.equal(parseState(value), undefined)
  })
}

t.test('reads what a leader of the version before published', async (t) => {
  const {
    'neverValid.json': _n,
    'otherAutopilot.json': _o,
    'disruptiveChanges.json': _e,
    'activation.json': _f,
    'approval.json': _a,
    'unregistered.json': _b,
    'hasHyperConverged.json': _c,
    'registered.json': _d,
    ...before
  } = data
  t.strictSame(parseState(before), {
    ...state,
    neverValid: [],
    otherAutopilot: 'absent',
    disruptiveChanges: 'unknown',
    activation: 'on',
    approval: { count: 0, changes: {} },
    unregistered: {},
    hasHyperConverged: true,
    registered: {},
  })
})

t.test('a new leader recalls whatever it can read of what the last one knew', async (t) => {
  const { facts: _facts, baselines: _baselines, ...memory } = state
  t.strictSame(recall(data), memory)
  t.strictSame(recall({ ...data, 'facts.json': '{"of": "another version"}' }), memory)
  const { hardware: _hardware, ...rest } = memory
  t.strictSame(recall({ ...data, 'hardware.json': '[]', 'baselines.json': '{' }), rest)
  for (const nothing of [undefined, null, '', [], {}]) t.strictSame(recall(nothing), {})
})

t.test('a part of a state tells whether there is a HyperConverged', async (t) => {
  const absent = stateData({ hasHyperConverged: false })
  t.strictSame(absent, { 'hasHyperConverged.json': 'false' })
  t.equal(parseState(absent), undefined)
  t.ok(tellsOfAbsence(absent))
  t.ok(tellsOfAbsence({ ...data, 'facts.json': '{"of": "another version"}' }))
  for (const unknown of [undefined, {}, stateData({ hasHyperConverged: true }), 'no'])
    t.notOk(tellsOfAbsence(unknown), JSON.stringify(unknown))
})

t.test('a first leader knows nothing of the settings, and every other one what was', async (t) => {
  const present = { hasHyperConverged: true }
  const after = (data: unknown) => knownSettings({ ...UNKNOWN, ...recall(data), ...present })
  t.equal(after(undefined), undefined, 'nobody published anything')
  t.equal(after({ ...data, 'settings.json': '{' }), undefined, 'what was published is lost')
  t.strictSame(after(part('settings', {})), { valid: {}, neverValid: [DISABLED_RESOURCES] })
})

t.test('what one HyperConverged did not say is no word on the next', async (t) => {
  const memory = { ...UNKNOWN, settings: {}, neverValid: [] }
  t.strictSame(knownSettings(memory), { valid: {}, neverValid: [] })
  t.equal(knownSettings({ ...memory, hasHyperConverged: false }), undefined)
})
