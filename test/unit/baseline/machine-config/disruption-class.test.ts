import fc from 'fast-check'
import t from 'tap'
import { statusOf } from '../../../../src/shared/baseline/asset-status.ts'
import { classifyChange } from '../../../../src/shared/baseline/machine-config/disruption-class.ts'
import {
  type DisruptionPolicies,
  type Effect,
  strongest,
} from '../../../../src/shared/baseline/machine-config/disruption-policies.ts'
import { withLivePayloads } from '../../../../src/shared/baseline/machine-config/live-payloads.ts'
import { readSettings } from '../../../../src/shared/baseline/settings/settings.ts'
import type { KubeObject } from '../../../../src/shared/engine/json/object.ts'
import { sha256 } from '../../../../src/shared/ops/digest.ts'
import { deepFreeze, seed } from '../../engine/merge/schemas.ts'
import { runs } from '../../runs.ts'
import {
  anyContent,
  base64,
  encodings,
  file,
  gzip,
  hostile,
  machineConfig,
  nested,
  percent,
  plainEncodings,
  ROLE,
  withFiles,
} from '../catalog/machine-configs.ts'
import { assetNamed, factsWith } from '../facts.ts'

const POLICIES: DisruptionPolicies = {
  files: [
    { path: '/etc/quiet', effect: 'none' },
    { path: '/etc/service', effect: 'reload' },
  ],
  units: [
    { name: 'quiet.service', effect: 'none' },
    { name: 'service.service', effect: 'reload' },
  ],
  sshKeys: 'reload',
}

const classify = (live: KubeObject | undefined, desired: KubeObject | undefined) =>
  classifyChange({ live, desired, policies: POLICIES })

const unit = (name: string, more: object = {}) => ({
  name,
  enabled: true,
  contents: '[Unit]',
  ...more,
})
const units = (...list: readonly unknown[]) => ({ config: { systemd: { units: list } } })
const files = (...list: readonly unknown[]) => ({ config: { storage: { files: list } } })
const users = (...list: readonly unknown[]) => ({ config: { passwd: { users: list } } })
const core = (...sshAuthorizedKeys: readonly string[]) => ({ name: 'core', sshAuthorizedKeys })
const args = (...kernelArguments: readonly unknown[]) => ({ kernelArguments })

const x = file('/etc/x', base64('x'))
const y = file('/etc/y', base64('y'))
const quiet = file('/etc/quiet/a', base64('a'))
const service = file('/etc/service/a', base64('a'))

