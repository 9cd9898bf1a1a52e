import t from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const CHECK = ['nodehealthcheck', 'virt-node-health-check']
// By its full name: kubectl goes on asking for a version that it remembers.
const AS_V1BETA1 = ['hyperconvergeds.v1beta1.hco.kubevirt.io', ...HYPERCONVERGED.slice(1)]
const HCO_CRD =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hyperconvergeds.hco.kubevirt.io'
const HCO_V1BETA1 = HCO.replace('/v1/', '/v1beta1/')
const PREFIX = 'platform.kubevirt.io'
const POST_COPY = '/spec/virtualization/liveMigrationConfig/allowPostCopy'

const annotate = (target: readonly string[], ...annotations: readonly string[]) => [
  'annotate',
  ...target,
  '--overwrite',
  ...annotations.map((annotation) => `${PREFIX}/${annotation}`),
]
const merge = (target: readonly string[], patch: object) => [
  'patch',
  ...target,
  '--type=merge',
  `--patch=${JSON.stringify(patch)}`,
]
const patchOf = (...operations: readonly object[]) => `patch=${JSON.stringify(operations)}`

t.test('overrides that cannot be in force', async (t) => {
  const cluster = await autopilotCluster(t, { isOwn: true, reconcilerFlags: ['--resync=500ms'] })
  const { read, untilCompared, untilEvent, withoutWebhook } = cluster
  const alice = cluster.person('alice')
  const versionOf = async (path: string) => (await read(path)).metadata.resourceVersion
  const isHeld = async (name: string) => {
    const reply = await fetch(`http://127.0.0.1:${cluster.autopilot.opsPorts.reconciler}/metrics`)
    const series = (await reply.text()).split('\n')
    return series.some(
      (line) =>
        line.startsWith('virt_platform_compliance_status{') &&
        line.includes(`name="${name}"`) &&
        line.endsWith(' 0'),
    )
  }
  const heldInLog = (annotation: string) =>
    cluster
      .log('reconciler')
      .split('\n')
      .filter((line) => line.includes('held by an invalid override') && line.includes(annotation))

  await t.test('a value that the schema does not admit is refused by the schema', async (t) => {
    for (const [target, path, operation, fault] of [
      [
        CHECK,
        HEALTH_CHECK,
        { op: 'replace', path: '/spec/minHealthy', value: 'many' },
        /spec\.minHealthy: Invalid value: "many": .*should match/,
      ],
      [
        HYPERCONVERGED,
        HCO,
        { op: 'replace', path: POST_COPY, value: 'soon' },
        /allowPostCopy: Invalid value: "string": .*must be of type boolean/,
      ],
    ] as const) {
      const before = await versionOf(path)
      const said = await alice(annotate(target, patchOf(operation)))
      t.equal(said.code, 1)
      t.match(said.stderr, fault)
      t.equal(await versionOf(path), before)
    }
  })

  await t.test('null for a field is refused, with what to do instead', async (t) => {
    for (const [target, path, pointer] of [
      [CHECK, HEALTH_CHECK, '/spec/minHealthy'],
      [HYPERCONVERGED, HCO, POST_COPY],
    ] as const) {
      const before = await versionOf(path)
      const said = await alice(
        annotate(target, patchOf({ op: 'replace', path: pointer, value: null })),
      )
      t.equal(said.code, 1)
      t.match(said.stderr, `the patch sets ${pointer} to null`)
      t.match(said.stderr, '"op": "remove"')
      t.notMatch(said.stderr, 'another admission webhook')
      t.equal(await versionOf(path), before)
    }
  })

  await t.test('a patch of a field that is ignored is told to have no effect', async (t) => {
    const operation = { op: 'replace', path: '/spec/minHealthy', value: '71%' }
    const both = annotate(CHECK, 'ignore-fields=/spec/minHealthy', patchOf(operation))
    t.match(await alice(both), {
      code: 0,
      stderr: /^Warning: .*the patch does at \/spec\/minHealthy has no effect/m,
    })
    const { regarding } = await untilEvent('PatchShadowed', /minHealthy has no effect/)
    t.equal(regarding.name, 'virt-node-health-check')
    t.equal((await read(HEALTH_CHECK)).spec.minHealthy, '51%')
    await alice(annotate(CHECK, 'ignore-fields-', 'patch-'))
  })

  await t.test('an invalid override that was stored holds the object until mended', async (t) => {
    const name = 'virt-node-health-check'
    const toNull = patchOf({ op: 'replace', path: '/spec/minHealthy', value: null })
    const minHealthy = async () => (await read(HEALTH_CHECK)).spec.minHealthy
    // What it is set to while the webhook is away is never the baseline's.
    const invalid = [
      ['mode=off', 'InvalidMode', '59%'],
      ['ignore-fields=/spec/minHelthy', 'InvalidIgnoreFields', '60%'],
      [toNull, 'InvalidPatch', '61%'],
    ] as const
    await withoutWebhook(async () => {
      for (const [annotation, reason, value] of invalid) {
        const key = annotation.slice(0, annotation.indexOf('='))
        const others = ['mode', 'ignore-fields', 'patch'].filter((other) => other !== key)
        await alice(annotate(CHECK, ...others.map((other) => `${other}-`), annotation))
        const { regarding } = await untilEvent(reason, /node-health-standard: held/)
        t.equal(regarding.name, name)
        await alice(merge(CHECK, { spec: { minHealthy: value } }))
        const version = await versionOf(HEALTH_CHECK)
        await untilCompared(name)
        t.equal(await versionOf(HEALTH_CHECK), version, `${key}: nothing is written`)
        t.ok(await isHeld(name), `${key}: the metric says so`)
        t.equal(heldInLog(`${PREFIX}/${key}`).length, 1, `${key}: the log says so, once`)
      }
    })
    t.match(await alice(merge(CHECK, { spec: { minHealthy: '62%' } })), { code: 0, stderr: '' })
    t.equal(await minHealthy(), '62%', 'nothing is corrected')
    t.match(await alice(annotate(CHECK, 'patch-')), { code: 0 })
    await until('the object is at its baseline', async () => (await minHealthy()) === '51%')
    await until('it is no longer held', async () => !(await isHeld(name)))
  })

  await t.test('a served version that does not know an override’s fields holds it', async (t) => {
    const operation = { op: 'replace', path: POST_COPY, value: true }
    const other = '/spec/virtualization/liveMigrationConfig/allowAutoConverge'
    await alice(annotate(HYPERCONVERGED, patchOf(operation), `ignore-fields=${other}`))
    await untilCompared('kubevirt-hyperconverged')
    // Nothing converts here, so that the version that is left must be the one that is stored.
    const onlyV1beta1 = ['0/served', '0/storage', '1/storage'].map((place) => ({
      op: 'replace',
      path: `/spec/versions/${place}`,
      value: place === '1/storage',
    }))
    const type = 'application/json-patch+json'
    t.equal((await cluster.admin('PATCH', HCO_CRD, onlyV1beta1, type)).status, 200)

    const { regarding } = await untilEvent('InvalidPatch', /hco-golden-config: held/)
    t.equal(regarding.name, 'kubevirt-hyperconverged')
    t.ok(await isHeld('kubevirt-hyperconverged'))
    t.equal(heldInLog(POST_COPY).length, 1)
    const before = await versionOf(HCO_V1BETA1)
    await untilCompared('kubevirt-hyperconverged')
    t.equal(await versionOf(HCO_V1BETA1), before, 'nothing is written')
    await untilCompared('virt-node-health-check') // the other objects are kept all the same

    const edit = merge(AS_V1BETA1, { spec: { uninstallStrategy: 'RemoveWorkloads' } })
    t.match(await alice(edit), { code: 0, stderr: '' })
    const strategy = async () => (await read(HCO_V1BETA1)).spec.uninstallStrategy
    t.equal(await strategy(), 'RemoveWorkloads', 'nothing is corrected')

    t.match(await alice(annotate(AS_V1BETA1, 'patch-')), { code: 0 })
    await untilEvent('InvalidIgnoreFields', /hco-golden-config: held.*is unknown to the schema/)
    t.equal(await strategy(), 'RemoveWorkloads', 'nor for the next override')
    t.match(await alice(annotate(AS_V1BETA1, 'ignore-fields-')), { code: 0 })
    await until('the new version is at its baseline', async () => {
      return (await strategy()) === 'BlockUninstallIfWorkloadsExist'
    })
    const { spec }: Loose = await read(HCO_V1BETA1)
    t.equal(spec.liveMigrationConfig.allowPostCopy, false)
  })
})
