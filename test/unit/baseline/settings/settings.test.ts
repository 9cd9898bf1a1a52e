import fc from 'fast-check'
import t from 'tap'
import {
  AUTOPILOT,
  DISABLED_RESOURCES,
  DISRUPTIVE_CHANGES,
  ENFORCEMENT,
} from '../../../../src/shared/baseline/annotations.ts'
import { isObserving, isSelected } from '../../../../src/shared/baseline/settings/activation.ts'
import { isExcluded } from '../../../../src/shared/baseline/settings/exclusions.ts'
import { settingNote } from '../../../../src/shared/baseline/settings/setting-note.ts'
import {
  type Annotations,
  type KnownSettings,
  readSettings,
  type Settings,
  settingsInForce,
  unknownNames,
} from '../../../../src/shared/baseline/settings/settings.ts'
import { seed } from '../../engine/merge/schemas.ts'
import { assetNamed, catalog } from '../facts.ts'

const ALL: Settings = { activation: { kind: 'all' }, exclusions: [] }

t.test('selects everything and leaves the rest to the flags where nothing is stated', async (t) => {
  const nothing = { settings: ALL, valid: {}, neverValid: [], problems: [] }
  t.strictSame(readSettings({}), nothing)
  const others = { [`${AUTOPILOT}x`]: 'no', 'example.com/autopilot': 'false' }
  t.strictSame(readSettings(others), nothing)
})

t.test('the flag says what holds where the HyperConverged says nothing', async (t) => {
  const kindOf = (annotations: Annotations, byDefault: 'on' | 'observe') =>
    readSettings(annotations, undefined, 'absent', byDefault).settings.activation.kind
  t.equal(kindOf({}, 'on'), 'all')
  t.equal(kindOf({}, 'observe'), 'observe')
  for (const [text, kind] of [
    ['true', 'all'],
    ['false', 'off'],
    ['swap-enable', 'only'],
    ['observe', 'observe'],
  ] as const)
    for (const byDefault of ['on', 'observe'] as const)
      t.equal(kindOf({ [AUTOPILOT]: text }, byDefault), kind, text)
})