/** From one spec of a MachineConfig to another, and back where that says something else. */
const cases: readonly (readonly [
  what: string,
  live: unknown,
  desired: unknown,
  effect: Effect,
  reasons: readonly string[],
])[] = [
  ['nothing', args('a'), args('a'), 'none', []],
  ['an argument', args('a'), args('a', 'b=1'), 'reboot', ['kernel argument b=1 added']],
  ['an argument away', args('a', 'b'), args('b'), 'reboot', ['kernel argument a removed']],
  [
    'an argument’s value',
    args('a=1'),
    args('a=2'),
    'reboot',
    ['kernel argument a=2 added', 'kernel argument a=1 removed'],
  ],
  ['an argument twice', args('a'), args('a', 'a'), 'reboot', ['kernel argument a added']],
  [
    'the order of arguments',
    args('a', 'b'),
    args('b', 'a'),
    'reboot',
    ['kernel arguments reordered'],
  ],
  [
    'arguments that are none',
    args('a'),
    args(1),
    'reboot',
    ['field /spec/kernelArguments changed'],
  ],
  ['arguments as Go writes none', { kernelArguments: null }, {}, 'none', []],
  [
    'an argument that could move a cursor',
    {},
    args('a\u001b'),
    'reboot',
    ['kernel argument a\\u001b added'],
  ],
  [
    'an extension',
    { extensions: null },
    { extensions: ['usbguard'] },
    'reboot',
    ['extension usbguard added'],
  ],
  ['fips', {}, { fips: true }, 'reboot', ['field /spec/fips added']],
  ['fips as Go writes none', { fips: false }, {}, 'none', []],
  ['the kernel', { kernelType: 'realtime' }, {}, 'reboot', ['field /spec/kernelType removed']],
  ['the default kernel', { kernelType: 'default' }, { kernelType: '' }, 'none', []],
  [
    'the image',
    { osImageURL: 'a' },
    { osImageURL: 'b' },
    'reboot',
    ['field /spec/osImageURL changed'],
  ],
  ['an image that is none', { osImageURL: '' }, { osImageURL: null }, 'none', []],
  [
    'the image of extensions',
    {},
    { baseOSExtensionsContainerImage: 'a' },
    'reboot',
    ['field /spec/baseOSExtensionsContainerImage added'],
  ],
  ['a file', files(x), files(x, y), 'reboot', ['file /etc/y added']],
  ['a file away', files(x, y), files(y), 'reboot', ['file /etc/x removed']],
  ['all files away', files(x, y), {}, 'reboot', ['file /etc/x removed', 'file /etc/y removed']],
  [
    'the content of a file',
    files(x),
    files(file('/etc/x', base64('y'))),
    'reboot',
    ['file /etc/x changed'],
  ],
  ['the mode of a file', files(x), files({ ...x, mode: 493 }), 'reboot', ['file /etc/x changed']],
  [
    'the owner of a file',
    files(x),
    files({ ...x, user: { id: 1 } }),
    'reboot',
    ['file /etc/x changed'],
  ],
  ['the order of files', files(x, y), files(y, x), 'none', []],
  ['a quiet file', files(), files(quiet), 'none', ['file /etc/quiet/a added']],
  [
    'a file that a service reads',
    files(service),
    files(),
    'reload',
    ['file /etc/service/a removed'],
  ],
  [
    'files of all sorts',
    files(quiet, x),
    files(service),
    'reboot',
    ['file /etc/x removed', 'file /etc/service/a added', 'file /etc/quiet/a removed'],
  ],
  [
    'a file without a path',
    files(x),
    files(x, {}),
    'reboot',
    ['field /spec/config/storage/files changed'],
  ],
  [
    'a file that is there twice',
    files(x),
    files(x, x),
    'reboot',
    ['field /spec/config/storage/files changed'],
  ],
  [
    'files that are no list',
    files(x),
    { config: { storage: { files: {} } } },
    'reboot',
    ['field /spec/config/storage/files changed'],
  ],
  ['the same mistake', files(quiet, quiet), files(quiet, quiet), 'none', []],
  ['a unit', units(), units(unit('a')), 'reboot', ['unit a added']],
  [
    'a unit’s contents',
    units(unit('a')),
    units(unit('a', { contents: '' })),
    'reboot',
    ['unit a changed'],
  ],
  [
    'whether a unit is enabled',
    units(unit('a')),
    units(unit('a', { enabled: false })),
    'reboot',
    ['unit a changed'],
  ],
  [
    'whether a unit is masked',
    units(unit('a')),
    units(unit('a', { mask: true })),
    'reboot',
    ['unit a changed'],
  ],
  [
    'a drop-in',
    units(unit('a', { dropins: [{ name: '1.conf', contents: '' }] })),
    units(unit('a', { dropins: [{ name: '1.conf', contents: 'x' }] })),
    'reboot',
    ['unit a changed'],
  ],
  ['the order of units', units(unit('a'), unit('b')), units(unit('b'), unit('a')), 'none', []],
  ['a quiet unit', units(unit('quiet.service')), {}, 'none', ['unit quiet.service removed']],
  [
    'a unit with a policy',
    units(),
    units(unit('service.service')),
    'reload',
    ['unit service.service added'],
  ],
  [
    'the SSH keys',
    users(core('a')),
    users(core('a', 'b')),
    'reload',
    ['SSH keys of user core changed'],
  ],
  ['the first SSH keys', {}, users(core('a')), 'reload', ['SSH keys of user core changed']],
  ['the last SSH keys', users(core('a')), users(), 'reload', ['SSH keys of user core changed']],
  [
    'a password',
    users(core('a')),
    users({ ...core('a'), passwordHash: 'h' }),
    'reboot',
    ['user core changed'],
  ],
  [
    'another user',
    users(core('a')),
    users(core('a'), { name: 'bob' }),
    'reboot',
    ['user bob added'],
  ],
  [
    'the version of Ignition',
    { config: { ignition: { version: '3.2.0' } } },
    { config: { ignition: { version: '3.4.0' } } },
    'none',
    ['field /spec/config/ignition/version changed'],
  ],
  ['a first version of Ignition', {}, { config: { ignition: { version: '3.4.0' } } }, 'none', []],
  [
    'an Ignition of another age',
    { config: { ignition: { version: '2.2.0' } } },
    { config: { ignition: { version: '3.4.0' } } },
    'reboot',
    ['field /spec/config/ignition/version changed'],
  ],
  [
    'a version that is none',
    {},
    { config: { ignition: { version: 3 } } },
    'reboot',
    ['field /spec/config/ignition/version added'],
  ],
  [
    'what Ignition fetches',
    {},
    { config: { ignition: { config: { merge: [] } } } },
    'reboot',
    ['field /spec/config/ignition/config added'],
  ],
  [
    'a directory',
    { config: { storage: { directories: [] } } },
    { config: { storage: {} } },
    'reboot',
    ['field /spec/config/storage/directories removed'],
  ],
  [
    'a part of Ignition that is not known',
    {},
    { config: { new: 1 } },
    'reboot',
    ['field /spec/config/new added'],
  ],
  ['a name that every object has', {}, { toString: 1 }, 'reboot', ['field /spec/toString added']],
  ['a field that is not known', {}, { new: 1 }, 'reboot', ['field /spec/new added']],
  [
    'a name that looks like a path',
    {},
    { 'config/storage/files': [quiet] },
    'reboot',
    ['field /spec/config~1storage~1files added'],
  ],
  [
    'sections that are empty',
    {},
    { config: { storage: { files: [] }, systemd: {}, passwd: null } },
    'none',
    [],
  ],
  [
    'a config that is none',
    files(quiet),
    { config: 'x' },
    'reboot',
    ['field /spec/config changed'],
  ],
]

