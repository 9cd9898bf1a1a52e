import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

import { CALLS, type Machine, machineRoot } from './block-devices.ts'
import { lines, type Run, runScript, swaps } from './node-script.ts'

const DROP_INS = 'run/systemd/system'

const run = (root: string, pause = 0): Promise<Run> =>
  runScript('io-latency.py', root, ['--pause', `${pause}`])

const dropIn = (root: string, slice: string): string =>
  readFileSync(join(root, DROP_INS, `${slice}.d/20-io-latency.conf`), 'utf8')

/** The devices that a slice's drop-in gives a target of so many milliseconds. */
const targetsIn = (root: string, slice: string, target: number): readonly string[] =>
  lines(dropIn(root, slice)).flatMap((line) => {
    const [, device, found] = /^IODeviceLatencyTargetSec=\/dev\/(\S+) (\d+)ms$/.exec(line) ?? []
    return device !== undefined && Number(found) === target ? [device] : []
  })

const OCPSWAP = 'disk/by-partlabel/OCPSWAP'
const FILE = '/var/tmp/ocpswap.file'

/** RHCOS on one disk, whose fourth partition holds everything. */
const RHCOS = (disk: string): NonNullable<Machine['mounts']> => [
  ['devtmpfs', '/dev'],
  [`/dev/${disk}`, '/sysroot'],
  [`/dev/${disk}`, '/'],
  [`/dev/${disk}`, '/etc'],
  [`/dev/${disk}`, '/var'],
]

const machines: readonly (readonly [
  what: string,
  machine: Machine,
  protectedDisks: readonly string[],
])[] = [
  [
    'a partition of a virtio disk',
    {
      devices: { vda: {}, vda4: { partOf: 'vda' }, vda5: { partOf: 'vda' } },
      links: { [OCPSWAP]: 'vda5' },
      mounts: RHCOS('vda4'),
      swaps: swaps(['/dev/vda5', 100]),
    },
    ['vda'],
  ],
  [
    'a partition of a second SATA disk',
    {
      devices: { sda: {}, sda4: { partOf: 'sda' }, sdb: {}, sdb1: { partOf: 'sdb' }, sdc: {} },
      mounts: RHCOS('sda4'),
      swaps: swaps(['/dev/sdb1']),
    },
    ['sda', 'sdb'],
  ],
  [
    'an NVMe partition that is named by its label',
    {
      devices: { nvme0n1: {}, nvme0n1p4: { partOf: 'nvme0n1' }, nvme0n1p5: { partOf: 'nvme0n1' } },
      links: { [OCPSWAP]: 'nvme0n1p5', 'disk/by-label/root': 'nvme0n1p4' },
      mounts: RHCOS('disk/by-label/root'),
      swaps: swaps([`/dev/${OCPSWAP}`]),
    },
    ['nvme0n1'],
  ],
  [
    'a whole disk without a partition',
    { devices: { nvme1n1: {} }, swaps: swaps(['/dev/nvme1n1']) },
    ['nvme1n1'],
  ],
  [
    'a volume on LUKS on NVMe',
    {
      devices: {
        nvme0n1: {},
        nvme0n1p4: { partOf: 'nvme0n1' },
        nvme1n1: {},
        nvme1n1p1: { partOf: 'nvme1n1' },
        'dm-0': { madeOf: ['nvme0n1p4'], uuid: 'CRYPT-LUKS2-5c1e-root' },
        'dm-1': { madeOf: ['nvme1n1p1'], uuid: 'CRYPT-LUKS2-77aa-data' },
        'dm-2': { madeOf: ['dm-1'], uuid: 'LVM-Zx81' },
      },
      links: { 'mapper/root': 'dm-0', 'mapper/data-swap': 'dm-2' },
      mounts: RHCOS('mapper/root'),
      swaps: swaps(['/dev/mapper/data-swap']),
    },
    ['nvme0n1', 'nvme1n1'],
  ],
  [
    'a volume over two disks and a RAID of partitions',
    {
      devices: {
        sda: {},
        sda4: { partOf: 'sda' },
        sdb: {},
        sdb4: { partOf: 'sdb' },
        sdc: {},
        sdd: {},
        md127: { madeOf: ['sda4', 'sdb4'] },
        'dm-0': { madeOf: ['sdc', 'sdd'], uuid: 'LVM-Q3' },
      },
      mounts: RHCOS('md127'),
      swaps: swaps(['/dev/dm-0']),
    },
    ['sda', 'sdb', 'sdc', 'sdd'],
  ],
  [
    'a multipath disk, both the map and its paths',
    {
      devices: {
        sda: {},
        sdb: {},
        'dm-0': { madeOf: ['sda', 'sdb'], uuid: 'mpath-3600508b4' },
        'dm-3': { madeOf: ['dm-0'], uuid: 'part3-mpath-3600508b4' },
        'dm-4': { madeOf: ['dm-0'], uuid: 'part4-mpath-3600508b4' },
      },
      links: { [OCPSWAP]: 'dm-3', 'disk/by-label/root': 'dm-4' },
      mounts: RHCOS('dm-4'),
      swaps: swaps(['/dev/dm-3', 100]),
    },
    ['dm-0', 'sda', 'sdb'],
  ],
  [
    'a composed root file system',
    {
      devices: { sda: {}, sda4: { partOf: 'sda' }, sdb: {}, sdb1: { partOf: 'sdb' }, sdc: {} },
      mounts: [
        ['composefs', '/'],
        ['/dev/sda4', '/sysroot'],
        ['/dev/sdb1', '/var'],
      ],
      swaps: swaps(['/dev/sdc']),
    },
    ['sda', 'sdb', 'sdc'],
  ],
  [
    'a root file system in memory',
    {
      devices: { sda: {}, sda5: { partOf: 'sda' } },
      mounts: [['tmpfs', '/']],
      swaps: swaps(['/dev/sda5']),
    },
    ['sda'],
  ],
  [
    'a swap file, by the deepest mount above it',
    {
      devices: { sda: {}, sda4: { partOf: 'sda' }, sdb: {}, sdc: {}, sdd: {} },
      mounts: [
        ['composefs', '/'],
        ['/dev/sda4', '/var'],
        ['/dev/sdb', '/var/tmp/ocp'],
        ['/dev/sdc', '/var/tmp'],
        ['/dev/sdd', '/var/tmp/ocpswap.file.d'],
      ],
      swaps: swaps([FILE, 10]),
    },
    ['sda', 'sdc'],
  ],
  [
    'a swap file in a place with a blank',
    {
      devices: { sda: {}, sdb: {} },
      mounts: [
        ['/dev/sda', '/'],
        ['/dev/sdb', '/mnt/a\\040b'],
      ],
      swaps: swaps(['/mnt/a\\040b/swap']),
    },
    ['sda', 'sdb'],
  ],
  [
    'what is mounted last where something was mounted before',
    {
      devices: { sda: {}, sdb: {}, sdc: {} },
      mounts: [
        ['/dev/sdb', '/var'],
        ['/dev/sda', '/var'],
      ],
      swaps: swaps(['/dev/sdc']),
    },
    ['sda', 'sdc'],
  ],
  [
    'neither zram nor a disk that is not the system’s',
    {
      devices: { sda: {}, sda4: { partOf: 'sda' }, sdb: {}, zram0: {} },
      mounts: [...RHCOS('sda4'), ['/dev/sdb', '/mnt']],
      swaps: swaps(['/dev/zram0', 100], [FILE]),
    },
    ['sda'],
  ],
]

