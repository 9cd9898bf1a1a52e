import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'

import { DEAF, EXEC, LISTENING } from './kubelet-texts.ts'
import { link, nodeRoot } from './node-root.ts'
import { lines, type Run, runScript, type Swap, swaps } from './node-script.ts'

const PARTITION = '/dev/disk/by-partlabel/OCPSWAP'
const FILE = '/var/tmp/ocpswap.file'
const CALLED = 'swapon.called'

interface Node {
  /** What is swapped to before the script runs. */
  readonly on?: readonly Swap[]
  /** What swapon does; it is successful otherwise. */
  readonly swapon?: string
  /** The files that say how the kubelet is started. */
  readonly kubelet?: Readonly<Record<string, string>>
}

const KUBELET = 'etc/systemd/system/kubelet.service'
/** A node with a swap partition that has two links, and a swap file. */
const node = async (
  t: Test,
  { on = [], swapon = '', kubelet = { [KUBELET]: `[Service]\n${EXEC}` } }: Node = {},
): Promise<string> => {
  const linkTo = (path: string, device: string) => ({ [path]: link(t, path, device) })
  const root = nodeRoot(t, {
    'proc/swaps': swaps(...on),
    ...kubelet,
    'dev/nvme0n1p5': '',
    ...linkTo('dev/disk/by-partlabel/OCPSWAP', 'dev/nvme0n1p5'),
    ...linkTo('dev/disk/by-partlabel/GONE', 'dev/nvme0n1p9'),
    ...linkTo('dev/disk/by-uuid/0b2b', 'dev/nvme0n1p5'),
    'var/tmp/ocpswap.file': '',
    'var/tmp/my swap': '',
    'usr/sbin': {},
  })
  const called = `echo "$@" >> ${root}/${CALLED}`
  await writeFile(join(root, 'usr/sbin/swapon'), `#!/bin/sh\n${called}\n${swapon}\n`, {
    mode: 0o755,
  })
  return root
}

const run = (root: string, path: string, priority: number): Promise<Run> =>
  runScript('enable-swap.py', root, ['--priority', `${priority}`, path])

for (const [what, path, priority] of [
  ['partition', PARTITION, 100],
  ['file', FILE, 10],
] as const)
  t.test(`turns on the ${what} with its priority`, async (t) => {
    const root = await node(t)
    const { status, stdout, stderr } = await run(root, path, priority)
    t.strictSame(
      { status, stdout, stderr },
      { status: 0, stdout: `${path} is on, with priority ${priority}\n`, stderr: '' },
    )
    t.equal(
      readFileSync(join(root, CALLED), 'utf8'),
      `--priority ${priority} ${join(root, path)}\n`,
    )
  })

const already: readonly (readonly [
  what: string,
  on: readonly Swap[],
  path: string,
  says: string,
])[] = [
  ['by us', [['/dev/nvme0n1p5', 100]], PARTITION, 'is on already, with priority 100'],
  [
    'by another link and priority',
    [['/dev/disk/by-uuid/0b2b', -2]],
    PARTITION,
    'is on already, with priority -2 and not 100: whoever turned it on chose that',
  ],
  [
    'beside others',
    [
      ['/dev/zram0', 100],
      [FILE, 100],
    ],
    FILE,
    'is on already, with priority 100',
  ],
  [
    'in a place with a blank',
    [['/var/tmp/my\\040swap', 100]],
    '/var/tmp/my swap',
    'is on already, with priority 100',
  ],
]
for (const [what, on, path, says] of already)
  t.test(`leaves alone what is on already: ${what}`, async (t) => {
    const root = await node(t, { on, swapon: 'exit 255' })
    const { status, stdout, stderr } = await run(root, path, 100)
    t.strictSame(
      { status, stdout: lines(stdout), stderr },
      { status: 0, stdout: [`${path} ${says}`], stderr: '' },
    )
    t.throws(() => readFileSync(join(root, CALLED)), { code: 'ENOENT' })
  })