for (const [what, live, desired, effect, reasons] of cases) {
  t.test(`a MachineConfig that changes ${what} is a ${effect}`, async (t) => {
    const [before, after] = [machineConfig(live), machineConfig(desired)].map(deepFreeze)
    t.strictSame(classify(before, after), { effect, reasons })
    t.equal(classify(after, before).effect, effect, 'and back')
  })
}

t.test('what creates or deletes a MachineConfig adds or removes all that is in it', async (t) => {
  const object = machineConfig({
    ...args('a=1'),
    config: {
      ignition: { version: '3.4.0' },
      ...files(x).config,
      ...units(unit('y.service')).config,
    },
  })
  t.strictSame(classify(undefined, object), {
    effect: 'reboot',
    reasons: ['kernel argument a=1 added', 'file /etc/x added', 'unit y.service added'],
  })
  t.strictSame(classify(object, undefined), {
    effect: 'reboot',
    reasons: ['kernel argument a=1 removed', 'file /etc/x removed', 'unit y.service removed'],
  })
  t.strictSame(classify(undefined, withFiles(quiet)), {
    effect: 'none',
    reasons: ['file /etc/quiet/a added'],
  })
  t.strictSame(classify(undefined, undefined), { effect: 'none', reasons: [] })
})

t.test('labels and annotations do nothing, except for the role', async (t) => {
  const worker = withFiles(x)
  const annotated = {
    ...worker,
    metadata: { ...worker.metadata, annotations: { a: 'b' }, uid: 'u' },
  }
  t.strictSame(classify(worker, annotated), { effect: 'none', reasons: [] })
  const labelled = machineConfig(worker.spec, { [ROLE]: 'worker', a: 'b' })
  t.strictSame(classify(worker, labelled), { effect: 'none', reasons: [] })
  for (const [labels, verb] of [
    [{ [ROLE]: 'master' }, 'changed'],
    [{}, 'removed'],
    [null, 'removed'],
  ] as const) {
    t.strictSame(classify(worker, machineConfig(worker.spec, labels as object)), {
      effect: 'reboot',
      reasons: [`label ${ROLE} ${verb}`],
    })
  }
})

