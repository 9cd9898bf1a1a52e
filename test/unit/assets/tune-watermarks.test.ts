import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'

import { nodeRoot } from './node-root.ts'
import { lines, type Run, runScript, runScriptAfter, type Swap, swaps } from './node-script.ts'

const MIB = 1024 ** 2
const GIB = 1024 * MIB
const PAGE = Number((await promisify(execFile)('getconf', ['PAGESIZE'])).stdout)

// 64 GiB, so the headroom above the eviction threshold is 1 %: 655 MiB.
const TOTAL = 64 * GIB
const HEADROOM = Math.floor(TOTAL / 100)
const MIN = 64 * MIB
const FACTOR = 'proc/sys/vm/watermark_scale_factor'

/** What the zones of a node have together, in bytes. */
interface Zones {
  readonly min?: number
  readonly low: number
  readonly managed?: number
}

const ZONES = ['0, zone    DMA32', '0, zone   Normal', '1, zone   Normal', '1, zone  Movable']

/** Zones of two NUMA nodes that share the figures, with the lines that are alike but mean something else. */
const zoneinfo = ({ min = MIN, low, managed = TOTAL }: Zones) =>
  ZONES.map((zone) =>
    [
      `Node ${zone}`,
      '  per-node stats',
      '      nr_inactive_anon 13',
      '  pages free     3840',
      '        boost    0',
      ...Object.entries({ min, low, high: 2 * low - min, promo: 3 * low, managed }).map(
        ([name, bytes]) => `        ${name.padEnd(8)} ${bytes / ZONES.length / PAGE}`,
      ),
      '  pagesets',
      '    cpu: 0',
      '              count: 10',
      '              high:  9999',
      '              low:   9999',
      '',
    ].join('\n'),
  ).join('')

interface Node extends Zones {
  readonly total?: number
  readonly factor?: number
  readonly swap?: readonly Swap[]
  /** Files by path, such as the kubelet's configuration. */
  readonly files?: Readonly<Record<string, string>>
}

const JSON_FILE = 'var/lib/kubelet/config.json'
const YAML_FILE = 'var/lib/kubelet/config.yaml'
const OPENSHIFT_FILE = 'etc/kubernetes/kubelet.conf'
const DROP_INS = 'etc/openshift/kubelet.conf.d'

const node = (t: Test, machine: Node) => {
  const { total = TOTAL, factor = 10, swap = [['/dev/sda5']], files = {} } = machine
  return nodeRoot(t, {
    'proc/swaps': swaps(...swap),
    'proc/meminfo': `MemTotal:       ${total / 1024} kB\nMemFree:        1024 kB\n`,
    'proc/zoneinfo': zoneinfo(machine),
    [FACTOR]: `${factor}\n`,
    ...files,
  })
}

const kubelet = (available: string | number) =>
  JSON.stringify({
    kind: 'KubeletConfiguration',
    evictionSoft: { 'memory.available': '900Mi' },
    evictionHard: { 'memory.available': available },
  })
const block = (value: string) =>
  [
    'kind: KubeletConfiguration',
    'evictionSoft:',
    '  memory.available: 900Mi',
    'evictionHard: # hard',
    '# memory.available: 800Mi',
    '',
    '  # memory.available: 700Mi',
    '  imagefs.available: 15% # not memory.available: 600Mi',
    `  memory.available: ${value}`,
    'maxPods: 500',
    '',
  ].join('\n')
const at500Mi = { [OPENSHIFT_FILE]: block('500Mi') }

const run = (root: string, ...options: readonly string[]): Promise<Run> =>
  runScript('tune-watermarks.py', root, ['--pause', '0', ...options])
const factorIn = (root: string) => Number(readFileSync(join(root, FACTOR), 'utf8'))
const factorFor = (eviction: number) => Math.ceil(((eviction + HEADROOM - MIN) * 10_000) / TOTAL)

