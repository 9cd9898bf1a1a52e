import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import t, { type Test } from 'tap'

const SCRIPTS = join(import.meta.dirname, '../../../assets/active/swap-enable')
const MIB = 1024 ** 2
const PAGE = 4096

interface Run {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const run = (script: string, root: string, ...options: string[]): Promise<Run> =>
  new Promise((resolve) => {
    const argv = [join(SCRIPTS, script), '--root', root, ...options]
    execFile('python3', argv, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

t.test('tune-watermarks', (t) => {
  // 64 GiB, so the headroom above the eviction threshold is 1 %: 655 MiB.
  const TOTAL = 64 * 1024 * MIB
  const HEADROOM = TOTAL / 100

  const kubelet = (available: string) =>
    JSON.stringify({ evictionHard: { 'memory.available': available } })

  /** Two zones that share the given figures, with the lines that are alike but mean something else. */
  const zoneinfo = ({ min, low, managed }: { min: number; low: number; managed: number }) =>
    ['DMA32', 'Normal']
      .map((zone) =>
        [
          `Node 0, zone ${zone.padStart(8)}`,
          '  pages free     3840',
          ...Object.entries({ min, low, high: 2 * low - min, managed }).map(
            ([name, bytes]) => `        ${name.padEnd(8)} ${bytes / 2 / PAGE}`,
          ),
          '  pagesets',
          '    cpu: 0',
          '              count: 10',
          '              high:  9999',
          '',
        ].join('\n'),
      )
      .join('')

  interface Node {
    readonly low: number
    readonly managed?: number
    readonly config?: Readonly<Record<string, string>>
  }
  const node = (t: Test, { low, managed = TOTAL, config }: Node) =>
    t.testdir({
      proc: {
        meminfo: `MemTotal:       ${TOTAL / 1024} kB\nMemFree:        1024 kB\n`,
        zoneinfo: zoneinfo({ min: 64 * MIB, low, managed }),
        sys: { vm: { watermark_scale_factor: '10\n' } },
      },
      etc: { kubernetes: config?.kubernetes ? { 'kubelet.conf': config.kubernetes } : {} },
      var: {
        lib: {
          kubelet: {
            ...(config?.json && { 'config.json': config.json }),
            ...(config?.yaml && { 'config.yaml': config.yaml }),
          },
        },
      },
    })
  const factorOf = (root: string) =>
    Number(readFileSync(join(root, 'proc/sys/vm/watermark_scale_factor'), 'utf8'))
  const factorFor = (eviction: number) =>
    Math.ceil(((eviction + Math.floor(HEADROOM) - 64 * MIB) * 10_000) / TOTAL)

  /** Plays the kernel: takes the factor and then shows other watermarks. */
  const asKernel = async (root: string, before: string, after: string) => {
    const zones = join(root, 'proc/zoneinfo')
    const factor = join(root, 'proc/sys/vm/watermark_scale_factor')
    for (const path of [zones, factor]) {
      await rm(path)
      await promisify(execFile)('mkfifo', [path])
    }
    const result = run('tune-watermarks.py', root)
    await writeFile(zones, before)
    const written = Number(await readFile(factor, 'utf8'))
    await writeFile(zones, after)
    return { ...(await result), written }
  }

  t.test('raises the low watermark above the eviction threshold and its headroom', async (t) => {
    const root = node(t, { low: 80 * MIB, config: { json: kubelet('500Mi') } })
    const before = zoneinfo({ min: 64 * MIB, low: 80 * MIB, managed: TOTAL })
    const after = zoneinfo({ min: 64 * MIB, low: 1160 * MIB, managed: TOTAL })
    const { status, stdout, stderr, written } = await asKernel(root, before, after)
    t.equal(written, factorFor(500 * MIB))
    t.match({ status, stderr }, { status: 0, stderr: '' })
    t.match(stdout, 'low watermark 80 MiB -> 1160 MiB, eviction at 500 MiB')
  })

  t.test(
    'takes the largest factor and warns where it is not enough for the headroom',
    async (t) => {
      const root = node(t, { low: 80 * MIB, config: { json: kubelet('500Mi') } })
      const small = 5 * 1024 * MIB
      const before = zoneinfo({ min: 64 * MIB, low: 80 * MIB, managed: small })
      const after = zoneinfo({ min: 64 * MIB, low: 576 * MIB, managed: small })
      const { status, stderr, written } = await asKernel(root, before, after)
      t.equal(written, 1000)
      t.equal(status, 0)
      t.match(stderr, 'warning: the largest factor leaves the low watermark below 1155 MiB')
    },
  )

  t.test('leaves watermarks alone that are high enough', async (t) => {
    const root = node(t, { low: 1200 * MIB, config: { json: kubelet('500Mi') } })
    const { status, stdout } = await run('tune-watermarks.py', root)
    t.equal(status, 0)
    t.match(stdout, 'nothing to do')
    t.equal(factorOf(root), 10)
  })

  t.test('fails when the low watermark stays at or below the eviction threshold', async (t) => {
    const root = node(t, { low: 500 * MIB, config: { json: kubelet('500Mi') } })
    const { status, stderr } = await run('tune-watermarks.py', root)
    t.equal(status, 1)
    t.match(stderr, 'still not above the eviction threshold 500 MiB')
  })

  const block = (value: string) =>
    [
      'kind: KubeletConfiguration',
      'evictionSoft:',
      '  memory.available: 900Mi',
      'evictionHard: # hard',
      '',
      '  imagefs.available: 15%',
      `  memory.available: ${value}`,
      'maxPods: 500',
      '',
    ].join('\n')
  const thresholds: readonly [string, Readonly<Record<string, string>>, number][] = [
    ['JSON', { json: kubelet('300Mi') }, 300 * MIB],
    ['a YAML block', { yaml: block('"200Mi"') }, 200 * MIB],
    ['YAML in one line', { yaml: "evictionHard: {memory.available: '250Mi'}\n" }, 250 * MIB],
    ['the last of the places', { kubernetes: block('150Mi') }, 150 * MIB],
    ['the first place of several', { json: kubelet('300Mi'), yaml: block('200Mi') }, 300 * MIB],
    ['decimal units', { json: kubelet('200M') }, 200_000_000],
    ['bytes', { json: kubelet('268435456') }, 256 * MIB],
    ['a share of the memory', { json: kubelet('0.5%') }, TOTAL / 200],
    ['no threshold: the default', { json: '{}' }, 100 * MIB],
    ['a threshold of another form: the default', { yaml: block('plenty') }, 100 * MIB],
    [
      'only a soft threshold: the default',
      { yaml: 'evictionSoft:\n  memory.available: 1Gi\n' },
      100 * MIB,
    ],
  ]
  for (const [name, config, eviction] of thresholds)
    t.test(`reads the eviction threshold: ${name}`, async (t) => {
      const root = node(t, { low: 400 * MIB, config })
      const { status, stderr } = await run('tune-watermarks.py', root)
      t.equal(status, 0)
      t.equal(factorOf(root), factorFor(eviction))
      t.equal(stderr.includes('no usable evictionHard'), name.endsWith('the default'))
    })

  t.test('fails without a kubelet configuration', async (t) => {
    const root = node(t, { low: 80 * MIB })
    const { status, stderr } = await run('tune-watermarks.py', root, '--pause', '0')
    t.equal(status, 1)
    t.match(stderr, 'no kubelet configuration in /var/lib/kubelet/config.json')
    t.equal(factorOf(root), 10)
  })

  t.test('fails where the kernel shows no managed memory', async (t) => {
    const root = node(t, { low: 80 * MIB, managed: 0, config: { json: kubelet('500Mi') } })
    const { status, stderr } = await run('tune-watermarks.py', root)
    t.equal(status, 1)
    t.match(stderr, 'names no managed memory')
  })

  t.test('fails where /proc cannot be read', async (t) => {
    const { status, stderr } = await run('tune-watermarks.py', t.testdir({}))
    t.equal(status, 1)
    t.match(stderr, 'meminfo')
  })

  t.end()
})

t.test('io-latency', (t) => {
  const SWAPS = 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n'
  const DROP_INS = 'run/systemd/system'

  /** Two NVMe disks, one of them in partitions, and a volume over both of them. */
  interface Node {
    readonly swaps?: string
    readonly mounts?: string
    readonly systemctl?: string
  }
  const node = (t: Test, { swaps = '', mounts = '', systemctl }: Node) => {
    const link = (target: string) => t.fixture('symlink', target)
    const root = t.testdir({
      proc: { swaps: SWAPS + swaps, mounts },
      dev: {
        disk: {
          'by-partlabel': {
            OCPSWAP: link('../../nvme0n1p5'),
            root: link('../../nvme0n1p4'),
          },
        },
        mapper: { data: link('../dm-0') },
        nvme0n1p4: '',
        nvme0n1p5: '',
        nvme1n1: '',
        'dm-0': '',
      },
      sys: {
        class: {
          block: {
            nvme0n1: link('../../devices/nvme0n1'),
            nvme0n1p4: link('../../devices/nvme0n1/nvme0n1p4'),
            nvme0n1p5: link('../../devices/nvme0n1/nvme0n1p5'),
            nvme1n1: link('../../devices/nvme1n1'),
            'dm-0': link('../../devices/dm-0'),
          },
        },
        devices: {
          nvme0n1: {
            slaves: {},
            nvme0n1p4: { partition: '4\n' },
            nvme0n1p5: { partition: '5\n' },
          },
          nvme1n1: { slaves: {} },
          'dm-0': { slaves: { nvme0n1p4: '', nvme1n1: '' } },
        },
      },
      usr: { bin: {} },
    })
    const body = systemctl ?? 'echo "$@" > "$(dirname "$0")/called"'
    return writeFile(join(root, 'usr/bin/systemctl'), `#!/bin/sh\n${body}\n`, { mode: 0o755 }).then(
      () => root,
    )
  }
  const partition = (device: string) =>
    `${device}                          partition\t8388604\t0\t100\n`
  const mount = (source: string, target: string) => `${source} ${target} xfs rw,relatime 0 0\n`
  const dropIn = (root: string, slice: string) =>
    readFileSync(join(root, DROP_INS, `${slice}.d/20-io-latency.conf`), 'utf8')
  const targetsOf = (root: string) =>
    [...dropIn(root, 'system.slice').matchAll(/^IODeviceLatencyTargetSec=(\S+) 5ms$/gm)].map(
      ([, device]) => device,
    )

  t.test('sets both targets on the disk of a swap partition named by its label', async (t) => {
    const root = await node(t, { swaps: partition('/dev/disk/by-partlabel/OCPSWAP') })
    const { status, stdout } = await run('io-latency.py', root)
    t.equal(status, 0)
    t.match(stdout, 'nvme0n1')
    t.equal(dropIn(root, 'system.slice'), '[Slice]\nIODeviceLatencyTargetSec=/dev/nvme0n1 5ms\n')
    t.equal(dropIn(root, 'kubepods.slice'), '[Slice]\nIODeviceLatencyTargetSec=/dev/nvme0n1 50ms\n')
    t.equal(readFileSync(join(root, 'usr/bin/called'), 'utf8'), 'daemon-reload\n')
  })

  const found: readonly [string, Node, readonly string[]][] = [
    ['the root file system', { mounts: mount('/dev/nvme0n1p4', '/') }, ['/dev/nvme0n1']],
    [
      'a composed root file system',
      {
        mounts: `composefs / overlay ro 0 0\n${mount('/dev/nvme0n1p4', '/sysroot')}${mount('/dev/nvme1n1', '/var')}`,
      },
      ['/dev/nvme0n1', '/dev/nvme1n1'],
    ],
    [
      'all disks of a volume',
      { mounts: mount('/dev/mapper/data', '/') },
      ['/dev/nvme0n1', '/dev/nvme1n1'],
    ],
    [
      'swap and root on different disks',
      { swaps: partition('/dev/nvme1n1'), mounts: mount('/dev/nvme0n1p4', '/') },
      ['/dev/nvme0n1', '/dev/nvme1n1'],
    ],
    [
      'neither zram nor the file of a swap file',
      {
        swaps: `${partition('/dev/zram0')}/var/tmp/ocpswap.file file 1024 0 10\n`,
        mounts: mount('/dev/nvme1n1', '/'),
      },
      ['/dev/nvme1n1'],
    ],
    [
      'no other file system',
      { mounts: mount('/dev/nvme0n1p4', '/') + mount('/dev/nvme1n1', '/mnt/a\\040b') },
      ['/dev/nvme0n1'],
    ],
  ]
  for (const [name, disks, expected] of found)
    t.test(`finds ${name}`, async (t) => {
      const root = await node(t, disks)
      const { status } = await run('io-latency.py', root)
      t.equal(status, 0)
      t.same(targetsOf(root), expected)
    })

  t.test('fails and touches nothing where there is no disk', async (t) => {
    const root = await node(t, { mounts: 'tmpfs / tmpfs rw 0 0\n' })
    const { status, stderr } = await run('io-latency.py', root)
    t.equal(status, 1)
    t.match(stderr, 'neither swap nor')
    t.notOk(existsSync(join(root, DROP_INS)))
    t.notOk(existsSync(join(root, 'usr/bin/called')))
  })

  t.test('fails for a device that leads to no disk, after it has set the others', async (t) => {
    const root = await node(t, {
      swaps: partition('/dev/sdz9'),
      mounts: mount('/dev/nvme0n1p4', '/'),
    })
    const { status, stderr } = await run('io-latency.py', root)
    t.equal(status, 1)
    t.match(stderr, 'no disk found below /dev/sdz9')
    t.same(targetsOf(root), ['/dev/nvme0n1'])
  })

  t.test('fails when systemd does not read the drop-ins', async (t) => {
    const root = await node(t, { mounts: mount('/dev/nvme0n1p4', '/'), systemctl: 'exit 4' })
    const { status, stderr } = await run('io-latency.py', root)
    t.equal(status, 1)
    t.match(stderr, 'daemon-reload')
  })

  t.end()
})
