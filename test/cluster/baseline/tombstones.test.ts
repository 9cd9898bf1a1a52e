import t from 'tap'
import { audited } from '../harness/audit.ts'
import { autopilotCluster, type Loose } from '../harness/autopilot-fixture.ts'
import { HCO, HYPERCONVERGED, STATE } from '../harness/objects.ts'
import { configMap, programWith } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const OURS = { 'platform.kubevirt.io/managed-by': 'virt-platform-autopilot' }

const tombstone = (name: string) => ({
  name,
  group: 'old',
  description: 'a better way has come',
  object: configMap(name),
})
const asset = (name: string, more: object) => ({
  name,
  group: 'new',
  description: 'it is the better way',
  template: `active/${name}.yaml.ejs`,
  object: configMap(name),
  install: 'opt-in',
  order: 70,
  conditions: [{ type: 'annotation', key: 'enable-new' }],
  ...more,
})
const template = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\ndata:\n  a: b\n`

const TOMBSTONES = ['plain', 'unlabelled', 'unmanaged', 'paused', 'stuck', 'excluded', 'later']

t.test('tombstones and prune', async (t) => {
  const program = programWith(t, {
    change: (catalog) => ({
      ...catalog,
      assets: [...catalog.assets, asset('pruned', { prune: true }), asset('kept', {})],
      tombstones: TOMBSTONES.map(tombstone),
    }),
    files: {
      'active/pruned.yaml.ejs': template('pruned'),
      'active/kept.yaml.ejs': template('kept'),
    },
  })
  const cluster = await autopilotCluster(t, {
    program,
    isEarly: true,
    only: ({ kind }) => kind !== 'HyperConverged',
    isAudited: true,
    reconcilerFlags: ['--resync=1s'],
  })
  const { read, events, untilEvent, admin, metric } = cluster
  const alice = cluster.person('alice')
  const annotate = async (...pairs: readonly string[]) =>
    t.match(await alice(['annotate', ...HYPERCONVERGED, '--overwrite', ...pairs]), { code: 0 })
  const at = (name: string) => `${MAPS}/${name}`
  const create = (name: string, metadata: object = {}) =>
    admin<Loose>('POST', MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: OURS, ...metadata },
      data: { some: 'thing' },
    })
  const annotated = (key: string, value: string) => ({
    annotations: { [`platform.kubevirt.io/${key}`]: value },
  })
  const status = (name: string) =>
    metric('reconciler', 'virt_platform_tombstone_status', `name="${name}"`)
  const uid = (await create('plain')).body.metadata.uid
  await create('unlabelled', { labels: { 'platform.kubevirt.io/managed-by': 'somebody' } })
  await create('unmanaged', annotated('mode', 'unmanaged'))
  await create('paused', annotated('reconcile-paused', 'true'))
  await create('stuck', { finalizers: ['example.com/never'] })
  await cluster.install(({ kind }) => kind === 'HyperConverged')
  await annotate('platform.kubevirt.io/disabled-resources=["old/excluded"]')
  await until('the exclusion is known', async () =>
    (await read(STATE))?.data['settings.json']?.includes('excluded'),
  )
  await create('excluded')

  await t.test('what is ours is deleted, with preconditions on exactly that object', async (t) => {
    await until('it is gone', async () => !(await read(at('plain'))))
    // It is gone a moment before its request is answered and written down.
    const request: Loose = await until('it is audited', async () =>
      audited(cluster).find(
        ({ verb, objectRef }) => verb === 'delete' && objectRef.name === 'plain',
      ),
    )
    t.match(request.requestObject.preconditions, { uid, resourceVersion: /^\d+$/ })
    const event = await untilEvent('TombstoneDeleted', /^plain: deleted: a better way has come/)
    t.match(event.regarding, { kind: 'ConfigMap', name: 'plain' })
    await until(
      'it is counted',
      async () =>
        (await metric(
          'reconciler',
          'virt_platform_tombstone_deletion_total',
          'result="deleted"',
        )) >= 1,
    )
    t.equal(await status('plain'), 0)
  })

  await t.test('before anything is applied', async (t) => {
    await until(
      'the HyperConverged is ours',
      async () => (await read(HCO)).metadata.labels?.['platform.kubevirt.io/managed-by'],
    )
    const lines = await until('an apply is logged, too', async () => {
      const found = cluster
        .log('reconciler')
        .split('\n')
        .filter((line) => /"msg":"(deleted|created|adopted|drift corrected)"/.test(line))
      return found.some((line) => !line.includes('"deleted"')) && found
    })
    t.match(lines[0], '"msg":"deleted"')
    t.equal(
      lines.findLastIndex((line) => line.includes('"deleted"')) <
        lines.findIndex((line) => !line.includes('"deleted"')),
      true,
    )
  })

  await t.test('what somebody else has a claim on stays, and why is said once', async (t) => {
    const why = {
      unlabelled:
        /does not bear the label platform.kubevirt.io\/managed-by=virt-platform-autopilot/,
      unmanaged: /annotated as unmanaged/,
      paused: /annotated as paused/,
    }
    for (const [name, reason] of Object.entries(why)) {
      await untilEvent('TombstoneSkipped', reason)
      t.equal(await status(name), -2)
    }
    for (const name of ['unlabelled', 'unmanaged', 'excluded']) await cluster.untilCompared(name)
    for (const name of ['unlabelled', 'unmanaged', 'paused', 'excluded'])
      t.ok(await read(at(name)), name)
    t.equal((await events('TombstoneSkipped')).length, 3)
  })

  await t.test('its claim lifted, it is deleted after all', async (t) => {
    t.match(
      await alice(['annotate', 'configmap', 'paused', 'platform.kubevirt.io/reconcile-paused-']),
      { code: 0 },
    )
    await until('it is gone', async () => !(await read(at('paused'))))
    t.equal(await read(at('paused')), undefined)
  })

  await t.test('one that is made again, by somebody else, is left to them', async (t) => {
    await create('plain', { labels: {} })
    await until('it is seen', async () => (await status('plain')) === -2)
    await cluster.untilCompared('plain')
    t.ok(await read(at('plain')))
  })

  await t.test('off and observing delete nothing', async (t) => {
    await annotate('platform.kubevirt.io/autopilot=observe')
    // What is made before that is known is deleted, and rightly.
    await until('it only observes', () =>
      metric('reconciler', 'virt_platform_activation_info', 'mode="observe"').then(Boolean),
    )
    await create('later')
    await untilEvent('DriftDetected', /^later: would be deleted: ./)
    await annotate('platform.kubevirt.io/autopilot=false')
    await cluster.untilCompared('later')
    t.ok(await read(at('later')))
    await annotate('platform.kubevirt.io/autopilot=true')
    await until('it is gone', async () => !(await read(at('later'))))
  })

  await t.test(
    'an asset whose condition turns false is deleted where it says prune, else left over',
    async (t) => {
      await annotate('platform.kubevirt.io/enable-new=true')
      for (const name of ['pruned', 'kept']) await until(name, () => read(at(name)))
      await annotate('platform.kubevirt.io/enable-new=false')
      await until('it is gone', async () => !(await read(at('pruned'))))
      await untilEvent(
        'AssetPruned',
        /^pruned: deleted: waits until the HyperConverged is annotated .*enable-new=true$/,
      )
      await until('the other is left over', async () =>
        /"asset":"kept".*"msg":"left over"/.test(cluster.log('reconciler')),
      )
      t.ok(await read(at('kept')))
    },
  )

  await t.test('a finalizer that does not go away is reported as stuck, once', async (t) => {
    const name = 'stuck'
    t.ok((await read(at(name))).metadata.deletionTimestamp)
    const { note } = await until(
      'it is told',
      async () => (await events('TombstoneFailed'))[0],
      60_000,
    )
    t.match(note, /^stuck: being deleted since .*: example.com\/never$/)
    t.equal(await status(name), -1)
    await cluster.untilCompared(name)
    t.equal((await events('TombstoneFailed')).length, 1)
    await alice(['patch', 'configmap', name, '--type=merge', '-p{"metadata":{"finalizers":null}}'])
    await until('it is gone', async () => (await status(name)) === 0)
  })
})
