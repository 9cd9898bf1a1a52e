import t from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import type { Said } from '../harness/fixture.ts'
import {
  HCO,
  HEALTH_CHECK,
  HYPERCONVERGED,
  METALLB,
  MUTATING,
  SWAP,
  VALIDATING,
} from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const MACHINE_CONFIGS = '/apis/machineconfiguration.openshift.io/v1/machineconfigs'
const PREFIX = 'platform.kubevirt.io'

const annotateHco = (...annotations: readonly string[]) => [
  'annotate',
  ...HYPERCONVERGED,
  '--overwrite',
  ...annotations.map((annotation) => `${PREFIX}/${annotation}`),
]
const edit = (minHealthy: string) => [
  'patch',
  ...CHECK,
  '--type=merge',
  `--patch=${JSON.stringify({ spec: { minHealthy } })}`,
]
const exclusion = ({ stderr }: Said) =>
  /(?:To keep it away|switch the asset off first): (kubectl .*)/.exec(stderr)?.[1] ?? ''

t.test('deletions and opt-outs', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, asked, untilCompared, untilEvent, metric } = cluster
  const alice = cluster.person('alice')
  const mode = (name: string) =>
    metric('reconciler', 'virt_platform_activation_info', `mode="${name}"`)
  const activation = async () => ({
    all: await mode('all'),
    observe: await mode('observe'),
    off: await mode('off'),
  })
  const uidOf = async (path: string): Promise<string> => (await read(path))?.metadata.uid
  const untilBack = (path: string, uid: string) =>
    until(`${path} is back`, async () => ![undefined, uid].includes(await uidOf(path)))

  await t.test('an active object may be deleted, with a warning, and comes back', async (t) => {
    const uid = await uidOf(HEALTH_CHECK)
    const deleted = await alice(['delete', ...CHECK])
    t.equal(deleted.code, 0)
    t.match(
      deleted.stderr,
      /^Warning: NodeHealthCheck virt-node-health-check comes back within seconds, without its overrides \(node-health-standard: .+\)\.$/m,
    )
    t.match(exclusion(deleted), /^kubectl annotate hyperconverged -n openshift-cnv /)
    await untilBack(HEALTH_CHECK, uid)
  })

  await t.test('the reconciler’s own writes never reach the webhook', async (t) => {
    const uid = await uidOf(METALLB)
    await alice(['delete', 'metallb', '-n', 'metallb-system', 'metallb'])
    const counted = await asked()
    await untilBack(METALLB, uid)
    t.equal(await asked(), counted)
  })

  await t.test('what its deletion would reboot nodes for is not deleted', async (t) => {
    const uid = await uidOf(SWAP)
    const refused = await alice(['delete', 'machineconfig', '90-worker-swap-online', '-v=6'])
    t.match(refused, { code: 1, stderr: /status="403 Forbidden"/ })
    t.match(refused.stderr, /is kept by .*; a change would reboot 3 nodes of pool worker\./)
    t.equal(await uidOf(SWAP), uid)
  })

  await t.test(
    'who deletes all takes what is not ours, and leaves or brings back ours',
    async (t) => {
      // Without that one the kubelets would have no use for swap.
      const selector = 'metadata.name!=01-worker-kubelet'
      const uids = await Promise.all([SWAP, HEALTH_CHECK].map(uidOf))
      const foreign = (name: string) => ({
        apiVersion: 'machineconfiguration.openshift.io/v1',
        kind: 'MachineConfig',
        metadata: { name },
        spec: {},
      })
      const names = ['98-foreign', '99-foreign']
      for (const name of names)
        await alice(['create', '-f-'], { input: JSON.stringify(foreign(name)) })
      t.match(await alice(['delete', 'machineconfigs', `--field-selector=${selector}`]), {
        code: 1,
        stdout: /98-foreign" deleted.*99-foreign" deleted/s,
        stderr: /MachineConfig 90-worker-swap-online is kept by/,
      })
      for (const name of names) t.equal(await read(`${MACHINE_CONFIGS}/${name}`), undefined)
      const collection = `${MACHINE_CONFIGS}?fieldSelector=${encodeURIComponent(selector)}`
      t.equal((await cluster.admin('DELETE', collection)).status, 403, 'as a collection too')
      t.equal(await uidOf(SWAP), uids[0])

      t.match(await alice(['delete', 'nodehealthchecks', '--all']), { code: 0 })
      await untilBack(HEALTH_CHECK, uids[1] ?? '')
    },
  )

  await t.test('foreign objects never reach the webhook', async (t) => {
    const counted = await asked()
    const items = [
      {
        apiVersion: 'machineconfiguration.openshift.io/v1',
        kind: 'MachineConfig',
        metadata: { name: '99-of-alice' },
        spec: { kernelArguments: ['quiet'] },
      },
      {
        apiVersion: 'metallb.io/v1beta1',
        kind: 'MetalLB',
        metadata: { name: 'metallb', namespace: 'openshift-cnv' },
        spec: {},
      },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'metallb', namespace: 'default' } },
    ]
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    for (const args of [
      ['create', '-f-'],
      ['label', '-f-', 'a=b'],
      ['apply', '--server-side', '--force-conflicts', '-f-'],
      ['delete', '-f-'],
    ]) {
      const said = await alice(args, { input })
      t.match(said, { code: 0, stderr: '' }, said.stderr)
    }
    t.equal(await asked(), counted)
    await alice(edit('2%'))
    t.not(await asked(), counted, 'while ours do')
  })

  await t.test('what disabled-resources excludes may be deleted and stays away', async (t) => {
    const refused = await alice(['delete', 'machineconfig', '90-worker-swap-online'])
    t.match(await alice.shell(exclusion(refused)), { code: 0 })
    await until(
      'the exclusion is published',
      async () => (await alice(['delete', 'machineconfig', '90-worker-swap-online'])).code === 0,
    )
    await untilCompared('90-worker-swap-online')
    t.equal(await read(SWAP), undefined)

    const deleted = await alice(['delete', ...CHECK])
    t.match(exclusion(deleted), /^kubectl annotate/, 'one command keeps the second away too')
    t.match(await alice.shell(exclusion(deleted)), { code: 0 })
    const { annotations } = (await read(HCO)).metadata
    t.match(annotations[`${PREFIX}/disabled-resources`], /swap-enable.*node-health-standard/s)
    await until('the second is away', async () => {
      await alice(['delete', ...CHECK, '--ignore-not-found'])
      await untilCompared('virt-node-health-check')
      return (await read(HEALTH_CHECK)) === undefined
    })
    t.equal(await read(SWAP), undefined)

    t.match(await alice(annotateHco('disabled-resources-')), { code: 0 })
    await until('both are back', async () => (await read(SWAP)) && (await read(HEALTH_CHECK)))
  })

  await t.test('a setting that is none is denied', async (t) => {
    for (const [annotation, fault] of [
      ['autopilot=True', /must be "true", "false", "observe" or a comma separated list/],
      ['autopilot=yes', /must be "true"/],
      ['disabled-resources=swap-enable', /must be a YAML list/],
      ['disruptive-changes=no', /must be "apply" or "hold", not "no"/],
      ['enforcement=warn', /must be "correct" or "deny", not "warn"/],
    ] as const) {
      const { code, stderr } = await alice([...annotateHco(annotation), '-v=6'])
      t.equal(code, 1, annotation)
      t.match(stderr, /status="403 Forbidden"/)
      t.match(stderr, fault)
    }
    t.notOk((await read(HCO)).metadata.annotations)
  })

  await t.test(
    'a name that no asset bears is allowed, with the nearest that one does',
    async (t) => {
      const dry = '--dry-run=server'
      t.match(await alice([...annotateHco('autopilot=swap-enable,metalb'), dry]), {
        code: 0,
        stderr: /^Warning: .*no asset or group is named "metalb": did you mean "metallb"\?$/m,
      })
      t.match(await alice([...annotateHco('ignore-field=/spec'), dry]), {
        code: 0,
        stderr:
          /platform\.kubevirt\.io\/ignore-field means nothing here: did you mean platform\.kubevirt\.io\/ignore-fields\?$/m,
      })
    },
  )

  await t.test('enforcement: deny refuses what would have been corrected', async (t) => {
    t.match(await alice(annotateHco('enforcement=deny')), { code: 0, stderr: '' })
    const refused = await until('edits are refused', async () => {
      const said = await alice([...edit('3%'), '--dry-run=server'])
      return said.code === 1 && said
    })
    t.match(refused.stderr, /^To make this edit stick: kubectl annotate nodehealthcheck /m)
    t.match(await alice(annotateHco('enforcement-')), { code: 0 })
  })

  await t.test('observe: edits pass, and drift is reported', async (t) => {
    t.match(await alice(annotateHco('autopilot=observe')), { code: 0, stderr: '' })
    // Dry runs: an edit that is judged too early is a contest, of which alice has but five.
    const dry = [...edit('4%'), '--dry-run=server']
    await until('edits pass', async () => (await alice(dry)).stderr === '')
    t.match(await alice(edit('4%')), { code: 0, stderr: '' })
    await untilEvent('DriftDetected', /node-health-standard: .*minHealthy "4%" → "51%"/)
    await untilCompared('virt-node-health-check')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '4%')
    t.ok(await read(MUTATING))
    t.same(await activation(), { all: 0, observe: 1, off: 0 })
  })

  await t.test('false: the registration is removed, and nothing is corrected', async (t) => {
    t.match(await alice(annotateHco('autopilot=false')), { code: 0, stderr: '' })
    for (const path of [MUTATING, VALIDATING])
      await until('the registration is gone', async () => (await read(path)) === undefined)
    t.match(await alice(edit('5%')), { code: 0, stderr: '' })
    await untilCompared('virt-node-health-check')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '5%')
    t.same(await activation(), { all: 0, observe: 0, off: 1 })
    t.match(await alice(['delete', 'machineconfig', '90-worker-swap-online']), { code: 0 })
  })

  await t.test('true again: the registration is back, and drift is healed', async (t) => {
    t.match(await alice(annotateHco('autopilot=true')), { code: 0 })
    await until('drift is healed', async () => (await minHealthyOf(read(HEALTH_CHECK))) === '51%')
    await until('what was deleted is back', () => read(SWAP))
    for (const path of [MUTATING, VALIDATING])
      await until('the registration is back', () => read(path))
    await until('edits are corrected again', async () =>
      (await alice([...edit('6%'), '--dry-run=server'])).stderr.includes('kept at "51%"'),
    )
    t.match(await alice(edit('6%')), { code: 0, stderr: /kept at "51%"/ })
    t.same(await activation(), { all: 1, observe: 0, off: 0 })
  })
})

const minHealthyOf = async (object: Promise<Loose>) => (await object).spec.minHealthy