t.test('a field beside the spec that is not known reboots', async (t) => {
  const object = withFiles(quiet)
  t.strictSame(classify(object, { ...object, data: 1, status: 2 }), {
    effect: 'reboot',
    reasons: ['field /data added'],
  })
  t.strictSame(classify({ ...object, data: 1 }, undefined), {
    effect: 'reboot',
    reasons: ['field /data removed', 'file /etc/quiet/a removed'],
  })
})

const kubeletConfig = (spec: unknown) =>
  ({ ...machineConfig(spec), kind: 'KubeletConfig' }) as KubeObject

const kubelet: readonly (readonly [live: unknown, desired: unknown, reasons: readonly string[]])[] =
  [
    [{ kubeletConfig: { maxPods: 1 } }, { kubeletConfig: { maxPods: 1 } }, []],
    [
      { kubeletConfig: { maxPods: 250, a: 1 } },
      { kubeletConfig: { maxPods: 500 }, autoSizingReserved: true },
      [
        'field /spec/kubeletConfig/maxPods changed',
        'field /spec/kubeletConfig/a removed',
        'field /spec/autoSizingReserved added',
      ],
    ],
    [
      { machineConfigPoolSelector: { matchLabels: { worker: '' } } },
      { machineConfigPoolSelector: { matchLabels: { master: '' } } },
      [
        'field /spec/machineConfigPoolSelector/matchLabels/worker removed',
        'field /spec/machineConfigPoolSelector/matchLabels/master added',
      ],
    ],
  ]

for (const [live, desired, reasons] of kubelet) {
  t.test(`a KubeletConfig with ${reasons.length} changes says which`, async (t) => {
    const effect = reasons.length > 0 ? 'reboot' : 'none'
    t.strictSame(classify(kubeletConfig(live), kubeletConfig(desired)), { effect, reasons })
  })
}

t.test('to create or delete a KubeletConfig, or any other kind, reboots', async (t) => {
  const object = kubeletConfig({})
  t.strictSame(classify(undefined, object), { effect: 'reboot', reasons: ['KubeletConfig added'] })
  t.strictSame(classify(object, undefined), {
    effect: 'reboot',
    reasons: ['KubeletConfig removed'],
  })
  const other = { ...object, kind: 'ContainerRuntimeConfig', metadata: { name: 'a' } }
  t.strictSame(classify(other, { ...other, spec: { a: 1 } }), {
    effect: 'reboot',
    reasons: ['field /spec/a added'],
  })
})

t.test(
  'the content of an object that only names itself a MachineConfig is not known',
  async (t) => {
    const foreign = (spec: unknown) => ({ ...machineConfig(spec), apiVersion: 'example.com/v1' })
    t.strictSame(classify(foreign(files(quiet)), foreign(files())), {
      effect: 'reboot',
      reasons: ['field /spec/config/storage/files changed'],
    })
    t.strictSame(classify(machineConfig({}), foreign({})), {
      effect: 'reboot',
      reasons: ['MachineConfig replaced by a MachineConfig'],
    })
    t.strictSame(classify(machineConfig({}), kubeletConfig({})), {
      effect: 'reboot',
      reasons: ['MachineConfig replaced by a KubeletConfig'],
    })
  },
)