t.test('an invalid switch that was absent before means what the flag says now', async (t) => {
  const invalid = { [AUTOPILOT]: 'True' }
  const absent = readSettings({}, undefined, 'absent', 'on')
  t.equal(readSettings(invalid, absent).settings.activation.kind, 'all')
  const observing = readSettings(invalid, absent, 'absent', 'observe')
  t.match(observing, { settings: { activation: { kind: 'observe' } }, neverValid: [] })
  t.match(observing.problems, [{ annotation: AUTOPILOT }], 'and is told')
  t.strictSame(settingsInForce(observing), observing.settings, 'also by who knows of no flag')
  const kept = readSettings(invalid, readSettings({ [AUTOPILOT]: 'true' }), 'absent', 'observe')
  t.equal(kept.settings.activation.kind, 'all', 'what somebody said goes before the flag')
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
      neverValid: [],
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

/** What is published of an invalid setting of which nothing valid was ever known. */
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
/** What it means. */
const STANDING_BY: Settings = {
  ...ALL,
  activation: { kind: 'observe', because: 'InvalidSetting' },
}
const CAUTIOUSLY: Readonly<Record<string, Settings>> = {
  [AUTOPILOT]: STANDING_BY,
  [DISABLED_RESOURCES]: STANDING_BY,
  [DISRUPTIVE_CHANGES]: { ...ALL, disruptiveChanges: 'hold' },
  [ENFORCEMENT]: ALL,
}
const only = (annotations: Annotations, key: string): Annotations => {
  const text = annotations[key]
  return text === undefined ? {} : { [key]: text }
}
const knowing = (valid: Annotations, neverValid: readonly string[] = []): KnownSettings => ({
  valid,
  neverValid,
})

for (const [key, text, message] of invalid) {
  t.test(`refuses ${key}: ${JSON.stringify(text.slice(0, 40))}`, async (t) => {
    const problems = [{ reason: 'InvalidSetting', annotation: key, message }]
    const cautious = {
      settings: CAUTIOUSLY[key],
      valid: only(CAUTIOUS, key),
      neverValid: [key],
      problems,
    }
    const read = (known?: KnownSettings) => readSettings({ [key]: text }, known)
    t.strictSame(read(), cautious, 'is cautious where nothing was ever known')
    t.strictSame(
      read(knowing(only(CAUTIOUS, key), [key])),
      cautious,
      'takes the caution of an earlier leader for nobody’s wish',
    )
    t.strictSame(
      read(knowing({ [key]: text })),
      cautious,
      'does not take what is invalid for a last valid meaning',
    )
    const known = { neverValid: [], problems }
    const kept = only(LAST_VALID, key)
    t.strictSame(
      read(knowing(kept)),
      { settings: readSettings(kept).settings, valid: kept, ...known },
      'keeps the last valid meaning',
    )
    t.strictSame(
      read(knowing({})),
      { settings: ALL, valid: {}, ...known },
      'is absent where it was validly absent before',
    )
    const [other = ''] = Object.keys(LAST_VALID).filter((candidate) => candidate !== key)
    t.strictSame(
      read(knowing(only(CAUTIOUS, other), [other])),
      { settings: ALL, valid: {}, ...known },
      'whatever is unknown of another setting',
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
  t.strictSame(settings, { ...STANDING_BY, disruptiveChanges: 'hold' })
})

const beside: readonly (readonly [text: string, activation: Settings['activation']])[] = [
  ['true', { kind: 'observe', because: 'InvalidSetting' }],
  ['observe', { kind: 'observe', because: 'InvalidSetting', isWished: true }],
  ['swap,hco', { kind: 'observe', names: ['swap', 'hco'], because: 'InvalidSetting' }],
  ['false', { kind: 'off' }],
]

for (const [text, activation] of beside) {
  t.test(`disabled-resources of which nothing is known, beside autopilot: ${text}`, async (t) => {
    const stated = readSettings({ [AUTOPILOT]: text, [DISABLED_RESOURCES]: '{{{' })
    t.strictSame(stated.settings, { activation, exclusions: [] })
    t.strictSame(settingsInForce(stated), stated.settings)
    const alone = readSettings({ [AUTOPILOT]: text }).settings.activation
    for (const one of [activation, alone]) t.equal(isObserving(one), text === 'observe')
    t.same(
      catalog.filter((asset) => isSelected(activation, asset)),
      catalog.filter((asset) => isSelected(alone, asset)),
      'what is selected is looked at',
    )
  })
}

const besideOther: readonly (readonly [
  annotations: Annotations,
  activation: Settings['activation'],
])[] = [
  [{}, { kind: 'observe', because: 'OtherAutopilot' }],
  [{ [AUTOPILOT]: 'true' }, { kind: 'observe', because: 'OtherAutopilot' }],
  [{ [AUTOPILOT]: 'observe' }, { kind: 'observe', because: 'OtherAutopilot', isWished: true }],
  [{ [AUTOPILOT]: 'swap' }, { kind: 'observe', names: ['swap'], because: 'OtherAutopilot' }],
  [{ [AUTOPILOT]: 'yes' }, { kind: 'observe', because: 'OtherAutopilot' }],
  [{ [AUTOPILOT]: 'false' }, { kind: 'off' }],
]

for (const [annotations, activation] of besideOther) {
  t.test(`${JSON.stringify(annotations)}, beside another autopilot`, async (t) => {
    for (const known of [undefined, knowing({})]) {
      const stated = readSettings(annotations, known, 'active')
      t.strictSame(stated.settings.activation, activation)
      t.strictSame(settingsInForce(stated, 'active'), stated.settings)
      const { settings, ...read } = readSettings(annotations, known)
      t.match(stated, read, 'what was read is kept for when that one is idle')
      for (const other of ['idle', 'absent'] as const)
        t.strictSame(readSettings(annotations, known, other).settings, settings, other)
    }
  })
}

t.test('what is in force reads the same for whoever knows only that', async (t) => {
  for (const [key, text] of invalid) {
    for (const known of [undefined, knowing({}), knowing(LAST_VALID)]) {
      const stated = readSettings({ [key]: text }, known)
      t.strictSame(settingsInForce(stated), stated.settings, text.slice(0, 40))
      t.strictSame(readSettings({ [key]: text }, stated), stated, 'and for the next leader')
    }
  }
})

t.test('whoever cannot read what is in force is cautious', async (t) => {
  for (const [key, text] of invalid)
    t.strictSame(settingsInForce(knowing({ [key]: text })), CAUTIOUSLY[key], text.slice(0, 40))
})

t.test('the text of a caution lets nobody write who knows no more than that', async (t) => {
  for (const [key, text] of Object.entries(CAUTIOUS)) {
    const { settings } = readSettings({ [key]: text })
    const isIdle = settings.activation.kind === 'observe'
    const isExcluding = catalog.every((asset) => isExcluded(settings.exclusions, asset))
    t.ok(isIdle || isExcluding || settings.disruptiveChanges === 'hold', key)
  }
})

t.test('forgets a setting that is taken back', async (t) => {
  const nothing = { settings: ALL, valid: {}, neverValid: [], problems: [] }
  t.strictSame(readSettings({}, knowing(LAST_VALID)), nothing)
  t.strictSame(readSettings({}, knowing(CAUTIOUS, Object.keys(CAUTIOUS))), nothing)
})

t.test('says what follows from an invalid setting', async (t) => {
  const notesOn = (annotations: Annotations, known?: KnownSettings) => {
    const stated = readSettings(annotations, known)
    return stated.problems.map((problem) => settingNote(problem, stated))
  }
  const invalidOnes: Annotations = {
    [AUTOPILOT]: 'yes',
    [DISABLED_RESOURCES]: '{{{',
    [DISRUPTIVE_CHANGES]: 'hld',
    [ENFORCEMENT]: 'hard',
  }
  t.match(notesOn(invalidOnes), [
    /^platform\.kubevirt\.io\/autopilot must be .*, not "yes"; nothing is written or corrected until it is mended$/,
    /^platform\.kubevirt\.io\/disabled-resources must be .*; nothing is written or corrected until it is mended$/,
    /, not "hld"; changes that reboot nodes wait for approval until it is mended$/,
    /, not "hard"; it counts as absent until it is mended$/,
  ])
  t.match(notesOn(invalidOnes, knowing(LAST_VALID)), [
    /; the last valid value stays in force: "swap,hco"$/,
    /; the last valid value stays in force: "\[metallb\]"$/,
    /; the last valid value stays in force: "apply"$/,
    /; the last valid value stays in force: "deny"$/,
  ])
  for (const note of notesOn(invalidOnes, knowing({})))
    t.match(note, /; it counts as absent, as before$/)
  const long = { [DISABLED_RESOURCES]: `[${'a, '.repeat(5_000)}b]` }
  const [note = ''] = notesOn({ [DISABLED_RESOURCES]: '{{{\u001b' }, knowing(long))
  t.ok(note.length < 400, 'there is room for it in an event')
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
    const { valid, neverValid, problems } = readSettings(annotations)
    t.strictSame(readSettings(valid).problems, [])
    t.strictSame(
      neverValid,
      problems.map(({ annotation }) => annotation),
    )
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