for (const [what, machine, disks] of machines)
  t.test(`protects ${what}`, async (t) => {
    const root = await machineRoot(t, machine)
    const { status, stdout, stderr } = await run(root)
    t.strictSame(
      { status, stdout, stderr },
      {
        status: 0,
        stdout: `I/O latency targets are in force on ${disks.join(', ')}\n`,
        stderr: '',
      },
    )
    t.strictSame(targetsIn(root, 'system.slice', 5), disks)
    t.strictSame(targetsIn(root, 'kubepods.slice', 50), disks)
    t.equal(readFileSync(join(root, CALLS), 'utf8'), 'daemon-reload\n')
  })

t.test('writes what systemd reads, and nothing beside it', async (t) => {
  const root = await machineRoot(t, { devices: { sda: {} }, swaps: swaps(['/dev/sda']) })
  await run(root)
  const text = [
    '# Written by kubevirt-io-latency-setup.service.\n',
    '[Slice]\n',
    'IODeviceLatencyTargetSec=/dev/sda 5ms\n',
  ]
  t.equal(dropIn(root, 'system.slice'), text.join(''))
  t.strictSame(readdirSync(join(root, DROP_INS, 'system.slice.d')), ['20-io-latency.conf'])
})

t.test('does the same when it runs again, also after it was cut short', async (t) => {
  const root = await machineRoot(t, { devices: { sda: {} }, swaps: swaps(['/dev/sda']) })
  const folder = join(root, DROP_INS, 'system.slice.d')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, '20-io-latency.conf'), '[Slice]\n# of a disk that is gone\n')
  await writeFile(join(folder, '20-io-latency.conf.new'), '[Sli')
  const first = await run(root)
  const text = dropIn(root, 'system.slice')
  t.strictSame(await run(root), first)
  t.equal(first.status, 0)
  t.equal(dropIn(root, 'system.slice'), text)
  t.notMatch(text, 'gone')
  t.strictSame(readdirSync(folder), ['20-io-latency.conf'])
})

