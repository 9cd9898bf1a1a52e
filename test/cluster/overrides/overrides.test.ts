import t from 'tap'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HEALTH_CHECK, HYPERCONVERGED, SWAP } from '../harness/objects.ts'
import { until } from '../harness/until.ts'

const CHECK = ['nodehealthcheck', 'virt-node-health-check']
const PREFIX = 'platform.kubevirt.io'
const OURS = 'virt-platform-autopilot'

const merge = (target: readonly string[], patch: object) => [
  'patch',
  ...target,
  '--type=merge',
  `--patch=${JSON.stringify(patch)}`,
]
const annotate = (target: readonly string[], ...annotations: readonly string[]) => [
  'annotate',
  ...target,
  '--overwrite',
  ...annotations.map((annotation) => `${PREFIX}/${annotation}`),
]

/** What the last apply of our manager owns. */
const owned = ({ metadata }: Loose) =>
  metadata.managedFields.find(
    ({ manager, operation }: Loose) => manager === OURS && operation === 'Apply',
  ).fieldsV1

t.test('overrides', async (t) => {
  const cluster = await autopilotCluster(t, { reconcilerFlags: ['--resync=500ms'] })
  const { read, judged, asked, untilCompared, untilEvent, withoutWebhook } = cluster
  const alice = cluster.person('alice')
  const minHealthy = async () => (await read(HEALTH_CHECK)).spec.minHealthy
  // What the webhook puts back is the writer's until the reconciler claims it, which is a write.
  const untilClaimed = () =>
    until(
      'minHealthy is ours again',
      async () => 'f:minHealthy' in owned(await read(HEALTH_CHECK))['f:spec'],
    )
  const manifest = (value: string, annotations?: Readonly<Record<string, string>>) =>
    JSON.stringify({
      apiVersion: 'remediation.medik8s.io/v1alpha1',
      kind: 'NodeHealthCheck',
      metadata: { name: 'virt-node-health-check', annotations },
      spec: { minHealthy: value },
    })

  await t.test('an ignored field is released: whoever sets it owns it', async (t) => {
    t.ok('f:minHealthy' in owned(await read(HEALTH_CHECK))['f:spec'])
    t.match(await alice(annotate(CHECK, 'ignore-fields=/spec/minHealthy')), { code: 0, stderr: '' })
    await untilEvent('OwnershipReleased', /node-health-standard/)
    const released = await read(HEALTH_CHECK)
    t.notOk('f:minHealthy' in owned(released)['f:spec'])
    t.ok('f:selector' in owned(released)['f:spec'], 'and nothing else is')
    t.equal(released.spec.minHealthy, '51%', 'its value stays')
  })

  for (const { way, value, args, input } of [
    { way: 'an update', value: '41%', args: merge(CHECK, { spec: { minHealthy: '41%' } }) },
    { way: 'kubectl apply', value: '42%', args: ['apply', '-f-'], input: manifest('42%') },
    {
      way: 'kubectl apply --server-side, without force',
      value: '43%',
      args: ['apply', '--server-side', '--field-manager=gitops', '-f-'],
      input: manifest('43%'),
    },
  ]) {
    await t.test(`an ignored field is set by ${way} and stays`, async (t) => {
      if (way.includes('server-side')) await alice(merge(CHECK, { spec: { minHealthy: null } }))
      const said = await alice(args, input === undefined ? {} : { input })
      t.equal(said.code, 0, said.stderr)
      t.notMatch(said.stderr, /kept at|conflict/)
      t.equal(await minHealthy(), value)
      await untilCompared('virt-node-health-check')
      t.equal(await minHealthy(), value)
      t.notOk('f:minHealthy' in owned(await read(HEALTH_CHECK))['f:spec'])
    })
  }

  await t.test('without its annotation the field is taken back at once', async (t) => {
    t.match(await alice(annotate(CHECK, 'ignore-fields-')), { code: 0 })
    t.equal(await minHealthy(), '51%')
    await untilClaimed()
  })

  await t.test('an invalid value is denied, with the fault, and nothing is stored', async (t) => {
    const before = await read(HEALTH_CHECK)
    for (const [annotation, fault] of [
      ['patch=[{"op":"add"}]', /patch.*operation 0|operation 0.*path/s],
      ['patch=no JSON', /JSON/],
      ['patch=[{"op":"replace","path":"/metadata/name","value":"other"}]', /name/],
      ['ignore-fields=spec/minHealthy', /spec\/minHealthy must start with/],
      ['ignore-fields=/kind', /\/kind/],
      ['ignore-fields=/spec/minHelthy', /minHelthy/],
      ['mode=off', /mode must be "unmanaged" or "managed", or absent, not "off"/],
      ['reconcile-paused=yes', /reconcile-paused must be "true", or absent, not "yes"/],
    ] as const) {
      const { code, stderr } = await alice([...annotate(CHECK, annotation), '-v=6'])
      t.equal(code, 1, annotation)
      t.match(stderr, /status="403 Forbidden"/)
      t.match(stderr, /^Error from server: .*NodeHealthCheck virt-node-health-check/m)
      t.match(stderr, fault)
    }
    t.equal((await read(HEALTH_CHECK)).metadata.resourceVersion, before.metadata.resourceVersion)
  })

  await t.test('what is denied is not deleted and created anew, even by --force', async (t) => {
    const { uid } = (await read(HEALTH_CHECK)).metadata
    const wrong = manifest('51%', { [`${PREFIX}/mode`]: 'off' })
    const { code, stderr } = await alice(['apply', '--force', '-f-'], { input: wrong })
    t.equal(code, 1)
    t.match(stderr, /mode must be "unmanaged" or "managed"/)
    t.equal((await read(HEALTH_CHECK)).metadata.uid, uid)
  })

  await t.test('every fault is a cause of its own, with its place', async (t) => {
    const body = [
      { op: 'add', path: '/metadata/annotations', value: { [`${PREFIX}/mode`]: 'off' } },
      { op: 'add', path: `/metadata/annotations/${PREFIX}~1reconcile-paused`, value: 'no' },
    ]
    const type = 'application/json-patch+json'
    const { status, body: refusal } = await cluster.admin<Loose>('PATCH', HEALTH_CHECK, body, type)
    t.equal(status, 403)
    t.same(
      refusal.details.causes.map(({ field }: Loose) => field),
      [`metadata.annotations[${PREFIX}/mode]`, `metadata.annotations[${PREFIX}/reconcile-paused]`],
    )
  })

  await t.test('an invalid patch that was stored holds the object until mended', async (t) => {
    const drift = { spec: { minHealthy: '61%' } }
    await withoutWebhook(async () => {
      await alice(annotate(CHECK, 'patch=[{"op":"add"}]'))
      const { regarding, note } = await untilEvent('InvalidPatch', /node-health-standard: held/)
      t.equal(regarding.name, 'virt-node-health-check')
      t.match(note, /nothing is written until it is mended/)
      await alice(merge(CHECK, drift))
      await untilCompared('virt-node-health-check')
      t.equal(await minHealthy(), '61%', 'what an admin wants is not reverted for a typo')
    })
    t.match(await alice(merge(CHECK, { spec: { minHealthy: '62%' } })), { code: 0, stderr: '' })
    t.equal(await minHealthy(), '62%', 'nor is it corrected')

    const mended = '[{"op":"replace","path":"/spec/minHealthy","value":"63%"}]'
    t.match(await alice(annotate(CHECK, `patch=${mended}`)), { code: 0 })
    t.equal(await minHealthy(), '63%')
    await alice(annotate(CHECK, 'patch-'))
    t.equal(await minHealthy(), '51%')
  })

  await t.test('a paused object is left alone until somebody resumes it', async (t) => {
    await alice(annotate(CHECK, 'reconcile-paused=true'))
    t.match(await alice(merge(CHECK, { spec: { minHealthy: '12%' } })), { code: 0, stderr: '' })
    await untilCompared('virt-node-health-check')
    t.equal(await minHealthy(), '12%')
    const labels = 'name="virt-node-health-check"'
    const paused = () => cluster.metric('reconciler', 'virt_platform_paused_resources', labels)
    await until('it counts as paused', async () => (await paused()) === 1)
    await alice(annotate(CHECK, 'reconcile-paused-'))
    t.equal(await minHealthy(), '51%')
    // Nothing may be on its way when the next test looks at the versions, and at how often a write is judged.
    await untilClaimed()
  })

  await t.test('a dry run gives the same answer, stores nothing and counts nothing', async (t) => {
    await cluster.untilCached(HEALTH_CHECK)
    const counted = await judged()
    const versions = async () => {
      const objects = await Promise.all([HCO, HEALTH_CHECK, SWAP].map(read))
      return objects.map(({ metadata }) => metadata.resourceVersion)
    }
    const before = await versions()
    const bob = cluster.person('bob')
    const dry = '--dry-run=server'
    const edit = merge(CHECK, { spec: { minHealthy: '1%' } })
    const corrected = await bob([...edit, dry, '-o=json'])
    t.match(corrected, { code: 0, stderr: /minHealthy kept at "51%"/ })
    t.equal(JSON.parse(corrected.stdout).spec.minHealthy, '51%')
    const swap = ['machineconfig', '90-worker-swap-online']
    for (const args of [
      merge(swap, { spec: { config: { systemd: { units: [] } } } }),
      annotate(HYPERCONVERGED, 'mode=off'),
      ['delete', ...swap],
    ]) {
      t.match(await bob([...args, dry]), { code: 1, stderr: /denied the request/ })
    }
    t.same(await versions(), before)
    t.equal(await judged(), counted)

    t.match(await bob(edit), { stderr: /minHealthy kept at "51%"/ })
    t.equal(await judged(), counted + 1, 'what is meant counts')
    await untilEvent('DriftPrevented', / by bob: /)
    const events = await cluster.events('DriftPrevented')
    t.equal(events.filter(({ note }) => note.includes(' by bob: ')).length, 1)
  })

  await t.test('a write to the status passes, unjudged', async (t) => {
    const counted = await asked()
    const path = `${HEALTH_CHECK}/status`
    const type = 'application/merge-patch+json'
    const { status } = await cluster.admin('PATCH', path, { status: { phase: 'Enabled' } }, type)
    t.equal(status, 200)
    t.equal((await read(HEALTH_CHECK)).status.phase, 'Enabled')
    t.equal(await asked(), counted)
  })
})
