import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { statusOf } from '../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { assetNamed, factsWith } from '../baseline/facts.ts'

interface Ignition {
  readonly config: {
    readonly storage: {
      readonly files: readonly {
        readonly path: string
        readonly mode: number
        readonly contents: { readonly source: string }
      }[]
    }
    readonly systemd: {
      readonly units: readonly {
        readonly name: string
        readonly enabled?: boolean
        readonly contents?: string
      }[]
    }
  }
}

const status = statusOf(assetNamed('swap-enable'), factsWith({}), readSettings({}).settings, String)
if (status.kind !== 'active') throw new Error(`swap-enable is ${status.kind}`)
const { storage, systemd } = (status.baseline.spec as unknown as Ignition).config
const units = systemd.units.flatMap(({ name, enabled, contents = '' }) =>
  enabled ? [{ name, contents }] : [],
)

/** The values of a unit's key, one for each word. */
const words = (contents: string, key: string): readonly string[] =>
  [...contents.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].flatMap(([, value = '']) =>
    value.split(' '),
  )

const SWAP_UNITS = ['swap-disk-enable.service', 'ocpswap-file-enable.service']
const CLEANUP = 'kubevirt-wasp-cleanup.service'
const SWAPS = ['/dev/disk/by-partlabel/OCPSWAP', '/var/tmp/ocpswap.file']

for (const { name, contents } of units.filter(({ name }) => name !== CLEANUP)) {
  t.test(`${name} starts a script that the same MachineConfig brings`, async (t) => {
    const path = words(contents, 'ExecStart').find((word) => word.endsWith('.py')) ?? ''
    const file = storage.files.find((file) => file.path === path)
    t.ok(file, `${path} is among the files`)
    t.equal(file?.mode, 0o755)
    const text = Buffer.from(file?.contents.source.split(',')[1] ?? '', 'base64').toString()
    const source = path.replace(/^.*kubevirt-(.*?)(-setup)?\.py$/, '$1.py')
    const beside = new URL(`../../../assets/active/swap-enable/${source}`, import.meta.url)
    t.equal(text, readFileSync(beside, 'utf8'))
  })

  t.test(`${name} is skipped on a node without swap`, async (t) => {
    const paths = words(contents, 'ConditionPathExists')
    const any = SWAPS.map((path) => `|${path}`)
    const own = SWAPS.filter((path) => words(contents, 'ExecStart').includes(path))
    t.strictSame(paths, SWAP_UNITS.includes(name) ? own : any)
    t.strictSame(words(contents, 'ConditionFirstBoot'), ['no'])
  })
}

t.test('swap is on before the kubelet starts, and the kubelet starts without it', async (t) => {
  const starting = units.filter(({ contents }) =>
    words(contents, 'Before').includes('kubelet-dependencies.target'),
  )
  t.strictSame(starting.map(({ name }) => name).sort(), [CLEANUP, ...SWAP_UNITS].sort())
  for (const { contents } of units) {
    t.strictSame(words(contents, 'RequiredBy'), [])
    t.match(words(contents, 'TimeoutStartSec'), [/min$/])
  }
})

t.test('what tunes a node for swap starts after it is on', async (t) => {
  const tuning = units.filter(({ name }) => ![CLEANUP, ...SWAP_UNITS].includes(name))
  t.equal(tuning.length, 2)
  for (const { name, contents } of tuning) {
    const after = words(contents, 'After')
    t.ok(
      SWAP_UNITS.every((unit) => after.includes(unit)),
      `${name} starts after ${after}`,
    )
  }
})

t.test(
  'what wasp-agent left goes before containers start, the hook before its script',
  async (t) => {
    const { contents = '' } = units.find(({ name }) => name === CLEANUP) ?? {}
    const left = ['/run/containers/oci/hooks.d/swap-for-burstable.json', '/opt/oci-hook-swap.sh']
    const removed = words(contents, 'ExecStart').filter(
      (word) => !['/usr/bin/rm', '-f'].includes(word),
    )
    t.strictSame(removed, left)
    t.strictSame(
      words(contents, 'ConditionPathExists'),
      left.map((path) => `|${path}`),
    )
    t.ok(words(contents, 'Before').includes('crio.service'))
  },
)

// What OpenShift has around these units, as far as their order goes.
const NEIGHBOURS = {
  'kubelet.service':
    '[Unit]\nRequires=crio.service kubelet-dependencies.target\nAfter=kubelet-dependencies.target\n[Service]\nType=notify\nExecStart=/bin/sh\n[Install]\nWantedBy=multi-user.target\n',
  'crio.service':
    '[Unit]\nWants=network-online.target\nAfter=network-online.target kubelet-dependencies.target\nBefore=kubelet.service\n[Service]\nType=notify\nExecStart=/bin/sh\n',
  'kubelet-dependencies.target': '[Unit]\nRequires=basic.target network-online.target\n',
  ...Object.fromEntries(
    ['basic', 'sysinit', 'local-fs', 'network-online', 'multi-user', 'shutdown'].map((name) => [
      `${name}.target`,
      '[Unit]\n',
    ]),
  ),
}

/** What systemd finds wrong with units that are enabled among their neighbours. */
const verify = (folder: string, contentsOf: (contents: string) => string): Promise<string> => {
  const ours = units.map(({ name, contents }) => [name, contentsOf(contents)] as const)
  for (const [name, contents] of [...Object.entries(NEIGHBOURS), ...ours]) {
    writeFileSync(join(folder, name), contents.replaceAll('/usr/bin/python3', '/bin/sh'))
    for (const wanting of words(contents, 'WantedBy')) {
      mkdirSync(join(folder, `${wanting}.wants`), { recursive: true })
      symlinkSync(`../${name}`, join(folder, `${wanting}.wants`, name))
    }
  }
  const args = ['verify', '--man=no', 'multi-user.target', ...ours.map(([name]) => name)]
  const env = { PATH: '/usr/bin:/bin', SYSTEMD_UNIT_PATH: folder }
  return new Promise((resolve) =>
    execFile('systemd-analyze', args, { env }, (_error, _stdout, stderr) => resolve(stderr)),
  )
}

const { status: exitCode } = spawnSync('systemd-analyze', ['--version'])
t.test(
  'systemd has nothing against these units',
  {
    skip: exitCode === 0 ? false : 'needs systemd-analyze',
  },
  async (t) => {
    t.equal(await verify(t.testdir({}), String), '')
    const cycle = await verify(t.testdir({}), (contents) =>
      contents.replace(/^Before=kubelet.*$/m, '$&\nAfter=kubelet.service'),
    )
    t.match(cycle, 'ordering cycle', 'and would say so')
  },
)