t.test(
  'without policies the operator’s defaults count, and never for what always reboots',
  async (t) => {
    const pullSecret = file('/var/lib/kubelet/config.json', base64('{}'))
    t.match(classifyChange({ live: undefined, desired: withFiles(pullSecret) }), { effect: 'none' })
    t.match(classifyChange({ live: undefined, desired: withFiles(quiet), policies: undefined }), {
      effect: 'reboot',
    })
    const everything: DisruptionPolicies = {
      files: [{ path: '/spec', effect: 'none' }],
      units: [],
      sshKeys: 'none',
    }
    const always = {
      kernelArguments: ['a'],
      extensions: ['a'],
      kernelType: 'realtime',
      fips: true,
      osImageURL: 'a',
    }
    for (const [field, value] of Object.entries(always)) {
      const desired = machineConfig({ [field]: value })
      const { effect } = classifyChange({ live: machineConfig({}), desired, policies: everything })
      t.equal(effect, 'reboot', field)
    }
  },
)

t.test('a payload that is only encoded otherwise is no change', async (t) => {
  const property = fc.property(
    anyContent,
    fc.constantFrom(...plainEncodings),
    fc.constantFrom(...encodings),
    (content, encode, encodeLive) => {
      const [plain, live] = [encode, encodeLive].map((each) => withFiles(file('/a', each(content))))
      t.strictSame(classify(live, plain), { effect: 'none', reasons: [] })
      t.strictSame(classify(plain, live), { effect: 'none', reasons: [] })
    },
  )
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('a payload whose bytes live cannot lend is a change', async (t) => {
  const verification = { hash: `sha256-${'0'.repeat(64)}` }
  const live = withFiles(file('/a', { ...percent('a'), verification }))
  t.match(classify(live, withFiles(file('/a', base64('a')))), { reasons: ['file /a changed'] })
})

t.test('nothing changes what stays as it is', async (t) => {
  const property = fc.property(hostile, (object) => {
    const none = { effect: 'none', reasons: [] }
    t.strictSame(classify(object, object), none)
    t.strictSame(classify(object, structuredClone(object)), none)
  })
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: runs(100) }))
})

t.test('no object is a reason to fail, and whatever changes it is told', async (t) => {
  const property = fc.property(hostile, hostile, (live, desired) => {
    for (const [before, after] of [
      [live, desired],
      [undefined, desired],
      [live, undefined],
    ] as const) {
      const { effect, reasons } = classify(before, after)
      t.equal(effect === 'none' || reasons.length > 0, true)
    }
  })
  t.doesNotThrow(() => fc.assert(property, { seed, numRuns: runs(150) }))
})