/** Plays the kernel: shows a factor, takes another, and then shows other watermarks. */
const asKernel = async (root: string, before: Zones, after: Zones, current = 10) => {
  const zones = join(root, 'proc/zoneinfo')
  const factor = join(root, FACTOR)
  for (const path of [zones, factor]) {
    await rm(path)
    await promisify(execFile)('mkfifo', [path])
  }
  const result = run(root)
  await writeFile(zones, zoneinfo(before))
  await writeFile(factor, `${current}\n`)
  const written = Number(await readFile(factor, 'utf8'))
  await writeFile(zones, zoneinfo(after))
  return { ...(await result), written }
}

t.test('raises the low watermark above the eviction threshold and its headroom', async (t) => {
  const before = { low: 80 * MIB }
  const root = node(t, { ...before, files: at500Mi })
  const { written, ...result } = await asKernel(root, before, { low: 1160 * MIB })
  t.equal(written, factorFor(500 * MIB))
  t.strictSame(result, {
    status: 0,
    stdout: `watermark_scale_factor 10 -> ${written}: low watermark 80 MiB -> 1160 MiB, eviction at 500 MiB\n`,
    stderr: '',
  })
})

t.test('takes the largest factor, and warns where it is not enough for the headroom', async (t) => {
  const before = { low: 80 * MIB, managed: 5 * GIB }
  const root = node(t, { ...before, files: at500Mi })
  const { written, status, stderr } = await asKernel(root, before, { low: 576 * MIB })
  t.equal(written, 1000)
  t.equal(status, 0)
  t.equal(stderr, 'warning: the largest factor leaves the low watermark below 1155 MiB\n')
})

t.test('takes no smaller factor than every kernel takes', async (t) => {
  const root = node(t, { min: 1150 * MIB, low: 1151 * MIB, factor: 1, files: at500Mi })
  t.match(await run(root), { status: 0, stderr: '' })
  t.equal(factorIn(root), 10)
})

t.test('keeps a larger factor, which newer kernels take', async (t) => {
  const root = node(t, { low: 600 * MIB, managed: GIB, factor: 2000, files: at500Mi })
  t.match(await run(root), {
    status: 0,
    stdout: 'watermark_scale_factor 2000 -> 2000',
    stderr: 'warning: the largest factor leaves the low watermark below 1155 MiB',
  })
  t.equal(factorIn(root), 2000)
})

t.test('has at least 256 MiB of headroom on a small node', async (t) => {
  const managed = 8 * GIB
  const root = node(t, {
    low: 200 * MIB,
    total: managed,
    managed,
    files: { [JSON_FILE]: kubelet('100Mi') },
  })
  t.match(await run(root), { status: 0 })
  t.equal(factorIn(root), Math.ceil(((356 - 64) * MIB * 10_000) / managed))
})

t.test('leaves watermarks alone that are high enough, also the second time', async (t) => {
  const root = node(t, { low: 1200 * MIB, files: at500Mi })
  const result = {
    status: 0,
    stdout: 'nothing to do: low watermark 1200 MiB is at or above 1155 MiB\n',
    stderr: '',
  }
  t.strictSame(await run(root), result)
  t.strictSame(await run(root), result)
  t.equal(factorIn(root), 10)
})

t.test('fails when the low watermark stays at or below the eviction threshold', async (t) => {
  const root = node(t, { low: 500 * MIB, files: at500Mi })
  const { status, stdout, stderr } = await run(root)
  t.equal(status, 1)
  t.match(
    stdout,
    `watermark_scale_factor 10 -> ${factorFor(500 * MIB)}: low watermark 500 MiB -> 500 MiB`,
  )
  t.equal(
    stderr,
    'error: low watermark 500 MiB is still not above the eviction threshold 500 MiB\n',
  )
})

t.test('fails when the kernel refuses the factor', async (t) => {
  const root = node(t, { low: 80 * MIB, files: at500Mi })
  const { status, stdout, stderr } = await runScriptAfter('ulimit -f 0', 'tune-watermarks.py', root)
  t.strictSame(
    { status, stdout, stderr },
    {
      status: 1,
      stdout: '',
      stderr: `error: /${FACTOR} does not take ${factorFor(500 * MIB)}: File too large\n`,
    },
  )
})