const idle: readonly (readonly [what: string, swaps: string])[] = [
  ['there is no swap', swaps()],
  ['there is only zram', swaps(['/dev/zram0', 100])],
]
for (const [what, text] of idle)
  t.test(`fails, and slows nobody down, where ${what}`, async (t) => {
    const devices = { sda: {}, sda4: { partOf: 'sda' }, zram0: {} }
    const root = await machineRoot(t, { devices, mounts: RHCOS('sda4'), swaps: text })
    const { status, stdout, stderr } = await run(root)
    t.match({ status, stdout }, { status: 1, stdout: '' })
    t.match(stderr, /^error: no disk is swapped to; see swap-disk-enable\.service/)
    t.notOk(existsSync(join(root, DROP_INS)))
    t.notOk(existsSync(join(root, CALLS)))
  })

const partial: readonly (readonly [
  what: string,
  machine: Machine,
  protectedDisks: string,
  says: string,
])[] = [
  [
    'a device that the kernel does not know',
    {
      devices: { sda: {}, sda4: { partOf: 'sda' } },
      mounts: RHCOS('sda4'),
      swaps: swaps(['/dev/sdz9']),
    },
    'sda',
    'no disk found below /dev/sdz9',
  ],
  [
    'a swap file on what is no disk',
    {
      devices: { sda: {} },
      mounts: [
        ['/dev/sda', '/var'],
        ['pool/tmp', '/var/tmp'],
      ],
      swaps: swaps([FILE]),
    },
    'sda',
    'no disk found below pool/tmp',
  ],
  [
    'a disk for which the kernel takes no target',
    {
      devices: { sda: {}, nvme0n1: {} },
      swaps: swaps(['/dev/sda'], ['/dev/nvme0n1']),
      keeps: { sda: 5000 },
    },
    'sda',
    '/sys/fs/cgroup/system.slice/io.latency has no target for nvme0n1: does the kernel support it there?',
  ],
  [
    'a disk with another target, and one that is not there',
    {
      devices: { sda: {}, sdb: {} },
      swaps: swaps(['/dev/sda'], ['/dev/sdb'], ['/dev/sdz']),
      keeps: { sda: 5000, sdb: 50000 },
    },
    'sda',
    'no disk found below /dev/sdz; /sys/fs/cgroup/system.slice/io.latency has no target for sdb: does the kernel support it there?',
  ],
]
for (const [what, machine, disks, says] of partial)
  t.test(`does what it can and fails for ${what}`, async (t) => {
    const { status, stdout, stderr } = await run(await machineRoot(t, machine))
    t.strictSame(
      { status, stdout: lines(stdout), stderr: lines(stderr) },
      {
        status: 1,
        stdout: [`I/O latency targets are in force on ${disks}`],
        stderr: [`error: ${says}`],
      },
    )
  })

t.test('takes one path of a multipath disk for the whole, as systemd does', async (t) => {
  const root = await machineRoot(t, {
    devices: { sda: {}, 'dm-0': { madeOf: ['sda'], uuid: 'mpath-3600508b4' } },
    swaps: swaps(['/dev/dm-0']),
    keeps: { sda: 5000 },
  })
  t.match(await run(root), { status: 0, stdout: 'in force on sda\n', stderr: '' })
  t.strictSame(targetsIn(root, 'system.slice', 5), ['dm-0', 'sda'])
})

const broken: readonly (readonly [what: string, machine: Partial<Machine>, says: string])[] = [
  [
    'a kernel without the controller',
    { systemctl: 'exit 0' },
    'io.latency has no target for sda: does the kernel support it there?',
  ],
  [
    'systemd not reading the drop-ins',
    { systemctl: 'exit 4' },
    'error: systemctl daemon-reload ended with status 4',
  ],
  ['a swap that leads to no disk at all', { devices: {} }, 'error: no disk found below /dev/sda'],
]
for (const [what, machine, says] of broken)
  t.test(`fails for ${what}`, async (t) => {
    const swapped = { devices: { sda: {} }, swaps: swaps(['/dev/sda']) }
    const { status, stdout, stderr } = await run(await machineRoot(t, { ...swapped, ...machine }))
    t.strictSame({ status, stdout }, { status: 1, stdout: '' })
    t.match(stderr, says)
    t.equal(lines(stderr).length, 1)
  })

t.test('gives the kernel time to take the targets', async (t) => {
  const root = await machineRoot(t, { devices: { sda: {} }, swaps: swaps(['/dev/sda']), keeps: {} })
  const start = performance.now()
  t.match(await run(root, 0.05), { status: 1, stderr: 'has no target for sda' })
  t.ok(performance.now() - start >= 450)
})

for (const missing of ['swaps', 'mounts'])
  t.test(`fails in one line without /proc/${missing}`, async (t) => {
    const root = await machineRoot(t, { swaps: swaps(['/dev/sda']) })
    await rm(join(root, 'proc', missing))
    const { status, stderr } = await run(root)
    t.equal(status, 1)
    t.match(stderr, `proc/${missing}`)
    t.equal(lines(stderr).length, 1)
  })