t.test('the order of files and units does not matter', async (t) => {
  const some = fc.uniqueArray(fc.constantFrom('/a', '/b', '/etc/quiet/a', '/etc/service/a'))
  const lists = fc
    .tuple(some, some)
    .chain(([live, desired]) =>
      fc.tuple(
        fc.constant([live, desired] as const),
        fc.shuffledSubarray(live, { minLength: live.length }),
        fc.shuffledSubarray(desired, { minLength: desired.length }),
      ),
    )
  const objectOf = (paths: readonly string[]) =>
    machineConfig({
      config: {
        storage: { files: paths.map((path) => file(path, base64(path))) },
        systemd: { units: paths.map((name) => unit(name)) },
      },
    })
  const property = fc.property(lists, ([[live, desired], liveAgain, desiredAgain]) => {
    const [one, other] = [
      classify(objectOf(live), objectOf(desired)),
      classify(objectOf(liveAgain), objectOf(desiredAgain)),
    ]
    t.strictSame(one.effect, other.effect)
    t.strictSame([...one.reasons].sort(), [...other.reasons].sort())
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

/** Changes that do not touch one another, each with what it does alone. */
const independent: readonly (readonly [spec: (on: boolean) => object, Effect])[] = [
  [(on) => ({ file: file('/etc/quiet/a', base64(on ? 'a' : 'b')) }), 'none'],
  [(on) => (on ? { file: file('/etc/service/a', base64('a')) } : {}), 'reload'],
  [(on) => (on ? {} : { file: file('/etc/a', base64('a')) }), 'reboot'],
  [(on) => ({ unit: unit('quiet.service', { enabled: on }) }), 'none'],
  [(on) => ({ unit: unit('service.service', { mask: on }) }), 'reload'],
  [(on) => (on ? { unit: unit('other.service') } : {}), 'reboot'],
  [(on) => ({ user: core(on ? 'a' : 'b') }), 'reload'],
  [(on) => (on ? { more: { kernelArguments: ['a'] } } : {}), 'reboot'],
  [(on) => (on ? { more: { new: 1 } } : {}), 'reboot'],
]

t.test('one more change never makes less of the others', async (t) => {
  const objectOf = (switches: readonly boolean[]) => {
    const parts = independent.map(([spec], index) => spec(switches[index] ?? false)) as {
      readonly [part: string]: object
    }[]
    const all = (part: string) => parts.flatMap((each) => each[part] ?? [])
    return machineConfig({
      ...Object.assign({}, ...all('more')),
      config: {
        storage: { files: all('file') },
        systemd: { units: all('unit') },
        passwd: { users: all('user') },
      },
    })
  }
  const off = independent.map(() => false)
  const property = fc.property(fc.tuple(...off.map(() => fc.boolean())), (switches) => {
    const { effect, reasons } = classify(objectOf(off), objectOf(switches))
    const expected = independent.filter((_, index) => switches[index]).map(([, each]) => each)
    t.equal(effect, strongest(expected))
    t.equal(reasons.length, expected.length)
  })
  t.doesNotThrow(() => fc.assert(property, { seed }))
})

t.test('depth and width are no reason to fail', async (t) => {
  const deep = (depth: number) => machineConfig({ new: nested(depth), config: nested(depth) })
  t.equal(classify(deep(100_000), deep(100_000)).effect, 'none')
  t.equal(classify(deep(100_000), deep(100_002)).effect, 'reboot')
  const paths = Array.from(
    { length: 100_000 },
    (_, index) => `/etc/${index % 2 ? 'quiet' : 'x'}/${index}`,
  )
  const live = withFiles(...paths.map((path) => file(path, base64(path))))
  const changed = [...paths].reverse().map((path) => file(path, percent(`${path}.`)))
  const { effect, reasons } = classify(live, withFiles(...changed))
  t.equal(effect, 'reboot')
  t.equal(reasons.length, 100_000)
  t.equal(new Set(reasons).size, 100_000)
})

const swap = (() => {
  const status = statusOf(
    assetNamed('swap-enable'),
    factsWith({}),
    readSettings({}).settings,
    sha256,
  )
  if (status.kind !== 'active') throw new Error(JSON.stringify(status))
  return status.baseline as KubeObject & {
    readonly spec: {
      readonly config: {
        readonly storage: {
          readonly files: readonly { readonly contents: { readonly source: string } }[]
        }
        readonly systemd: { readonly units: readonly { readonly name: string }[] }
      }
    }
  }
})()

t.test(
  'taking over the swap of another tool, which compresses, rewrites and reboots nothing',
  async (t) => {
    const { config } = swap.spec
    const compressed = config.storage.files.map(({ contents, ...rest }) => {
      const [, payload = ''] = contents.source.split(',')
      return { ...rest, contents: gzip(Buffer.from(payload, 'base64')) }
    })
    const live = { ...swap, spec: { config: { ...config, storage: { files: compressed } } } }
    t.strictSame(classifyChange({ live, desired: swap }), { effect: 'none', reasons: [] })
    t.strictSame(withLivePayloads(swap, live), live)
  },
)

t.test('a new baseline of swap says what it changes', async (t) => {
  const { config } = swap.spec
  const [, ...rest] = config.systemd.units
  const live = { ...swap, spec: { config: { ...config, systemd: { units: rest } } } }
  t.strictSame(classifyChange({ live, desired: swap }), {
    effect: 'reboot',
    reasons: ['unit swap-disk-enable.service added'],
  })
  const all = config.storage.files.length + config.systemd.units.length
  t.equal(classifyChange({ live: undefined, desired: swap }).reasons.length, all)
})
