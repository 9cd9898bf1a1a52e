import fc from 'fast-check'
import t from 'tap'
import { isExcluded } from '../../../src/shared/catalog/exclusions.ts'
import {
  type Annotations,
  isSelected,
  readSettings,
  type Settings,
  unknownNames,
} from '../../../src/shared/catalog/settings.ts'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
} from '../../../src/shared/engine/annotations.ts'
import { seed } from '../engine/schemas.ts'
import { assetNamed, catalog } from './facts.ts'

const ALL: Settings = { activation: { kind: 'all' }, exclusions: [] }

t.test('selects everything and leaves the rest to the flags where nothing is stated', async (t) => {
  t.strictSame(readSettings({}), { settings: ALL, valid: {}, problems: [] })
  const others = { [`${AUTOPILOT}x`]: 'no', 'example.com/autopilot': 'false' }
  t.strictSame(readSettings(others), { settings: ALL, valid: {}, problems: [] })
})

const stated: readonly (readonly [key: string, text: string, meaning: Partial<Settings>])[] = [
  [AUTOPILOT, 'true', { activation: { kind: 'all' } }],
  [AUTOPILOT, 'false', { activation: { kind: 'off' } }],
  [AUTOPILOT, 'observe', { activation: { kind: 'observe' } }],
  [AUTOPILOT, 'swap', { activation: { kind: 'only', names: ['swap'] } }],
  [
    AUTOPILOT,
    ' swap-enable , hco,swap2',
    { activation: { kind: 'only', names: ['swap-enable', 'hco', 'swap2'] } },
  ],
  [DISABLED_RESOURCES, '[]', { exclusions: [] }],
  [
    DISABLED_RESOURCES,
    '[swap-enable, "network/*"]',
    { exclusions: [{ asset: 'swap-enable' }, { asset: 'network/*' }] },
  ],
  [
    DISABLED_RESOURCES,
    '- kind: MachineConfig\n  name: 90-*\n',
    { exclusions: [{ kind: 'MachineConfig', name: '90-*' }] },
  ],
  [
    DISABLED_RESOURCES,
    '[{"kind": "*", "name": "*", "namespace": "metallb-*"}]',
    { exclusions: [{ kind: '*', name: '*', namespace: 'metallb-*' }] },
  ],
  [DISRUPTIVE_CHANGES, 'apply', { disruptiveChanges: 'apply' }],
  [DISRUPTIVE_CHANGES, 'hold', { disruptiveChanges: 'hold' }],
  [ENFORCEMENT, 'correct', { enforcement: 'correct' }],
  [ENFORCEMENT, 'deny', { enforcement: 'deny' }],
]

for (const [key, text, meaning] of stated) {
  t.test(`reads ${key}: ${text.trim()}`, async (t) => {
    t.strictSame(readSettings({ [key]: text }), {
      settings: { ...ALL, ...meaning },
      valid: { [key]: text },
      problems: [],
    })
  })
}

const NOT_A_SWITCH =
  'must be "true", "false", "observe" or a comma separated list of asset and group names, not '
const NOT_A_LIST = 'must be a YAML list of names, or of {kind, name, namespace}'
const HUGE = 'must not be longer than 16384 characters'