const PULL_SECRET = '{"auths":{"registry.example":{"auth":"a2luZDo="}}}'
const thresholds: readonly (readonly [
  what: string,
  files: Readonly<Record<string, string>>,
  eviction: number,
])[] = [
  ['of JSON', { [JSON_FILE]: kubelet('300Mi') }, 300 * MIB],
  [
    'of JSON on many lines',
    { [JSON_FILE]: JSON.stringify(JSON.parse(kubelet('300Mi')), null, 2) },
    300 * MIB,
  ],
  ['of JSON, as a number', { [JSON_FILE]: kubelet(200_000_000) }, 200_000_000],
  ['of a YAML block', { [YAML_FILE]: block('"200Mi"') }, 200 * MIB],
  [
    'of a YAML block with Windows line ends',
    { [YAML_FILE]: block('200Mi').replaceAll('\n', '\r\n') },
    200 * MIB,
  ],
  [
    'of a YAML block that ends the file',
    { [YAML_FILE]: 'kind: KubeletConfiguration\n"evictionHard":\n  "memory.available": 200Mi' },
    200 * MIB,
  ],
  [
    'of YAML in braces',
    {
      [YAML_FILE]:
        "kind: KubeletConfiguration\nevictionHard: {nodefs.available: 5%, memory.available: '250Mi'}\n",
    },
    250 * MIB,
  ],
  [
    'of YAML in braces on many lines',
    {
      [YAML_FILE]:
        'kind: KubeletConfiguration\nevictionHard: {\n  "memory.available": "250Mi",\n}\n',
    },
    250 * MIB,
  ],
  ['of OpenShift', { [OPENSHIFT_FILE]: block('150Mi') }, 150 * MIB],
  [
    'of OpenShift, whose pull secret is no configuration',
    { [JSON_FILE]: PULL_SECRET, [OPENSHIFT_FILE]: block('150Mi') },
    150 * MIB,
  ],
  [
    'of the first place of several',
    {
      [JSON_FILE]: kubelet('300Mi'),
      [YAML_FILE]: block('200Mi'),
      [OPENSHIFT_FILE]: block('150Mi'),
    },
    300 * MIB,
  ],
  [
    'of the second place',
    { [YAML_FILE]: block('200Mi'), [OPENSHIFT_FILE]: block('150Mi') },
    200 * MIB,
  ],
  [
    'of the last drop-in that has one',
    {
      [OPENSHIFT_FILE]: block('150Mi'),
      [`${DROP_INS}/20-a.conf`]: block('250Mi'),
      [`${DROP_INS}/30-b.conf`]: block('350Mi'),
      [`${DROP_INS}/90-swap.conf`]: 'kind: KubeletConfiguration\nfailSwapOn: false\n',
      [`${DROP_INS}/99-old.conf.bak`]: block('450Mi'),
    },
    350 * MIB,
  ],
  ['in units of a thousand', { [JSON_FILE]: kubelet('200M') }, 200_000_000],
  ['with a decimal point', { [JSON_FILE]: kubelet('0.25Gi') }, 256 * MIB],
  ['in kibibytes', { [JSON_FILE]: kubelet('262144Ki') }, 256 * MIB],
  ['with an exponent', { [JSON_FILE]: kubelet('2e8') }, 200_000_000],
  ['in bytes', { [JSON_FILE]: kubelet('268435456') }, 256 * MIB],
  ['as a share of the memory', { [JSON_FILE]: kubelet('0.61%') }, TOTAL * 0.0061],
  ['that says never', { [JSON_FILE]: kubelet('100%') }, 0],
]
for (const [what, files, eviction] of thresholds)
  t.test(`reads the eviction threshold ${what}`, async (t) => {
    const root = node(t, { low: 400 * MIB, files })
    const { status, stderr } = await run(root)
    t.strictSame({ status, stderr }, { status: 0, stderr: '' })
    t.equal(factorIn(root), factorFor(eviction))
  })

