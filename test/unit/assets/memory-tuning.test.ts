import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { statusOf } from '../../../src/shared/baseline/asset-status.ts'
import { readSettings } from '../../../src/shared/baseline/settings/settings.ts'
import { assetNamed, FULL, factsWith } from '../baseline/facts.ts'
import { type Content, nodeRoot } from './node-root.ts'
import { lines, runScript } from './node-script.ts'

const KHUGEPAGED = 'sys/kernel/mm/transparent_hugepage/khugepaged'
const KSM = 'sys/kernel/mm/ksm'
const ONLY_ZERO = `${KSM}/redhat_only_zero_pages`
const THP_SCRIPT = '../thp-tuning/thp-tune.py'
const KSM_SCRIPT = '../ksm-zero-pages/ksm-tune.py'

const memory = (gibibytes: number) => ({
  'proc/meminfo': `MemTotal:       ${gibibytes * 1024 ** 2} kB\nMemFree:        1024 kB\n`,
})
const thp = {
  [`${KHUGEPAGED}/pages_to_scan`]: '4096\n',
  [`${KHUGEPAGED}/scan_sleep_millisecs`]: '10000\n',
  [`${KHUGEPAGED}/max_ptes_none`]: '511\n',
}
const ksm = {
  [`${KSM}/pages_to_scan`]: '100\n',
  [`${KSM}/sleep_millisecs`]: '20\n',
  [`${KSM}/run`]: '0\n',
}
const node = (t: Test, ...files: readonly Readonly<Record<string, Content>>[]) =>
  nodeRoot(t, Object.assign({}, ...files))
const numberIn = (root: string, path: string) => Number(readFileSync(join(root, path), 'utf8'))

for (const [gibibytes, sleep] of [
  [0.5, 65_000],
  [16, 5_000],
  [64, 2_000],
  [256, 1_250],
  [1_024, 1_062],
] as const) {
  t.test(`huge pages are gathered in time on ${gibibytes} GiB`, async (t) => {
    const root = node(t, memory(gibibytes), thp)
    const { status, stdout } = await runScript(THP_SCRIPT, root)
    t.equal(status, 0)
    t.equal(lines(stdout).length, 1)
    t.equal(numberIn(root, `${KHUGEPAGED}/pages_to_scan`), 130_000)
    t.equal(numberIn(root, `${KHUGEPAGED}/scan_sleep_millisecs`), sleep)
    t.equal(numberIn(root, `${KHUGEPAGED}/max_ptes_none`), 511, 'the kernel’s, by its page sizes')
    t.match(await runScript(THP_SCRIPT, root), { status: 0 }, 'and again')
  })
}

for (const order of [
  [THP_SCRIPT, KSM_SCRIPT],
  [KSM_SCRIPT, THP_SCRIPT],
]) {
  t.test('huge pages are not made of zero pages that the kernel merges', async (t) => {
    const root = node(t, memory(64), thp, ksm, { [ONLY_ZERO]: '0\n' })
    for (const script of order) t.match(await runScript(script, root), { status: 0 })
    t.equal(numberIn(root, `${KHUGEPAGED}/max_ptes_none`), 0)
  })
}

t.test('a node that takes no setting of huge pages is a failure', async (t) => {
  const without = await runScript(THP_SCRIPT, node(t, memory(64)))
  t.match(without, { status: 1, stderr: /this kernel has no .*pages_to_scan/ })
  const unknown = await runScript(THP_SCRIPT, node(t, { 'proc/meminfo': '' }, thp))
  t.match(unknown, { status: 1, stderr: /no MemTotal/ })
})

for (const [gibibytes, sleep] of [
  [0.5, 50],
  [512, 50],
  [1_024, 25],
  [4_096, 10],
] as const) {
  t.test(`zero pages alone are merged on ${gibibytes} GiB`, async (t) => {
    const root = node(t, memory(gibibytes), ksm, { [ONLY_ZERO]: '0\n' })
    const { status, stdout } = await runScript(KSM_SCRIPT, root)
    t.equal(status, 0)
    t.equal(lines(stdout).length, 1)
    t.equal(numberIn(root, ONLY_ZERO), 1)
    t.equal(numberIn(root, `${KSM}/pages_to_scan`), 1_000)
    t.equal(numberIn(root, `${KSM}/sleep_millisecs`), sleep)
    t.equal(numberIn(root, `${KSM}/run`), 1)
    t.match(await runScript(KSM_SCRIPT, root), { status: 0 }, 'and again')
  })
}

t.test('nothing is merged where the kernel cannot merge zero pages alone', async (t) => {
  const root = node(t, memory(64), ksm)
  t.match(await runScript(KSM_SCRIPT, root), { status: 1, stderr: /nothing is merged/ })
  t.equal(numberIn(root, `${KSM}/run`), 0)
  t.throws(() => readFileSync(join(root, ONLY_ZERO)), 'and no such file is made')
})

t.test('nothing is merged on a node whose memory is not known', async (t) => {
  const root = node(t, { 'proc/meminfo': '' }, ksm, { [ONLY_ZERO]: '0\n' })
  t.match(await runScript(KSM_SCRIPT, root), { status: 1, stderr: /no MemTotal/ })
  t.equal(numberIn(root, `${KSM}/run`), 0)
})

const renderedText = (name: string, spec: Readonly<Record<string, unknown>> = {}) => {
  const hco = { ...FULL.hco, spec }
  const facts = factsWith({ ...FULL, hco })
  return JSON.stringify(statusOf(assetNamed(name), facts, readSettings({}).settings, String))
}

for (const name of ['thp-tuning', 'ksm-zero-pages']) {
  for (const pool of ['worker', 'master']) {
    t.test(`the unit of ${name} starts the script that comes with it to ${pool}s`, async (t) => {
      const text = renderedText(pool === 'worker' ? name : `${name}-master`)
      const [, path = ''] = /ExecStart=\/usr\/bin\/python3 -I (\S+?)\\n/.exec(text) ?? []
      t.match(text, `"path":"${path}","mode":493`)
      t.match(text, `"machineconfiguration.openshift.io/role":"${pool}"`)
    })
  }
}

t.test('KSM is skipped on a kernel that would merge other pages, too', async (t) => {
  t.match(renderedText('ksm-zero-pages'), `ConditionPathExists=/${ONLY_ZERO}\\n`)
})

t.test('KSM has one master: where KubeVirt drives it, we do not', async (t) => {
  const ksmConfiguration = { nodeLabelSelector: {} }
  for (const spec of [{ ksmConfiguration }, { virtualization: { ksmConfiguration } }])
    t.match(renderedText('ksm-zero-pages', spec), '"kind":"inactive"')
})