t.test('turns on a file although another file of a similar name is on', async (t) => {
  const root = await node(t, { on: [[`${FILE}\\040(deleted)`], ['/var/tmp/my\\040swap']] })
  t.match(await run(root, FILE, 10), { status: 0, stdout: 'is on, with priority 10' })
})

t.test('is content where somebody else was faster', async (t) => {
  const root = await node(t)
  const faster = `printf '%s' '${swaps(['/dev/nvme0n1p5'])}' > ${root}/proc/swaps\nexit 255`
  await writeFile(join(root, 'usr/sbin/swapon'), `#!/bin/sh\n${faster}\n`)
  t.match(await run(root, PARTITION, 100), { status: 0, stdout: 'is on already, with priority -2' })
})

const failures: readonly (readonly [what: string, path: string, swapon: string, says: string])[] = [
  [
    'swapon refuses',
    PARTITION,
    'exit 255',
    `error: swapon ${PARTITION} ended with status 255; is it made for swap (mkswap)?`,
  ],
  ['the file is not there', '/var/tmp/other', '', 'error: /var/tmp/other does not exist'],
  [
    'the link leads nowhere',
    '/dev/disk/by-partlabel/GONE',
    '',
    'error: /dev/disk/by-partlabel/GONE does not exist',
  ],
]
for (const [what, path, swapon, says] of failures)
  t.test(`fails in one line where ${what}`, async (t) => {
    const root = await node(t, { swapon })
    const { status, stdout, stderr } = await run(root, path, 100)
    t.strictSame(
      { status, stdout, stderr: lines(stderr) },
      { status: 1, stdout: '', stderr: [says] },
    )
  })

t.test('fails in one line without swapon', async (t) => {
  const root = await node(t)
  await rm(join(root, 'usr/sbin/swapon'))
  const { status, stderr } = await run(root, PARTITION, 100)
  t.equal(status, 1)
  t.match(lines(stderr), [/^error: .*usr\/sbin\/swapon/])
})

t.test('fails where the kernel does not say what is on', async (t) => {
  const root = await node(t)
  await rm(join(root, 'proc/swaps'))
  t.match(await run(root, FILE, 10), { status: 1, stderr: /^error: .*proc\/swaps/ })
})

t.test('refuses to guess a priority', async (t) => {
  const { status, stderr } = await runScript('enable-swap.py', t.testdir({}), [FILE])
  t.equal(status, 2)
  t.match(stderr, '--priority')
})

const deaf: readonly (readonly [what: string, kubelet: Readonly<Record<string, string>>])[] = [
  ['no unit', {}],
  ...DEAF.map(([what, text]) => [what, { [KUBELET]: text }] as const),
]

for (const [what, kubelet] of deaf)
  t.test(`turns nothing on beside a kubelet that would not start then: ${what}`, async (t) => {
    const root = await node(t, { kubelet })
    const { status, stdout, stderr } = await run(root, PARTITION, 100)
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(
      stderr,
      /^error: .*OCPSWAP stays off: the kubelet of this node is not told to read .*\n$/,
    )
    t.throws(() => readFileSync(join(root, CALLED)), 'swapon is not called')
  })

for (const file of [`${KUBELET}.d/10-mco.conf`, 'usr/lib/systemd/system/kubelet.service'])
  t.test(`finds the kubelet's folder of settings in ${file}`, async (t) => {
    const root = await node(t, { kubelet: { [file]: `[Service]\n${EXEC}` } })
    t.match(await run(root, PARTITION, 100), { status: 0, stdout: /is on, with priority 100/ })
  })

for (const [what, text] of LISTENING)
  t.test(`finds the folder in ${what}`, async (t) => {
    const root = await node(t, { kubelet: { [KUBELET]: text } })
    t.match(await run(root, PARTITION, 100), { status: 0, stdout: /is on, with priority 100/ })
  })

t.test('what is on already is left on, whatever the kubelet reads', async (t) => {
  const root = await node(t, { on: [['/dev/nvme0n1p5', 100]], kubelet: {} })
  t.match(await run(root, PARTITION, 100), { status: 0, stdout: /is on already/ })
})