const invalid: readonly (readonly [key: string, text: string, message: string])[] = [
  ...[
    'True',
    'yes',
    'no',
    'on',
    'off',
    '1',
    '0',
    'disabled',
    'enable',
    'none',
    'true,foo',
    'foo,observe',
    'swap,,hco',
    'swap,',
    '',
    ' ',
    ' true',
    'a b',
    'swap_enable',
    'swap*',
    '-',
  ].map((text) => [AUTOPILOT, text, `${NOT_A_SWITCH}${JSON.stringify(text)}`] as const),
  [AUTOPILOT, 'Swap\u001b[2J', `${NOT_A_SWITCH}"Swap\\u001b[2J"`],
  [AUTOPILOT, `A${'a'.repeat(100)}`, `${NOT_A_SWITCH}"A${'a'.repeat(57)}…`],
  [AUTOPILOT, 'a,'.repeat(8_193), HUGE],
  [DISABLED_RESOURCES, '', NOT_A_LIST],
  [DISABLED_RESOURCES, 'swap-enable', NOT_A_LIST],
  [DISABLED_RESOURCES, 'kind: MachineConfig', NOT_A_LIST],
  [
    DISABLED_RESOURCES,
    '[swap',
    'must be a YAML list: Flow sequence must end with a ] at line 1, column 6',
  ],
  [
    DISABLED_RESOURCES,
    '[!!set x]',
    'must be a YAML list: Unresolved tag: tag:yaml.org,2002:set at line 1, column 2',
  ],
  [
    DISABLED_RESOURCES,
    '- a\n---\n- b',
    'must be a YAML list: Source contains multiple documents; please use YAML.parseAllDocuments() at line 2, column 1',
  ],
  [DISABLED_RESOURCES, '[a, 1]', 'item 1 must be a name or {kind, name, namespace}'],
  [DISABLED_RESOURCES, '[""]', 'item 0 must be a name or {kind, name, namespace}'],
  [DISABLED_RESOURCES, '[[a]]', 'item 0 must be a name or {kind, name, namespace}'],
  [DISABLED_RESOURCES, '[&a x, *a]', 'item 1 must be a name or {kind, name, namespace}'],
  [
    DISABLED_RESOURCES,
    '[{kind: A, name: a, nmespace: b}]',
    'item 0 has the unknown field "nmespace"',
  ],
  [DISABLED_RESOURCES, '[{kind: A, name: a, [b]: c}]', 'item 0 has the unknown field ""'],
  [DISABLED_RESOURCES, '[{kind: A, name: a, name: b}]', 'item 0 has a field twice'],
  [DISABLED_RESOURCES, '[{kind: A}]', 'item 0 must have a kind and a name, both strings'],
  [DISABLED_RESOURCES, '[{name: a}]', 'item 0 must have a kind and a name, both strings'],
  [DISABLED_RESOURCES, '[{kind: A, name: ""}]', 'item 0 must have a kind and a name, both strings'],
  [DISABLED_RESOURCES, '[{kind: A, name: 7}]', 'item 0 must have a kind and a name, both strings'],
  [
    DISABLED_RESOURCES,
    '[{kind: A, name: a, namespace: 7}]',
    'item 0 has a namespace that is no string',
  ],
  [
    DISABLED_RESOURCES,
    '[{kind: A, name: a, namespace: }]',
    'item 0 has a namespace that is no string',
  ],
  [DISABLED_RESOURCES, `[${'a,'.repeat(8_192)}]`, HUGE],
  [DISRUPTIVE_CHANGES, 'Apply', 'must be "apply" or "hold", not "Apply"'],
  [DISRUPTIVE_CHANGES, '', 'must be "apply" or "hold", not ""'],
  [ENFORCEMENT, 'denied', 'must be "correct" or "deny", not "denied"'],
]

/** What is in force where nothing valid is known: nothing is written, corrected or rolled. */
const CAUTIOUS: Annotations = {
  [AUTOPILOT]: 'observe',
  [DISABLED_RESOURCES]: '["*"]',
  [DISRUPTIVE_CHANGES]: 'hold',
}
const LAST_VALID: Annotations = {
  [AUTOPILOT]: 'swap,hco',
  [DISABLED_RESOURCES]: '[metallb]',
  [DISRUPTIVE_CHANGES]: 'apply',
  [ENFORCEMENT]: 'deny',
}
const only = (annotations: Annotations, key: string): Annotations => {
  const text = annotations[key]
  return text === undefined ? {} : { [key]: text }
}

for (const [key, text, message] of invalid) {
  t.test(`refuses ${key}: ${JSON.stringify(text.slice(0, 40))}`, async (t) => {
    const problems = [{ reason: 'InvalidSetting', annotation: key, message }]
    const cautious = only(CAUTIOUS, key)
    t.strictSame(
      readSettings({ [key]: text }),
      { settings: readSettings(cautious).settings, valid: cautious, problems },
      'is cautious where nothing valid is known',
    )
    const kept = only(LAST_VALID, key)
    t.strictSame(
      readSettings({ [key]: text }, LAST_VALID),
      { settings: readSettings(kept).settings, valid: kept, problems },
      'keeps the last valid meaning',
    )
    t.strictSame(
      readSettings({ [key]: text }, { [key]: text }),
      { settings: readSettings(cautious).settings, valid: cautious, problems },
      'does not take what is invalid for a last valid meaning',
    )
  })
}