const NONE = 'there is no memory.available'
const defaults: readonly (readonly [what: string, text: string, says: string])[] = [
  ['there is none', 'kind: KubeletConfiguration\n', NONE],
  [
    'there is only a soft one',
    'kind: KubeletConfiguration\nevictionSoft:\n  memory.available: 1Gi\n',
    NONE,
  ],
  [
    'there are others',
    'kind: KubeletConfiguration\nevictionHard:\n  nodefs.available: 1Gi\nmemory.available: 9Gi\n',
    NONE,
  ],
  [
    'it is a comment',
    'kind: KubeletConfiguration\nevictionHard:\n  # memory.available: 1Gi\n',
    NONE,
  ],
  ['it is null', '{"kind":"KubeletConfiguration","evictionHard":{"memory.available":null}}', NONE],
  ['evictionHard is null', '{"kind":"KubeletConfiguration","evictionHard":null}', NONE],
  ['it is no quantity', block('plenty'), 'memory.available plenty is no quantity'],
  ['its unit is unknown', kubelet('5MiB'), 'memory.available 5MiB is no quantity'],
]
for (const [what, text, says] of defaults)
  t.test(`takes the kubelet's own threshold, and says so, where ${what}`, async (t) => {
    const root = node(t, { low: 400 * MIB, files: { [YAML_FILE]: text } })
    const { status, stderr } = await run(root)
    t.strictSame(
      { status, stderr },
      { status: 0, stderr: `warning: evictionHard: ${says}; taking 100 MiB\n` },
    )
    t.equal(factorIn(root), factorFor(100 * MIB))
  })

t.test('looks five times for a configuration, with pauses', async (t) => {
  const root = node(t, { low: 80 * MIB })
  const start = performance.now()
  t.match(await run(root, '--pause', '0.1'), { status: 1, stderr: 'no kubelet configuration' })
  t.ok(performance.now() - start >= 400)
})

t.test('works where swap is in memory only', async (t) => {
  const root = node(t, { low: 600 * MIB, swap: [['/dev/zram0', 100]], files: at500Mi })
  t.match(await run(root), { status: 0, stderr: '' })
  t.equal(factorIn(root), factorFor(500 * MIB))
})

const failures: readonly (readonly [what: string, node: Partial<Node>, says: string])[] = [
  [
    'nothing is swapped to',
    { swap: [] },
    'error: nothing is swapped to; see swap-disk-enable.service',
  ],
  [
    'there is no kubelet configuration',
    { files: {} },
    `error: no kubelet configuration in /${JSON_FILE}, /${YAML_FILE}, /${OPENSHIFT_FILE}`,
  ],
  [
    'there is only a pull secret',
    { files: { [JSON_FILE]: PULL_SECRET } },
    'error: no kubelet configuration in',
  ],
  [
    'the kernel shows no managed memory',
    { managed: 0 },
    'error: /proc/zoneinfo names no managed memory',
  ],
  [
    'the kernel shows no total memory',
    { files: { ...at500Mi, 'proc/meminfo': 'MemFree: 1 kB\n' } },
    'error: /proc/meminfo has no MemTotal',
  ],
]
for (const [what, changes, says] of failures)
  t.test(`fails in one line and writes nothing where ${what}`, async (t) => {
    const root = node(t, { low: 80 * MIB, files: at500Mi, ...changes })
    const { status, stdout, stderr } = await run(root)
    t.strictSame({ status, stdout }, { status: 1, stdout: '' })
    t.ok(stderr.startsWith(says), stderr)
    t.equal(lines(stderr).length, 1)
    t.equal(factorIn(root), 10)
  })

for (const path of ['proc/swaps', 'proc/meminfo', 'proc/zoneinfo', FACTOR])
  t.test(`fails in one line where /${path} cannot be read`, async (t) => {
    const root = node(t, { low: 80 * MIB, files: at500Mi })
    await rm(join(root, path))
    const { status, stderr } = await run(root)
    t.equal(status, 1)
    t.match(stderr, path)
    t.equal(lines(stderr).length, 1)
  })