t.test('nothing is written where a switch is invalid and no valid one is known', async (t) => {
  const { settings } = readSettings({
    [AUTOPILOT]: 'True',
    [DISABLED_RESOURCES]: 'swap',
    [DISRUPTIVE_CHANGES]: 'yes',
    [ENFORCEMENT]: 'hard',
  })
  t.strictSame(settings, {
    activation: { kind: 'observe' },
    exclusions: [{ asset: '*' }],
    disruptiveChanges: 'hold',
  })
})

t.test('what is in force reads the same for whoever knows only that', async (t) => {
  for (const [key, text] of invalid) {
    const { settings, valid } = readSettings({ [key]: text })
    t.strictSame(readSettings(valid), { settings, valid, problems: [] }, text.slice(0, 40))
  }
})

t.test('forgets a setting that is taken back', async (t) => {
  t.strictSame(readSettings({}, LAST_VALID).settings, ALL)
})

t.test('reads any text without throwing, and only valid text is in force', async (t) => {
  const keys = fc.constantFrom(AUTOPILOT, DISABLED_RESOURCES, DISRUPTIVE_CHANGES, ENFORCEMENT)
  const yaml = fc.string({
    unit: fc.constantFrom(
      'a',
      '*',
      '[',
      ']',
      '{',
      '}',
      ':',
      ' ',
      ',',
      '-',
      '\n',
      '&',
      '"',
      '#',
      '!',
    ),
  })
  const property = fc.property(fc.dictionary(keys, fc.oneof(yaml, fc.string())), (annotations) => {
    const { valid, problems } = readSettings(annotations)
    t.strictSame(readSettings(valid).problems, [])
    t.ok(problems.every(({ annotation }) => valid[annotation] !== annotations[annotation]))
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('reads hostile YAML within the time of a request', async (t) => {
  const size = 16_000
  const hostile = [
    '['.repeat(size),
    '- '.repeat(size / 2),
    `[{${Array.from({ length: size / 6 }, (_, index) => `k${index.toString(36)}`).join(',')}}]`,
    `[&a [x],${'*a,'.repeat(size / 4)}]`,
    '\t}\n'.repeat(size / 3),
  ]
  for (const text of hostile) {
    const before = performance.now()
    const { problems } = readSettings({ [DISABLED_RESOURCES]: text })
    t.equal(problems.length, 1, text.slice(0, 9))
    // A hundredfold of what it takes: this is about powers, not about percents.
    t.ok(performance.now() - before < 5_000)
  }
})

const selections: readonly (readonly [text: string, asset: string, isSelected: boolean])[] = [
  ['true', 'swap-enable', true],
  ['false', 'swap-enable', true],
  ['observe', 'swap-enable', true],
  ['swap-enable', 'swap-enable', true],
  ['hco,swap-enable', 'swap-enable', true],
  ['swap', 'swap-enable', true],
  ['remediation', 'swap-enable', false],
  ['swap-enable-master', 'swap-enable', false],
]

for (const [text, name, isWanted] of selections) {
  t.test(`autopilot: ${text} ${isWanted ? 'selects' : 'leaves out'} ${name}`, async (t) => {
    const { activation } = readSettings({ [AUTOPILOT]: text }).settings
    t.equal(isSelected(activation, assetNamed(name)), isWanted)
  })
}

const exclusions: readonly (readonly [text: string, ...excluded: string[]])[] = [
  ['[]'],
  ['[metallb]', 'metallb'],
  ['[metal]'],
  ['["*-enable"]', 'swap-enable', 'psi-enable'],
  ['[swap/swap-enable]', 'swap-enable'],
  ['["network/*"]', 'metallb'],
  ['[network]'],
  ['[swap-enable, "*loadaware"]', 'swap-enable', 'descheduler-loadaware'],
  ['[{kind: MachineConfig, name: 90-worker-swap-online}]', 'swap-enable'],
  ['[{kind: MachineConfig, name: "*-virt-pci-*"}]', 'pci-passthrough', 'pci-passthrough-master'],
  [
    '[{kind: "Kubelet*", name: "*"}, {kind: MachineConfig, name: "90-*"}]',
    'swap-enable',
    'swap-enable-master',
    'kubelet-perf-settings',
    'kubelet-perf-settings-master',
  ],
  ['[{kind: MachineConfig, name: swap-enable}]'],
  ['[{kind: MetalLB, name: metallb, namespace: metallb-system}]', 'metallb'],
  ['[{kind: MetalLB, name: metallb, namespace: "metallb-*"}]', 'metallb'],
  ['[{kind: MetalLB, name: metallb, namespace: other}]'],
  ['[{kind: MachineConfig, name: "90*", namespace: other}]'],
  ['[{kind: HyperConverged, name: "*", namespace: kubevirt}]', 'hco-golden-config'],
  ['["*"]', ...catalog.map(({ name }) => name)],
]

for (const [text, ...excluded] of exclusions) {
  t.test(
    `disabled-resources: ${text} switches ${excluded.join(', ') || 'nothing'} off`,
    async (t) => {
      const { settings, problems } = readSettings({ [DISABLED_RESOURCES]: text })
      t.same(problems, [])
      const off = catalog.filter((asset) => {
        const { namespace } = asset.object
        return isExcluded(settings.exclusions, asset, namespace === '$hco' ? 'kubevirt' : namespace)
      })
      t.same(
        off.map(({ name }) => name),
        excluded,
      )
    },
  )
}

const LISTED = '`virt-platform-autopilot render -o status` lists all that there are'

const names: readonly (readonly [text: string, ...sentences: string[]])[] = [
  ['true'],
  ['false'],
  ['swap,metallb,hco'],
  [
    'swap-enabled,swap-enabled',
    'no asset or group is named "swap-enabled": did you mean "swap-enable"?',
  ],
  [
    'metalb,swap,kubelets',
    'no asset or group is named "metalb": did you mean "metallb"?',
    'no asset or group is named "kubelets": did you mean "kubelet"?',
  ],
  [`swap-${'x'.repeat(100)}`, `no asset or group is named "swap-${'x'.repeat(53)}…: ${LISTED}`],
  ['kubevirt', `no asset or group is named "kubevirt": ${LISTED}`],
]

const disabled: typeof names = [
  ['[swap-enable, "swap*", "network/*", swap/swap-enable]'],
  ['[{kind: MachineConfig, name: 90-*}, {kind: "*", name: "*", namespace: anywhere}]'],
  ['[swap]', 'no asset to disable is named "swap": did you mean "swap/*"?'],
  [
    '[{kind: MachineConfgi, name: 90-*}]',
    'no object to disable is of kind "MachineConfgi": did you mean "MachineConfig"?',
  ],
  [
    '[{kind: MetalLB, name: metalb}, metalb]',
    'no asset to disable is named "metalb": did you mean "metallb"?',
    'no object of kind "MetalLB" to disable is named "metalb": did you mean "metallb"?',
  ],
  [
    '[{kind: Pod, name: x}, {kind: MetalLB, name: nothing}, everything]',
    `no asset to disable is named "everything": ${LISTED}`,
    `no object to disable is of kind "Pod": ${LISTED}`,
    `no object of kind "MetalLB" to disable is named "nothing": ${LISTED}`,
  ],
]

for (const [text, ...sentences] of disabled) {
  t.test(`disabled-resources: ${text} has ${sentences.length} unknown names`, async (t) => {
    t.same(unknownNames(readSettings({ [DISABLED_RESOURCES]: text }).settings, catalog), sentences)
  })
}

for (const [text, ...sentences] of names) {
  t.test(`autopilot: ${text.slice(0, 40)} has ${sentences.length} unknown names`, async (t) => {
    t.same(unknownNames(readSettings({ [AUTOPILOT]: text }).settings, catalog), sentences)
  })
}
